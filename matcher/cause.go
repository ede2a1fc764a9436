package matcher

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/rules"
)

// finding is an event with what the knowledge base makes of it once all facts are known.
type finding struct {
	sighting
	event   *event
	element *element
	matches []match // the best first; empty for an exception that nothing is known of
}

// match is a signature that fits an element, with the situation as it was there.
type match struct {
	signature *rules.Signature
	situation *rules.Situation
	certainty Certainty
}

// roleOf orders findings by what they can explain.
func (f *finding) role() rules.Role {
	if len(f.matches) == 0 {
		return rules.Generic
	}
	return f.matches[0].signature.Role
}

// explains orders the roles of failures in different places; fits those of signatures of one and the same line, where any knowledge
// of it beats a generic word.
var (
	explains = map[rules.Role]int{rules.Cause: 0, rules.Generic: 1, rules.Unstated: 1, rules.Consequence: 2}
	fits     = map[rules.Role]int{rules.Cause: 0, rules.Consequence: 1, rules.Generic: 2}
)

// judge tells what an event means in a situation; nil when it means nothing. A chain with a harmless exception in it, such as the
// user's interrupt, means only what a cause in it says.
func (r *Reading) judge(e *event, situation *rules.Situation, failures map[string][]int) *finding {
	best := &finding{event: e, sighting: e.sighting(r.wentOn)}
	harmless := false
	for i := range e.chain {
		el := &e.chain[i]
		matches, noise := r.weigh(el, situation)
		if noise {
			harmless = true
			continue
		}
		if best.element == nil || better(matches, best.matches) {
			best.element, best.matches = el, matches
		}
	}
	if len(best.matches) == 0 || harmless && best.role() != rules.Cause || best.role() == rules.Generic && r.incidental(best, failures) {
		return nil
	}
	return best
}

// better tells whether the matches of a later exception of a chain explain more than those of an earlier one.
func better(later, earlier []match) bool {
	if len(earlier) == 0 || len(later) == 0 {
		return len(later) > 0
	}
	a, b := later[0].signature.Role, earlier[0].signature.Role
	return a != b && a == rules.Cause
}

// weigh evaluates the signatures of an element, the best first. It tells whether one of them says that the line is harmless.
func (r *Reading) weigh(el *element, situation *rules.Situation) (matches []match, noise bool) {
	for _, s := range el.matches {
		m := match{signature: s, situation: situation.Clone()}
		el.variables(m.situation)
		capture(m.situation, s, el.text)
		if !all(s.Match, m.situation) || !possible(s.Confirm, m.situation) {
			continue
		}
		if s.Role == rules.Noise {
			return nil, true
		}
		if m.certainty = Likely; all(s.Confirm, m.situation) && s.Role == rules.Cause {
			m.certainty = Confirmed
		}
		matches = append(matches, m)
	}
	matches = r.upheld(matches)
	slices.SortFunc(matches, func(a, b match) int {
		return cmp.Or(a.compare(b), strings.Compare(a.signature.ID, b.signature.ID))
	})
	return matches, false
}

// upheld are those of the matches that no other overrides.
func (r *Reading) upheld(matches []match) []match {
	return slices.DeleteFunc(slices.Clone(matches), func(m match) bool {
		return slices.ContainsFunc(matches, func(other match) bool {
			return r.engine.base.Overrides(other.signature.ID, m.signature.ID)
		})
	})
}

// compare is negative when a match is a better answer than another: of two that fit equally well, the one that asks for more says more.
func (m match) compare(other match) int {
	return cmp.Or(
		cmp.Compare(fits[m.signature.Role], fits[other.signature.Role]),
		cmp.Compare(m.certainty, other.certainty), // "confirmed" is before "likely"
		cmp.Compare(other.signature.Asks(), m.signature.Asks()),
	)
}

// ambiguities are sentences about signatures of which nothing but their names tells which of them is the root cause.
func (c *conclusion) ambiguities() (sentences []string) {
	if c.root == nil || len(c.root.matches) == 0 {
		return nil
	}
	best := c.root.matches[0]
	for _, m := range c.root.matches[1:] {
		if best.compare(m) == 0 {
			sentences = append(sentences, fmt.Sprintf("%s and %s fit line %d equally well: say under overrides: of the one that is right which it overrides",
				best.signature.ID, m.signature.ID, c.root.element.line.Number))
		}
	}
	return sentences
}

func all(conditions []*rules.Expression, s *rules.Situation) bool {
	for _, c := range conditions {
		if !c.Eval(s).True() {
			return false
		}
	}
	return true
}

// How near to the end of a source an exception that no signature knows must be to count as what ended it. Programs print
// exceptions that they handle; what ends them is printed last.
const (
	nearEnd     = 400 // lines after a traceback
	nearEndLone = 30  // lines after a last line without its traceback
)

// incidental tells whether an exception that only a generic signature knows is too far from the end to have ended the program.
func (r *Reading) incidental(f *finding, failures map[string][]int) bool {
	if f.element.exception == nil {
		return false
	}
	limit := nearEndLone
	if slices.ContainsFunc(f.event.chain, func(el element) bool {
		x := el.exception
		return x != nil && (len(x.Frames) > 0 || x.Header.Number > 0)
	}) {
		limit = nearEnd
	}
	return !slices.ContainsFunc(f.lasts, func(o occurrence) bool { return r.linesAfter(o, failures) <= limit })
}

// findings are all events that mean something, in the order of reading.
func (r *Reading) findings(situation *rules.Situation) []*finding {
	var findings []*finding
	failures := r.failures()
	for _, e := range r.events {
		if f := r.judge(e, situation, failures); f != nil {
			findings = append(findings, f)
		}
	}
	slices.SortFunc(findings, func(a, b *finding) int {
		return cmp.Or(cmp.Compare(a.first.order, b.first.order), cmp.Compare(a.event.number, b.event.number))
	})
	return findings
}

// conclusion is what the events of a log come to.
type conclusion struct {
	findings []*finding
	root     *finding // nil when nothing failed
	first    int      // the rank that a launcher saw fail first, or NoRank
}

// conclude tells what the events come to where these facts hold.
func (r *Reading) conclude(facts Facts) conclusion {
	situation := facts.Situation(r.engine.base.Scope)
	for i, line := range r.seen {
		situation.SetSeen(i, line.Number > 0)
	}
	c := conclusion{findings: r.findings(situation)}
	c.first = firstFailed(c.findings)
	c.root = root(c.findings, c.first)
	if f := r.unstated(c.root, situation); f != nil {
		c.findings, c.root = append(c.findings, f), f
	}
	return c
}

// root picks the finding that explains the others: nil when nothing failed. A fault after which the log shows progress explains a
// failure only when nothing else does: the progress may have been another rank's.
func root(findings []*finding, first int) *finding {
	var chosen, survived *finding
	for _, f := range findings {
		switch {
		case f.handled && f.role() != rules.Consequence:
			survived = f
		case !f.handled && (chosen == nil || earlier(f, chosen, first)):
			chosen = f
		}
	}
	if chosen != nil && chosen.role() == rules.Consequence && survived != nil && survived.last().before(chosen.first) {
		return survived
	}
	return chosen
}

// earlier tells whether a caused b rather than the other way round. first is the rank that the launcher saw fail first, or NoRank.
func earlier(a, b *finding, first int) bool {
	if x, y := a.role() == rules.Consequence, b.role() == rules.Consequence; x != y {
		return y
	}
	if first != NoRank {
		if x, y := a.seen[first] != nil, b.seen[first] != nil; x != y {
			return x
		}
	}
	if x, y := a.cutOff(), b.cutOff(); x != y && !apart(a, b) {
		return y
	}
	if x, y := explains[a.role()], explains[b.role()]; x != y && !apart(a, b) {
		return x < y
	}
	return a.earliest(first).before(b.earliest(first))
}

// cutOff tells whether the finding is a traceback whose last line is missing, which tells less than any line near it.
func (f *finding) cutOff() bool { return f.element.exception != nil && f.element.exception.Type == "" }

// apart tells whether two findings are on different known ranks, so that only time can order them, and it does: they are in one log,
// or both have a timestamp.
func apart(a, b *finding) bool {
	x, y := a.first.line, b.first.line
	return x.Rank != NoRank && y.Rank != NoRank && x.Rank != y.Rank && (x.Source == y.Source || comparable(x.Time, y.Time))
}

// firstFailed is the rank that a launcher reports as the first that failed, or NoRank.
func firstFailed(findings []*finding) int {
	for _, f := range findings {
		for _, el := range f.event.chain {
			if el.exception == nil {
				continue
			}
			for _, failure := range el.exception.Failures {
				if failure.First {
					return failure.Rank
				}
			}
		}
	}
	return NoRank
}
