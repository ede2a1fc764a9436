package traceback

import "strings"

// linkOf reads the sentences that Python prints between the tracebacks of a chain.
func linkOf(text string) (Link, bool) {
	switch strings.TrimSpace(text) {
	case "The above exception was the direct cause of the following exception:":
		return DirectCause, true
	case "During handling of the above exception, another exception occurred:":
		return WhileHandling, true
	}
	return "", false
}

// chain turns the exception that was just read into the earlier one of the next.
func (r *record) chain(link Link) {
	done := r.finish()
	*r = record{layout: python, state: inChain, earlier: done, link: link, prefixed: r.prefixed, prefix: r.prefix, base: r.base, sided: r.sided, swallowed: r.swallowed, links: r.links + 1}
}

// chained takes a line between the words that link two tracebacks and the second of them.
func (r *record) chained(next nextLine) lineAction {
	if !next.own {
		return r.foreignLine()
	}
	second := opened(next.line, next.line.Body())
	if second == nil {
		return r.foreignLine()
	}
	before := *r
	*r = *second
	if r.headless { // a remote traceback, under a line that says whose
		r.headless, r.header, r.kept = false, next.line, nil
	}
	r.earlier, r.link, r.links, r.swallowed = before.earlier, before.link, before.links, before.swallowed
	if r.base == "" {
		r.base = before.base
	}
	return taken
}
