package matcher

import (
	"slices"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/signature"
)

// line takes in a line that belongs to no traceback.
func (r *Reading) line(line Line) {
	r.history.loose(line)
	says, shown := anything, []int32(nil)
	if r.says != nil {
		says, shown = r.says(line)
	}
	near := says <= states && line.Number <= headLines
	switch says {
	case nothing:
	case steps:
		r.step(line, shown)
	case states:
		r.ids = r.engine.common.in(line.Text, r.ids[:0])
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
func (r *Reading) event(words []int, line Line) {
	el := element{line: line, text: line.Text}
	if r.match(words, &el) {
		r.progressed(line)
	}
	r.note(chain{el}, line)
}

// step takes in a line that can only show progress. The numbers are those of the literals in it.
func (r *Reading) step(line Line, shown []int32) {
	r.known = r.known[:0]
	for _, n := range shown {
		if s := r.engine.steps[n]; !slices.Contains(r.known, s) && r.engine.fits(s, line.Text) {
			r.known = append(r.known, s)
		}
	}
	if r.consider(r.known, &element{line: line, text: line.Text}) {
		r.progressed(line)
	}
}

// exception takes in the last exception of a chain, with those before it.
func (r *Reading) exception(e *Exception) {
	var raised chain
	for x := e; x != nil; x = x.Earlier {
		r.clues.exception(x)
		el := element{line: x.Line, exception: x, text: x.Text(), past: e.Before, near: true}
		for _, line := range x.Lines {
			r.states(r.words(line.Text), line.Text, line, true)
		}
		r.match(r.words(el.text), &el)
		raised = append(raised, el)
	}
	e.Before = nil // it holds bytes of the log
	slices.Reverse(raised)
	r.note(raised, e.Line)
	r.within(raised)
}

// within looks at the lines of the messages on their own: where a message ends is not always to be seen, so that the next thing that
// the program printed may be among them.
func (r *Reading) within(raised chain) {
	for _, part := range raised {
		for i, line := range part.exception.Lines {
			if i == 0 || line.Text == "" || line.Text[0] == ' ' || line.Text[0] == '\t' {
				continue
			}
			el := element{line: line, text: line.Text, near: true}
			if r.match(r.words(line.Text), &el) {
				r.progressed(line)
			}
			el.matches = slices.DeleteFunc(el.matches, func(s *signature.Signature) bool { return slices.Contains(part.matches, s) })
			r.note(chain{el}, line)
		}
	}
}

// words are the numbers of the words in a text, until it is called again.
func (r *Reading) words(text string) []int {
	r.ids = r.engine.words.in(text, r.ids[:0])
	return r.ids
}

// states takes the facts that a line states, and looks whether it is one that conditions look for. Near tells that it is worth to be
// looked at closely: common words may state something.
func (r *Reading) states(words []int, text string, line Line, near bool) {
	if r.facts.continues(text, line) {
		return
	}
	var before *interest
	for _, n := range words {
		i := &r.engine.interest[n]
		if i.signature != nil || i.common && !near || !i.word.In(text) || before.same(i) {
			continue
		}
		before = i
		switch {
		case i.reader != nil:
			r.facts.read(i.reader, text, line, i.weight())
		case i.dict != nil:
			r.facts.begin(i.dict, text, line)
		case i.trail != "":
			r.trails.add(i.trail, text, line)
		case i.xid:
			r.xids.add(r.engine.base.Xids, text, line)
		case i.pattern != nil:
			r.look(i.number, text, line)
		}
	}
	if near {
		for _, number := range r.engine.wordless {
			r.look(number, text, line)
		}
	}
}

// look notes whether a line is the first that one of the scope's patterns matches.
func (r *Reading) look(number int, text string, line Line) {
	if r.seen[number].Number == 0 && r.engine.base.Scope.LogPatterns()[number].Matches(text) {
		r.seen[number] = line
		r.found[number].Store(true)
	}
}

// match finds the signatures whose conditions an element fulfils, as far as they can be decided before the log is read to its end.
// It tells whether the line shows progress.
func (r *Reading) match(words []int, el *element) (progress bool) {
	signatures := r.known[:0]
	looking := el.exception != nil && r.engine.genericLooks
	for _, n := range words {
		i := &r.engine.interest[n]
		if s := i.signature; s != nil && (el.near || !i.last) && !slices.Contains(signatures, s) && r.engine.fits(s, el.text) {
			signatures, looking = append(signatures, s), looking || s.Before
		}
	}
	r.known = signatures
	switch {
	case looking && el.exception == nil:
		el.before = r.before(el.line)
	case looking && el.past != nil:
		el.before = el.past()
	}
	el.past = nil
	return r.consider(signatures, el)
}

// consider notes which of the signatures, and of those for every exception, an element may be of: none for a line that is surely
// harmless. It tells whether the line shows progress.
func (r *Reading) consider(signatures []*signature.Entry, el *element) (progress bool) {
	if len(signatures) == 0 && el.exception == nil {
		return false
	}
	el.variables(r.scratch)
	harmless := el.exception == nil && r.harmless(signatures)
	consider := func(e *signature.Entry) {
		switch s := e.Signature(); {
		case s.Role == signature.Progress:
			progress = progress || r.watches(el.line) && possible(s.Match, r.scratch)
		case harmless:
		case slices.Contains(el.matches, s) || !possible(s.Match, r.scratch):
		default:
			el.matches = append(el.matches, s)
		}
	}
	for _, s := range signatures {
		consider(s)
	}
	if el.exception != nil {
		for _, s := range r.engine.generic {
			if r.engine.mayMatch(s, el.text) {
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
	return slices.ContainsFunc(signatures, func(e *signature.Entry) bool { return noise(e) && all(e.Signature().Match, r.scratch) })
}

// possible tells whether no condition is false.
func possible(conditions []*condition.Expression, s *condition.Situation) bool {
	for _, c := range conditions {
		if c.Eval(s).False() {
			return false
		}
	}
	return true
}

// note keeps an event, or counts it when it is known already.
func (r *Reading) note(printed chain, line Line) {
	if printed[0].exception == nil && printed.harmless() {
		return
	}
	key := printed.key()
	e, ok := r.events[key]
	if !ok {
		if len(r.events) >= maxEvents {
			r.stats.Incomplete = true
			return
		}
		e = newEvent(len(r.events))
		r.events[key] = e
	}
	r.clues.line(line)
	e.occurred(r.occurrence(line), printed, r.wentOn)
	if !e.chain.harmless() {
		p := r.process(line)
		p.failed = max(p.failed, r.order(line))
		r.state(line.Source).watch()
	}
}
