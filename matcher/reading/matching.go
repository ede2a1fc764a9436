package reading

import (
	"slices"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/prefilter"
	"github.com/gpu-triage/triage/matcher/traceback"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/signature"
)

// line takes in a line that belongs to no traceback.
func (r *Reading) line(line logline.Line) {
	r.history.loose(line)
	says, shown := anything, []int32(nil)
	if r.says != nil {
		says, shown = r.says(line)
	}
	near := says <= states && line.Number <= prefilter.HeadLines
	switch says {
	case nothing:
	case steps:
		r.step(line, shown)
	case states:
		r.ids = r.filter.Common.In(line.Text, r.ids[:0])
		r.states(r.ids, line.Body(), line, near)
		r.step(line, shown)
	default:
		ids := r.words(line.Text)
		r.states(ids, line.Body(), line, near)
		if len(ids) > 0 {
			r.event(ids, line)
		}
	}
}

// event takes in a line with such words as an event, if it is one.
func (r *Reading) event(words []int, line logline.Line) {
	el := Element{Line: line, Text: line.Text}
	if r.match(words, &el) {
		r.progressed(line)
	}
	r.note(Chain{el}, line)
}

// step takes in a line that can only show progress. The numbers are those of the literals in it.
func (r *Reading) step(line logline.Line, shown []int32) {
	r.known = r.known[:0]
	for _, n := range shown {
		if s := r.filter.Steps[n]; !slices.Contains(r.known, s) && r.filter.Fits(s, line.Text) {
			r.known = append(r.known, s)
		}
	}
	if r.consider(r.known, &Element{Line: line, Text: line.Text}) {
		r.progressed(line)
	}
}

// exception takes in the last exception of a chain, with those before it.
func (r *Reading) exception(e *traceback.Exception) {
	var raised Chain
	for x := e; x != nil; x = x.Earlier {
		r.origin.Exception(x)
		el := Element{Line: x.Line, Exception: x, Text: x.Text(), past: e.Before, near: true}
		for _, line := range x.Lines {
			r.states(r.words(line.Text), line.Text, line, true)
		}
		r.match(r.words(el.Text), &el)
		raised = append(raised, el)
	}
	e.Before = nil // it holds bytes of the log
	slices.Reverse(raised)
	r.note(raised, e.Line)
	r.within(raised)
}

// within looks at the lines of the messages on their own: where a message ends is not always to be seen, so that the next thing that
// the program printed may be among them.
func (r *Reading) within(raised Chain) {
	for _, part := range raised {
		for i, line := range part.Exception.Lines {
			if i == 0 || line.Text == "" || line.Text[0] == ' ' || line.Text[0] == '\t' {
				continue
			}
			el := Element{Line: line, Text: line.Text, near: true}
			if r.match(r.words(line.Text), &el) {
				r.progressed(line)
			}
			el.Matches = slices.DeleteFunc(el.Matches, func(s *signature.Signature) bool { return slices.Contains(part.Matches, s) })
			r.note(Chain{el}, line)
		}
	}
}

// words are the numbers of the words in a text, until it is called again.
func (r *Reading) words(text string) []int {
	r.ids = r.filter.Words.In(text, r.ids[:0])
	return r.ids
}

// states takes the facts that a line states, and looks whether it is one that conditions look for. Near tells that it is worth to be
// looked at closely: common words may state something.
func (r *Reading) states(words []int, text string, line logline.Line, near bool) {
	if r.Facts.Continues(text, line) {
		return
	}
	var before *prefilter.Interest
	for _, n := range words {
		i := &r.filter.Interest[n]
		if i.Signature != nil || i.Common && !near || !i.Word.In(text) || before.Same(i) {
			continue
		}
		before = i
		switch {
		case i.Reader != nil:
			r.Facts.Read(i.Reader, text, line, i.Weight())
		case i.Dict != nil:
			r.Facts.Begin(i.Dict, text, line)
		case i.Trail != "":
			r.Trails.Add(i.Trail, text, line)
		case i.Xid:
			r.Xids.Add(r.Base.Xids, text, line)
		case i.Pattern != nil:
			r.look(i.Number, text, line)
		}
	}
	if near {
		for _, number := range r.filter.Wordless {
			r.look(number, text, line)
		}
	}
}

// look notes whether a line is the first that one of the scope's patterns matches.
func (r *Reading) look(number int, text string, line logline.Line) {
	if r.Seen[number].Number == 0 && r.Base.Scope.LogPatterns()[number].Matches(text) {
		r.Seen[number] = line
		r.found[number].Store(true)
	}
}

// match finds the signatures whose conditions an element fulfils, as far as they can be decided before the log is read to its end.
// It tells whether the line shows progress.
func (r *Reading) match(words []int, el *Element) (progress bool) {
	signatures := r.known[:0]
	looking := el.Exception != nil && r.filter.GenericLooks
	for _, n := range words {
		i := &r.filter.Interest[n]
		if s := i.Signature; s != nil && (el.near || !i.Last) && !slices.Contains(signatures, s) && r.filter.Fits(s, el.Text) {
			signatures, looking = append(signatures, s), looking || s.Before
		}
	}
	r.known = signatures
	switch {
	case looking && el.Exception == nil:
		el.before = r.before(el.Line)
	case looking && el.past != nil:
		el.before = el.past()
	}
	el.past = nil
	return r.consider(signatures, el)
}

// consider notes which of the signatures, and of those for every exception, an element may be of: none for a line that is surely
// harmless. It tells whether the line shows progress.
func (r *Reading) consider(signatures []*signature.Entry, el *Element) (progress bool) {
	if len(signatures) == 0 && el.Exception == nil {
		return false
	}
	el.Variables(r.scratch)
	harmless := el.Exception == nil && r.harmless(signatures)
	consider := func(e *signature.Entry) {
		switch s := e.Signature(); {
		case s.Role == signature.Progress:
			progress = progress || r.watches(el.Line) && condition.Possible(s.Match, r.scratch)
		case harmless:
		case slices.Contains(el.Matches, s) || !condition.Possible(s.Match, r.scratch):
		default:
			el.Matches = append(el.Matches, s)
		}
	}
	for _, s := range signatures {
		consider(s)
	}
	if el.Exception != nil {
		for _, s := range r.filter.Generic {
			if r.filter.MayMatch(s, el.Text) {
				consider(s)
			}
		}
	}
	return progress
}

// harmless tells whether one of the signatures that may know a line surely says that it does not matter. Where all of them are of that
// kind or of progress, nobody has to know which.
func (r *Reading) harmless(signatures []*signature.Entry) bool {
	noise := func(e *signature.Entry) bool { return e.Role == signature.Noise }
	if !slices.ContainsFunc(signatures, func(e *signature.Entry) bool { return !noise(e) && e.Role != signature.Progress }) {
		return true
	}
	return slices.ContainsFunc(signatures, func(e *signature.Entry) bool { return noise(e) && condition.All(e.Signature().Match, r.scratch) })
}

// note keeps an event, or counts it when it is known already.
func (r *Reading) note(printed Chain, line logline.Line) {
	if printed[0].Exception == nil && printed.harmless() {
		return
	}
	key := printed.key()
	e, ok := r.Events[key]
	if !ok {
		if len(r.Events) >= maxEvents {
			r.Stats.Incomplete = true
			return
		}
		e = NewEvent(len(r.Events))
		r.Events[key] = e
	}
	r.origin.Line(line)
	e.Occurred(r.Occurrence(line), printed, r.WentOn)
	if !e.Chain.harmless() {
		p := r.process(line)
		p.failed = max(p.failed, r.order(line))
		r.state(line.Source).watch()
	}
}
