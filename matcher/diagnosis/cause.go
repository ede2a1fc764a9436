package diagnosis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/reading"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/signature"
)

// finding is an event with what the knowledge base makes of it once all facts are known.
type finding struct {
	reading.Occurrences
	event   *reading.Event
	element *reading.Element
	matches []match // the best first; empty for an exception that nothing is known of
}

// match is a signature that fits an element, with the situation as it was there.
type match struct {
	signature *signature.Signature
	situation *condition.Situation
	certainty report.Certainty
}

// roleOf orders findings by what they can explain.
func (f *finding) role() signature.Role {
	if len(f.matches) == 0 {
		return signature.Generic
	}
	return f.matches[0].signature.Role
}

// explains orders the roles of failures in different places; fits those of signatures of one and the same line, where any knowledge
// of it beats a generic word.
var (
	explains = map[signature.Role]int{signature.Cause: 0, signature.Generic: 1, signature.Inferred: 1, signature.Consequence: 2}
	fits     = map[signature.Role]int{signature.Cause: 0, signature.Consequence: 1, signature.Generic: 2}
)

// judge tells what an event means in a situation; nil when it means nothing. A chain with a harmless exception in it, such as the
// user's interrupt, means only what a cause in it says.
func (r diagnoser) judge(e *reading.Event, situation *condition.Situation, failures map[string][]int) *finding {
	best := &finding{event: e, Occurrences: e.Occurrences(r.WentOn)}
	harmless := false
	for i := range e.Chain {
		el := &e.Chain[i]
		matches, noise := r.weigh(el, situation)
		if noise {
			harmless = true
			continue
		}
		if best.element == nil || better(matches, best.matches) {
			best.element, best.matches = el, matches
		}
	}
	if len(best.matches) == 0 || harmless && best.role() != signature.Cause || best.role() == signature.Generic && r.incidental(best, failures) {
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
	return a != b && a == signature.Cause
}

// weigh evaluates the signatures of an element, the best first. It tells whether one of them says that the line is harmless.
func (r diagnoser) weigh(el *reading.Element, situation *condition.Situation) (matches []match, noise bool) {
	for _, s := range el.Matches {
		m := match{signature: s, situation: situation.Clone()}
		el.Variables(m.situation)
		capture(m.situation, s, el.Text)
		if !condition.All(s.Match, m.situation) || !condition.Possible(s.Confirm, m.situation) {
			continue
		}
		if s.Role == signature.Noise {
			return nil, true
		}
		if m.certainty = report.Likely; condition.All(s.Confirm, m.situation) && s.Role == signature.Cause {
			m.certainty = report.Confirmed
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
func (r diagnoser) upheld(matches []match) []match {
	return slices.DeleteFunc(slices.Clone(matches), func(m match) bool {
		return slices.ContainsFunc(matches, func(other match) bool {
			return r.Base.Overrides(other.signature.ID, m.signature.ID)
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
				best.signature.ID, m.signature.ID, c.root.element.Line.Number))
		}
	}
	return sentences
}

// How near to the end of a source an exception that no signature knows must be to count as what ended it. Programs print
// exceptions that they handle; what ends them is printed last.
const (
	nearEnd     = 400 // lines after a traceback
	nearEndLone = 30  // lines after a last line without its traceback
)

// incidental tells whether an exception that only a generic signature knows is too far from the end to have ended the program.
func (r diagnoser) incidental(f *finding, failures map[string][]int) bool {
	if f.element.Exception == nil {
		return false
	}
	limit := nearEndLone
	if slices.ContainsFunc(f.event.Chain, func(el reading.Element) bool {
		x := el.Exception
		return x != nil && (len(x.Frames) > 0 || x.Header.Number > 0)
	}) {
		limit = nearEnd
	}
	return !slices.ContainsFunc(f.Lasts, func(o reading.Occurrence) bool { return r.LinesAfter(o, failures) <= limit })
}

// findings are all events that mean something, in the order of reading.
func (r diagnoser) findings(situation *condition.Situation) []*finding {
	var findings []*finding
	failures := r.Failures()
	for _, e := range r.Events {
		if f := r.judge(e, situation, failures); f != nil {
			findings = append(findings, f)
		}
	}
	slices.SortFunc(findings, func(a, b *finding) int {
		return cmp.Or(cmp.Compare(a.First.Order, b.First.Order), cmp.Compare(a.event.Number, b.event.Number))
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
func (r diagnoser) conclude(known facts.Facts) conclusion {
	situation := known.Situation(r.Base.Scope)
	for i, line := range r.Seen {
		situation.SetLogPattern(i, line.Number > 0)
	}
	c := conclusion{findings: r.findings(situation)}
	c.first = firstFailed(c.findings)
	c.root = root(c.findings, c.first)
	if f := r.inferredFailure(c.root, situation); f != nil {
		c.findings, c.root = append(c.findings, f), f
	}
	return c
}

// Ambiguities are sentences about signatures of which nothing but their names tells which of them is the root cause.
func Ambiguities(r *reading.Reading, known ...facts.Fact) []string {
	d := diagnoser{r}
	c := d.conclude(d.situation(known))
	return c.ambiguities()
}

// root picks the finding that explains the others: nil when nothing failed. A fault after which the log shows progress explains a
// failure only when nothing else does: the progress may have been another rank's.
func root(findings []*finding, first int) *finding {
	var chosen, survived *finding
	for _, f := range findings {
		switch {
		case f.Handled && f.role() != signature.Consequence:
			survived = f
		case !f.Handled && (chosen == nil || earlier(f, chosen, first)):
			chosen = f
		}
	}
	if chosen != nil && chosen.role() == signature.Consequence && survived != nil && survived.Last().Before(chosen.First) {
		return survived
	}
	return chosen
}

// earlier tells whether a caused b rather than the other way round. first is the rank that the launcher saw fail first, or NoRank.
func earlier(a, b *finding, first int) bool {
	if x, y := a.role() == signature.Consequence, b.role() == signature.Consequence; x != y {
		return y
	}
	if first != logline.NoRank {
		if x, y := a.Seen[first] != nil, b.Seen[first] != nil; x != y {
			return x
		}
	}
	if x, y := a.cutOff(), b.cutOff(); x != y && !apart(a, b) {
		return y
	}
	if x, y := explains[a.role()], explains[b.role()]; x != y && !apart(a, b) {
		return x < y
	}
	return a.Earliest(first).Before(b.Earliest(first))
}

// cutOff tells whether the finding is a traceback whose last line is missing, which tells less than any line near it.
func (f *finding) cutOff() bool { return f.element.Exception != nil && f.element.Exception.Type == "" }

// apart tells whether two findings are on different known ranks, so that only time can order them, and it does: they are in one log,
// or both have a timestamp.
func apart(a, b *finding) bool {
	x, y := a.First.Line, b.First.Line
	return x.Rank != logline.NoRank && y.Rank != logline.NoRank && x.Rank != y.Rank && (x.Source == y.Source || logline.SameClock(x.Time, y.Time))
}

// firstFailed is the rank that a launcher reports as the first that failed, or NoRank.
func firstFailed(findings []*finding) int {
	for _, f := range findings {
		for _, el := range f.event.Chain {
			if el.Exception == nil {
				continue
			}
			for _, failure := range el.Exception.Failures {
				if failure.First {
					return failure.Rank
				}
			}
		}
	}
	return logline.NoRank
}

// capture sets the groups of a signature's capture patterns; one that is not in the text stays unknown.
func capture(s *condition.Situation, signature *signature.Signature, text string) {
	for _, pattern := range signature.Capture {
		m := pattern.Submatch(text)
		for i, name := range pattern.Names() {
			if m != nil && name != "" && m[i] != "" {
				s.Set(name, condition.StringValue(m[i]))
			}
		}
	}
}
