package diagnosis

import (
	"slices"
	"strings"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/reading"
	"github.com/gpu-triage/triage/matcher/traceback"
	"github.com/gpu-triage/triage/rules/signature"
)

// conclusion is what the events of a log come to.
type conclusion struct {
	findings []*finding
	root     *finding // nil when nothing failed
	first    int      // the rank that a launcher saw fail first, or NoRank
}

// conclude tells what was read comes to in a situation.
func conclude(read *reading.Result, s situation) conclusion {
	c := conclusion{findings: findingsIn(read, s)}
	c.first = firstFailed(c.findings)
	c.root = rootOf(c.findings, c.first)
	if c.root == nil {
		c.root = askedThoughHandled(read, c.findings)
	}
	if c.root != nil && c.root.cutOff() && read.AsksHelp(c.root.First.Line.Source) {
		c.root = whole(c.findings, c.root)
	}
	if f := c.missingRank(read, s); f != nil {
		c.findings, c.root = append(c.findings, f), f
		return c
	}
	for _, unstated := range []func(*reading.Result, situation, *finding) *finding{slowOrStopped, failedTool, askedAboutLine, toldRelease, toldInWords} {
		if f := unstated(read, s, c.root); f != nil {
			c.findings, c.root = append(c.findings, f), f
			break
		}
	}
	return c
}

// rootOf picks the finding that explains the others: nil when nothing failed. A fault after which the log shows progress explains a
// failure only when nothing else does: the progress may have been another rank's. One that needs something to be done is told in any case.
func rootOf(findings []*finding, first int) *finding {
	var chosen, survived, lasting *finding
	for _, f := range findings {
		if f.Handled && f.lasting() && lasting == nil {
			lasting = f
		}
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
	if chosen == nil {
		return lasting
	}
	return chosen
}

// askedThoughHandled is the last exception with a known answer that a person asks about, though by how it was printed the program went on: in a
// destructor, or in a log record that is no error. It is nil where nobody asks.
func askedThoughHandled(read *reading.Result, findings []*finding) *finding {
	for _, f := range slices.Backward(findings) {
		if f.Handled && !f.role().LastResort() && f.element.Exception != nil && read.AsksHelp(f.First.Line.Source) && !read.WentOn(f.Last()) {
			return f
		}
	}
	return nil
}

// whole is the last exception that a post shows beside a traceback that its author cut off, and else that traceback: what a person quotes
// beside a print is no earlier failure that the program got over.
func whole(findings []*finding, cut *finding) *finding {
	for _, f := range slices.Backward(findings) {
		if f.element.Exception != nil && !f.cutOff() && f.First.Line.Source == cut.First.Line.Source {
			return f
		}
	}
	return cut
}

// lasting tells whether something is to be done about the finding although the job went on.
func (f *finding) lasting() bool { return len(f.matches) > 0 && f.matches[0].signature.Lasting }

// explains orders the roles of failures in different places, from what explains to what is explained.
var explains = map[signature.Role]int{signature.Cause: 0, signature.Generic: 1, signature.Inferred: 1, signature.Unexplained: 2, signature.Consequence: 3}

// earlier tells whether a caused b rather than the other way round. first is the rank that the launcher saw fail first, or NoRank.
func earlier(a, b *finding, first int) bool {
	switch {
	case a.byLaterCommand(b):
		return a.leaves(b)
	case b.byLaterCommand(a):
		return !b.leaves(a)
	}
	if x, y := a.tellsOf(b), b.tellsOf(a); x != y {
		return y
	}
	if x, y := a.cutOff(), b.cutOff(); x != y && !apart(a, b) && y == a.Earliest(first).Before(b.Earliest(first)) {
		return y
	}
	if x, y := a.mute(), b.mute(); x != y && !apart(a, b) {
		return y
	}
	if x, y := a.role() == signature.Consequence, b.role() == signature.Consequence; x != y {
		return y
	}
	if a.machine != b.machine {
		return a.machine == (a.accountsFor(b) || b.accountsFor(a))
	}
	if first != logline.NoRank {
		if x, y := a.ByRank[first] != nil, b.ByRank[first] != nil; x != y {
			return x
		}
	}
	if x, y := a.survivable(), b.survivable(); x != y && apart(a, b) {
		return y
	}
	if x, y := a.cutOff(), b.cutOff(); x != y && !apart(a, b) {
		return y
	}
	if x, y := explains[a.role()], explains[b.role()]; x != y && !apart(a, b) {
		return x < y
	}
	return a.Earliest(first).Before(b.Earliest(first))
}

// byLaterCommand tells whether a shell was given another command after another finding and before this one.
func (f *finding) byLaterCommand(other *finding) bool {
	return f.command > other.command && f.First.Line.Source == other.First.Line.Source
}

// leaves tells whether the finding is of a later command than another one, and leaves it behind: who goes on to another command asks about
// that, unless nothing is known of its failure but that it may follow from the one before.
func (f *finding) leaves(other *finding) bool {
	return f.byLaterCommand(other) && f.role() != signature.Consequence && explains[f.role()] <= max(explains[other.role()], explains[signature.Generic])
}

// accountsFor tells whether the machine tells of the reason for what the log tells. Else what the log states is no consequence of anything
// that happened on the machine meanwhile.
func (f *finding) accountsFor(other *finding) bool {
	return f.machine && len(other.matches) > 0 && isOneOf(other, f.matches[0].signature.Explains)
}

// survivable tells whether a process goes on with what the finding tells, so that it does not explain what ended another one.
func (f *finding) survivable() bool { return len(f.matches) > 0 && f.matches[0].signature.Survivable }

// cutOff tells whether the finding is a traceback whose last line is missing, which tells less than any line near it.
func (f *finding) cutOff() bool { return f.element.Exception != nil && f.element.Exception.Type == "" }

// tellsOf tells whether the finding is a line about which nothing is known but that it tells of the exception whose traceback is the other
// finding, as a program does that catches it, says so, and then prints it as a whole.
func (f *finding) tellsOf(other *finding) bool {
	e := other.element.Exception
	if f.element.Exception != nil || !f.role().LastResort() || e == nil || e.Type == "" || len(e.Frames) == 0 {
		return false
	}
	name := e.Type[strings.LastIndexByte(e.Type, '.')+1:]
	message, _, _ := strings.Cut(e.Message, "\n")
	return strings.Contains(f.element.Text, name) && strings.Contains(f.element.Text, strings.Trim(message, `'"`))
}

// mute tells whether the finding is an exception of C++ that was printed without a word of why, which says less than what it followed from.
func (f *finding) mute() bool {
	e := f.element.Exception
	return e != nil && f.role().LastResort() && e.Message == "" && strings.Contains(e.Type, "::")
}

// apart tells whether two findings are on different known ranks, so that only time can order them, and it does: they are in one log,
// or both have a timestamp.
func apart(a, b *finding) bool {
	x, y := a.First.Line, b.First.Line
	return x.Rank != logline.NoRank && y.Rank != logline.NoRank && x.Rank != y.Rank && (x.Source == y.Source || logline.SameClock(x.Time, y.Time))
}

// firstFailed is the rank that a launcher reports as the first that failed, or NoRank. A launcher looks after its processes now and then, and
// takes any of those that ended by themselves in between: where it gives the same second for two of them, it does not know.
func firstFailed(findings []*finding) int {
	first := logline.NoRank
	for _, f := range findings {
		for _, el := range f.event.Chain {
			if el.Exception == nil {
				continue
			}
			for _, failure := range el.Exception.Failures {
				if failure.First && first == logline.NoRank && !tied(failure, el.Exception.Failures) {
					first = failure.Rank
				}
			}
		}
	}
	return first
}

// tied tells whether another process ended by itself in the same second as the first. One that the launcher ended got SIGTERM from it.
func tied(first traceback.Failure, all []traceback.Failure) bool {
	return slices.ContainsFunc(all, func(f traceback.Failure) bool {
		return f.Rank != first.Rank && f.Time == first.Time && f.Raised == nil && first.Raised == nil && f.ExitCode > 0 && first.ExitCode > 0
	})
}
