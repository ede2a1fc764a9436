package diagnosis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/matcher/flight"
	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/pace"
	"github.com/gpu-triage/triage/matcher/reading"
	"github.com/gpu-triage/triage/matcher/rootline"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/signature"
)

// never is that of events that no line states: the log cannot show that the job went on after them.
func never(reading.Occurrence) bool { return false }

// askedAbout are the signatures that are asked about the findings of that name.
func askedAbout(read *reading.Result, finding string) []*signature.Entry {
	var all []*signature.Entry
	for _, e := range read.Base.Entries {
		if e.About == finding {
			all = append(all, e)
		}
	}
	return all
}

// comparedElement is what a finding of that name is in an event, for the signatures that are asked about it.
func comparedElement(read *reading.Result, name string, value condition.Value) reading.Element {
	el := reading.Element{About: name, Finding: value}
	for _, e := range askedAbout(read, name) {
		el.Matches = append(el.Matches, e.Signature())
	}
	return el
}

// dumpEvents are what the dumps of the flight recorder show together. Findings that differ only in numbers, as those of ranks that wait
// for the same, are one event.
func dumpEvents(read *reading.Result) []*reading.Event {
	var events []*reading.Event
	byWords := make(map[string]*reading.Event)
	for _, f := range flight.Compare(read.Dumps) {
		el := comparedElement(read, signature.FlightFinding, f.Value())
		el.Text = f.Text()
		el.Line = logline.Line{Source: f.Dump.Source, Number: 1, Rank: f.Rank, Writer: fmt.Sprint("rank ", f.Rank), Text: el.Text}
		words := logline.MaskNumbers(el.Text)
		e := byWords[words]
		if e == nil {
			e = reading.NewEvent(len(read.Events) + len(events))
			byWords[words] = e
			events = append(events, e)
		}
		e.Occurred(read.Occurrence(el.Line), reading.Chain{el}, never)
	}
	return events
}

// slowOrStopped is the failure that no line states and the steps show, when nothing else explains how the job ended: no root was found,
// or one that this failure explains. Otherwise it is nil.
func slowOrStopped(read *reading.Result, s situation, root *finding) *finding {
	explained := func(e *signature.Entry) bool { return isOneOf(root, e.Explains) }
	if root != nil && !slices.ContainsFunc(askedAbout(read, signature.PaceFinding), explained) {
		return nil
	}
	for _, shown := range []*pace.Finding{pace.AtWork(read.Paces), pace.Compare(read.Paces, read.Standstill)} {
		if shown == nil {
			continue
		}
		f := judgePace(read, s, shown)
		if f == nil {
			continue
		}
		ends := f.matches[0].signature.Explains
		if root == nil && (shown.Quiet || wasRead(read, ends)) || root != nil && isOneOf(root, ends) {
			return f
		}
	}
	return nil
}

// wasRead tells whether one of the signatures, which may be a harmless one, knows something that was read.
func wasRead(read *reading.Result, ids []string) bool {
	known := func(s *signature.Signature) bool { return slices.Contains(ids, s.ID) }
	for _, e := range read.Events {
		for _, el := range e.Chain {
			if slices.ContainsFunc(el.Matches, known) {
				return true
			}
		}
	}
	return false
}

func isOneOf(f *finding, ids []string) bool { return slices.Contains(ids, f.matches[0].signature.ID) }

// judgePace is what signatures make of what the steps show; nil when none knows it.
func judgePace(read *reading.Result, s situation, shown *pace.Finding) *finding {
	el := comparedElement(read, signature.PaceFinding, shown.Value())
	el.Line, el.Shows = shown.Lines[0], shown.Lines[1:]
	about := shown.About
	if len(about) == 0 {
		line := shown.Lines[0]
		line.Rank = logline.NoRank
		about = []logline.Line{line}
	}
	return judgeElement(read, s, el, about...)
}

// judgeElement is what signatures make of an element that shows at these lines, though none of them states it; nil when none knows it.
func judgeElement(read *reading.Result, s situation, el reading.Element, at ...logline.Line) *finding {
	e := reading.NewEvent(len(read.Events))
	for _, line := range at {
		e.Occurred(read.Occurrence(line), reading.Chain{el}, never)
	}
	f := &finding{event: e, element: e.Chain.Head(), Occurrences: e.Occurrences(never)}
	f.matches, _ = weigh(read.Base, f.element, s)
	if len(f.matches) == 0 {
		return nil
	}
	return f
}

// failedTool is what failed by the form of the lines, when no signature knows better: no root was found, it is only the last word of what
// had called the failing program, or a generic word about something later or in another step. Otherwise it is nil.
func failedTool(read *reading.Result, s situation, root *finding) *finding {
	if root != nil && (root.role() == signature.Cause || root.role() == signature.Inferred) {
		return nil
	}
	failed := read.RootLine()
	if failed == nil || root != nil && !outdoes(failed, root) || read.WentOn(read.Occurrence(failed.Line)) {
		return nil
	}
	if root != nil && root.role() != signature.Consequence && read.Command(failed.Line) < root.command {
		return nil // the failure of an earlier command, which the root's leaves behind
	}
	return judgeLine(read, s, failed)
}

// askedAboutLine is what somebody who asks about a failure shows of it, when nothing says that anything failed, or only a message that the same
// lines have and that nothing is known of. Otherwise it is nil.
func askedAboutLine(read *reading.Result, s situation, root *finding) *finding {
	if root != nil && !root.repeated() {
		return nil
	}
	asked := read.Asked()
	if asked == nil || stepped(read, asked.Line) {
		return nil
	}
	f := judgeLine(read, s, asked)
	if f == nil || root != nil && (f.role() == signature.Unexplained || !shows(asked, root.element.Line)) {
		return nil
	}
	return f
}

// repeated tells whether the finding is a message without its type that nothing is known of: the words of somebody else than who raised it.
func (f *finding) repeated() bool {
	x := f.element.Exception
	return x != nil && x.Untyped() && x.Lone() && f.role() == signature.Unexplained
}

// shows tells whether a line is one of those that show what failed.
func shows(failed *rootline.Finding, line logline.Line) bool {
	return slices.ContainsFunc(append([]logline.Line{failed.Line}, failed.Shows...), func(l logline.Line) bool {
		return l.Source == line.Source && l.Number == line.Number
	})
}

// stepped tells whether the steps of a process of the source went on after a line.
func stepped(read *reading.Result, line logline.Line) bool {
	for _, p := range read.Paces {
		lines, _ := p.WentOn()
		if slices.ContainsFunc(lines, func(after logline.Line) bool { return after.Source == line.Source && after.Number > line.Number }) {
			return true
		}
	}
	return false
}

// judgeLine is what signatures make of a line that only its form tells from others; nil when none knows it.
func judgeLine(read *reading.Result, s situation, failed *rootline.Finding) *finding {
	el := comparedElement(read, signature.FailedFinding, failed.Value())
	el.Line, el.Text, el.Shows = failed.Line, failed.Text, failed.Shows
	return judgeElement(read, s, el, failed.Line)
}

// outdoes tells whether what failed by the form of the lines says more than a consequence or a generic word in the same log: it surely is an
// error and stands before that or is quoted by it, or that is only the last word of the step, or stands in an earlier one. An exception that
// the root's own traceback begins with is the root's, and says no more than it.
func outdoes(failed *rootline.Finding, root *finding) bool {
	line := root.First.Line
	if raised(root.event, failed.Line) || announces(failed.Line, root) {
		return false
	}
	return line.Source == failed.Line.Source &&
		(line.Number < failed.From || line.Number == failed.End || failed.Sure && (failed.Line.Number < line.Number || failed.Told && quotes(root.event, failed.Line)))
}

// raised tells whether a line is the last one of an exception in an event's chain.
func raised(e *reading.Event, line logline.Line) bool {
	return slices.ContainsFunc(e.Chain, func(el reading.Element) bool {
		return el.Exception != nil && el.Line.Source == line.Source && el.Line.Number == line.Number
	})
}

// announces tells whether a line ends in a colon just above the root: it says whose failure that is.
func announces(line logline.Line, root *finding) bool {
	return root.element.Exception != nil && root.element.Line.Number == line.Number+1 && strings.HasSuffix(line.Text, ":")
}

// quotes tells whether an exception of an event has the line in its message, below its own first line: a program that collects the output of a tool raises it like that.
func quotes(e *reading.Event, line logline.Line) bool {
	return slices.ContainsFunc(e.Chain, func(el reading.Element) bool {
		_, more, _ := strings.Cut(el.Text, "\n")
		return el.Exception != nil && strings.Contains(more, line.Text)
	})
}
