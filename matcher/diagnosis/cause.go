package diagnosis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/reading"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/matcher/traceback"
	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/distribution"
	"github.com/gpu-triage/triage/rules/signature"
)

// finding is an event with what the knowledge base makes of it once all facts are known.
type finding struct {
	reading.Occurrences
	event   *reading.Event
	element *reading.Element
	matches []match // the best first; empty for an exception that nothing is known of
	machine bool    // only the machine's own messages show it, not the job's log
	command int     // by which command of a shell it happened last, counted in its source
}

// match is a signature that fits an element, with the situation as it was there.
type match struct {
	signature *signature.Signature
	situation *condition.Situation
	settled   *condition.Situation // the same, with the groups as nil that the capture patterns did not find
	brings    *distribution.Table  // what is to be installed for a module
	certainty report.Certainty
}

// says tells whether a detail of the cause belongs into the answer: its conditions are surely true.
func (m match) says(d signature.Detail) bool { return condition.All(d.When, m.settled) }

// offers tells whether a fix may help here: none of its conditions is surely false.
func (m match) offers(f signature.Fix) bool { return condition.Possible(f.When, m.settled) }

// role is that of the best match: what the finding can explain. An exception that no signature knows counts as unexplained.
func (f *finding) role() signature.Role {
	if len(f.matches) == 0 {
		return signature.Unexplained
	}
	return f.matches[0].signature.Role
}

// fits orders the roles of signatures of one and the same line: any knowledge of it beats a generic word.
var fits = map[signature.Role]int{signature.Cause: 0, signature.Consequence: 1, signature.Generic: 2, signature.Unexplained: 3}

// warnedLast tells whether an exception was logged as a warning and nothing follows it, or one line, such as a shell's prompt: a program that
// goes on says more.
func warnedLast(read *reading.Result, f *finding) bool {
	x := f.event.Chain.Head().Exception
	return x != nil && !x.Swallowed && x.Level == logline.Warning && !read.WentOn(f.Last()) && read.LinesAfter(f.Last()) <= 1
}

// judge tells what an event means in a situation; nil when it means nothing. A chain with a harmless exception in it, such as the
// user's interrupt, means only what a cause in it says.
func judge(read *reading.Result, e *reading.Event, s situation) *finding {
	best := &finding{event: e, Occurrences: e.Occurrences(read.WentOn)}
	best.machine = read.OfMachine(best.First.Line.Source)
	best.command = read.Command(best.Last().Line)
	if warnedLast(read, best) {
		best.Handled = false
	}
	harmless := false
	for i := range e.Chain {
		el := &e.Chain[i]
		matches, noise := weigh(read.Base, el, s)
		if noise {
			harmless = true
			continue
		}
		if best.element == nil || better(matches, best.matches) || retells(read.Base, el, matches, best.matches) || rewords(el, matches, best.matches) {
			best.element, best.matches = el, matches
		}
	}
	switch {
	case len(best.matches) == 0, harmless && best.role() != signature.Cause:
		return nil
	case best.role().LastResort() && incidental(read, best):
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

// retells tells whether an exception that has those of the chain before it in its message is known, and overrides what these are known as.
func retells(base *rules.Base, el *reading.Element, later, earlier []match) bool {
	return el.Exception != nil && el.Exception.Link == traceback.Relayed && len(earlier) > 0 && len(later) > 0 &&
		base.Overrides(later[0].signature.ID, earlier[0].signature.ID)
}

// rewords tells whether an exception says in the program's own words what the one before it meant, of which nothing is known.
func rewords(el *reading.Element, later, earlier []match) bool {
	return el.Exception != nil && len(later) > 0 && earlier[0].signature.Role == signature.Unexplained &&
		later[0].signature.Role == signature.Generic && el.Exception.Rewords()
}

// weigh evaluates the signatures of an element, the best first. It tells whether one of them says that the line is harmless.
func weigh(base *rules.Base, el *reading.Element, now situation) (fitting []match, noise bool) {
	for _, s := range el.Matches {
		m := match{signature: s, situation: now.conditions.Clone(), brings: base.Distributions}
		el.Variables(m.situation)
		capture(m.situation, s, el)
		if len(s.History) > 0 {
			m.situation.Set(signature.HistoryName, now.archive.ask(s, m.situation))
		}
		askDistribution(m.situation, s, base.Distributions)
		if !matches(el, s, m.situation) {
			continue
		}
		el.VariablesForConfirm(m.situation)
		if !condition.Possible(s.Confirm, m.situation) {
			continue
		}
		if s.Role == signature.Noise {
			if saidBelow(el, s, m.situation) {
				continue
			}
			return nil, true
		}
		m.certainty = certaintyOf(el, s, m.situation)
		m.settled = settle(m.situation, s)
		el.VariablesToSay(m.settled)
		fitting = append(fitting, m)
	}
	fitting = upheld(base, fitting)
	slices.SortFunc(fitting, func(a, b match) int {
		return cmp.Or(a.compare(b), strings.Compare(a.signature.ID, b.signature.ID))
	})
	return fitting, false
}

// saidBelow tells whether what a signature speaks of stands only below the first line of an exception: somebody else's line that was
// printed right after the traceback, and is taken for a part of its message.
func saidBelow(el *reading.Element, s *signature.Signature, situation *condition.Situation) bool {
	if el.Exception == nil {
		return false
	}
	first := situation.Clone()
	first.Set("text", situation.Value("line"))
	return !matches(el, s, first)
}

// matches tells whether an element is of a signature. Where a message was printed without its type, what asks for the type counts as true if
// the rest is, and the message is among it.
func matches(el *reading.Element, s *signature.Signature, situation *condition.Situation) bool {
	if el.Exception == nil || !el.Exception.Untyped() {
		return condition.All(s.Match, situation)
	}
	silent := situation.Clone()
	el.VariablesWithoutMessage(silent)
	said := false
	for _, c := range s.Match {
		switch value := c.Eval(situation); {
		case value.True():
			said = said || !c.Eval(silent).Known()
		case value.Known() || len(c.Unknowns(situation)) > 0:
			return false
		}
	}
	return said
}

// certaintyOf tells how sure a signature that fits an element is in a situation. A message alone, without type and traceback, may be another
// program's.
func certaintyOf(el *reading.Element, s *signature.Signature, situation *condition.Situation) report.Certainty {
	switch {
	case s.Role == signature.Unexplained:
		return report.Unexplained
	case el.Exception != nil && el.Exception.Untyped() && el.Exception.Lone():
		return report.Likely
	case s.Role == signature.Cause && !s.OtherCauses && condition.All(s.Confirm, situation):
		return report.Confirmed
	}
	return report.Likely
}

// upheld are those of the matches that no other overrides.
func upheld(base *rules.Base, matches []match) []match {
	return slices.DeleteFunc(slices.Clone(matches), func(m match) bool {
		return slices.ContainsFunc(matches, func(other match) bool {
			return base.Overrides(other.signature.ID, m.signature.ID)
		})
	})
}

// compare is negative when a match is a better answer than another: of two that fit equally well, one that knows the message goes before one
// that only repeats what any message says, and the one that asks for more says more.
func (m match) compare(other match) int {
	return cmp.Or(
		cmp.Compare(fits[m.signature.Role], fits[other.signature.Role]),
		cmp.Compare(m.certainty, other.certainty), // the names are in the order of the alphabet: confirmed, likely, unexplained
		cmp.Compare(repeats(m.signature), repeats(other.signature)),
		cmp.Compare(other.signature.Asks(), m.signature.Asks()),
	)
}

// repeats is 1 for a signature whose answer is what the error's own message says, and 0 for one with an answer of its own.
func repeats(s *signature.Signature) int {
	if s.ReadsMessage {
		return 1
	}
	return 0
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

// incidental tells whether an exception that only a last resort knows is too far from the end to have ended the program.
func incidental(read *reading.Result, f *finding) bool {
	if f.element.Exception == nil {
		return false
	}
	limit := nearEndLone
	if slices.ContainsFunc(f.event.Chain, hasTraceback) {
		limit = nearEnd
	}
	return !slices.ContainsFunc(f.Lasts, func(o *reading.Occurrence) bool { return read.LinesAfter(*o) <= limit })
}

func hasTraceback(el reading.Element) bool {
	x := el.Exception
	return x != nil && (len(x.Frames) > 0 || x.Header.Number > 0)
}

// findingsIn are all events that mean something, those that lines state and those that dumps show, in the order of reading.
func findingsIn(read *reading.Result, s situation) []*finding {
	var findings []*finding
	for _, e := range slices.Concat(dumpEvents(read), read.Events) {
		if f := judge(read, e, s); f != nil {
			findings = append(findings, f)
		}
	}
	slices.SortFunc(findings, func(a, b *finding) int {
		return cmp.Or(cmp.Compare(a.First.Order, b.First.Order), cmp.Compare(a.event.Number, b.event.Number))
	})
	all := slices.Clone(findings)
	return slices.DeleteFunc(findings, func(f *finding) bool {
		asked := read.AsksHelp(f.First.Line.Source)
		return slices.ContainsFunc(all, func(other *finding) bool {
			return f.saysMoreThan(other) || f.onlyNames(other) || asked && f.toldInFullBy(other)
		})
	})
}
