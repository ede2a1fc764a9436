package reading

import (
	"slices"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/prefilter"
	"github.com/gpu-triage/triage/matcher/traceback"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/signature"
)

// lineClass is what a line may have to say by itself. A traceback that it belongs to is another matter.
type lineClass int

const (
	anything     lineClass = iota
	commonWords            // only what the first lines of a source state in common words, or that the job makes progress
	onlyProgress           // only that the job makes progress
	nothing
)

// source is a source that is being read: its lines come in, in order, and what they show is given to the reading.
type source struct {
	*Reading
	name      string
	head      []byte // its first bytes; nil of a log that grows
	progress  *sourceProgress
	history   history
	assembler *traceback.Assembler
	asked     int                  // up to the line with this number, short keywords have been looked for
	refused   *traceback.Exception // the last that was not matched, and where it was printed
	refusedAt Occurrence

	// The line that is being taken in, and what it may have to say: of one that was held back that is not known any more.
	now   int
	class lineClass
	steps []*signature.Entry // with a keyword in it, when it may show progress
}

// begin starts a source.
func (r *Reading) begin(name string) *source {
	s := &source{Reading: r, name: name, progress: r.survival.in(name)}
	s.pace.sample.Begin()
	s.assembler = traceback.NewAssembler(s.assembled, s.history.lazyBefore)
	return s
}

// take takes in a line, with what it may have to say and the signatures of progress with a keyword in it.
func (s *source) take(line logline.Line, class lineClass, steps []*signature.Entry) {
	s.now, s.class, s.steps = line.Number, class, steps
	s.history.add(line)
	s.pace.sample.Take(line)
	s.assembler.Feed(line)
	s.now = 0
}

// pass is take for a line that has nothing to say, or only shows progress, and of which no more is known than whose it is. It takes none
// of a writer with an open traceback, and tells whether it took the line.
func (s *source) pass(line logline.Line, class lineClass, steps []*signature.Entry) bool {
	if s.assembler.Has(line) {
		return false
	}
	s.assembler.Expire(line.Number)
	if class == onlyProgress {
		s.step(line, steps)
	}
	return true
}

// assembled takes what the assembler hands on: an exception, or a line that belongs to none.
func (s *source) assembled(e *traceback.Exception, line logline.Line) {
	if e != nil {
		s.exception(e)
	} else {
		s.line(line)
	}
}

// maxWords is of how many keywords a line may have some and still be a message: one with more is a list of failures, and to try them all
// would take the longer the longer such lines are. The longest messages of CUDA's allocator have 36.
const maxWords = 100

// busy tells that the next line may matter, whatever it contains: a traceback or a dict is open.
func (s *source) busy() bool { return s.assembler.Busy() || s.statements.facts.Busy() }

// line takes in a line that belongs to no traceback.
func (s *source) line(line logline.Line) {
	s.history.loose(line)
	class, head := anything, line.Number <= prefilter.HeadLines
	if line.Number == s.now {
		class = s.class
	}
	switch class {
	case nothing:
	case onlyProgress:
		s.step(line, s.steps)
	case commonWords:
		s.state(s.matching.commonWords(line.Text), line.Body(), line, head, plain(line))
		s.step(line, s.steps)
	default:
		words := s.matching.words(line.Text)
		if len(words) > maxWords {
			return
		}
		s.state(words, line.Body(), line, head, plain(line))
		if len(words) > 0 {
			s.event(Element{Line: line, Text: line.Text}, words)
		}
	}
}

// state takes what a line with those words states. Text is the part of it that counts.
func (s *source) state(words []int, text string, line logline.Line, head, said bool) {
	if s.machine[s.name] {
		return
	}
	s.statements.take(s.matching.filter.Statements(text, line.Text, words, head), text, line, said)
}

// proseLines is how many of the first lines of a source a person may have written: an issue is no longer, with its log.
const proseLines = 500

// plain tells that a line has nothing around it that a program puts there, so that a person may have written it.
func plain(line logline.Line) bool {
	return line.Number <= proseLines && line.Head == 0 && line.Level == "" && line.Rank == logline.NoRank && line.Time.IsZero()
}

// event takes in a line with such words as an event, if it is one.
func (s *source) event(el Element, words []int) {
	if !s.covered(&s.lines, len(el.Text)) {
		return
	}
	s.survival.shown(s.match(&el, words, prefilter.InLine), el.Line)
	s.notePaid(&s.lines, Chain{el}, el.Line)
}

// covered tells whether a text of so many bytes may be matched. Where it may not, the answer is not complete.
func (s *source) covered(by *allowance, length int) bool {
	covered := by.covers(length)
	s.stats.Incomplete = s.stats.Incomplete || !covered
	return covered
}

// notePaid is note for what the allowance covered. An event that was seen before costs nothing, nor does a line that is none.
func (s *source) notePaid(by *allowance, printed Chain, line logline.Line) {
	if cost := s.matching.takeCost(); s.note(printed, line) {
		by.pay(cost)
	}
}

// match finds the signatures that may know a line. It tells what the line shows of how the run goes on.
func (s *source) match(el *Element, words []int, place prefilter.Place) (shown signature.Role) {
	return s.matching.match(el, words, place, s.progress.watching, func() string { return s.history.before(el.Line) })
}

// step takes in a line that can only show how the run goes on.
func (s *source) step(line logline.Line, steps []*signature.Entry) {
	s.survival.shown(s.matching.step(line, steps, s.progress.watching), line)
}

// exception takes in the last exception of a chain, with those before it. Of an exception group or of what several workers relayed, the first
// member is part of the chain, and each other one an event of its own: any of them may be the one whose cause is known.
func (s *source) exception(e *traceback.Exception) {
	length := 0
	for x := e; x != nil; x = x.Earlier {
		s.statements.origin.Exception(x)
		s.statements.facts.Paths(x)
		for _, line := range x.Lines {
			s.state(s.matching.words(line.Text), line.Text, line, true, false)
		}
		length += len(x.Message)
	}
	if !s.covered(&s.raisings, length) {
		s.refused, s.refusedAt = e, s.survival.occurrence(e.Line)
		return
	}
	raised := s.raised(e)
	s.notePaid(&s.raisings, raised, e.Line)
	s.within(raised)
	for x := e; x != nil; x = x.Earlier {
		for _, member := range x.Within {
			s.exception(member)
		}
	}
}

// raised is a chain of exceptions, given by its last one, with the signatures that may know them.
func (s *source) raised(e *traceback.Exception) (raised Chain) {
	s.finishByTitle(e)
	e.Show()
	for x := e; x != nil; x = x.Earlier {
		before := x.Before
		if before == nil {
			before = e.Before
		}
		el := s.matching.exception(x, s.progress.watching, before)
		el.value = condition.Value{} // of thousands of events it would be much
		raised = append(raised, el)
	}
	for x := e; x != nil; x = x.Earlier {
		x.Before = nil // it holds bytes of the log
	}
	slices.Reverse(raised)
	return raised
}

// finishByTitle gives an exception whose last line the post does not show, as where its text ends before, what the title says of it: with the
// class, or without it where a signature knows the message.
func (s *source) finishByTitle(e *traceback.Exception) {
	if e.Message != "" || len(e.Frames) == 0 {
		return
	}
	title := s.history.form.Title()
	typ, message, ok := traceback.InTitle(title)
	if ok && (e.Type == "" || e.Type == typ) {
		e.Type, e.Message = typ, message
		return
	}
	message, ok = traceback.CaughtMessage(logline.Line{Text: title}, true)
	if !ok || e.Type != "" || len(message) > maxGuessed {
		return
	}
	finished := *e
	finished.Message = message
	if s.matching.knownUntyped(s.matching.typed(&finished, s.progress.watching, func() string { return "" })) > 0 {
		e.Message = message
	}
}

// lastRefused takes in the last exception of those that were not matched: it may be what ended the job.
func (s *source) lastRefused() {
	if s.refused == nil {
		return
	}
	raised := s.raised(s.refused)
	s.occurred(s.events.of(raised, len(s.events)+1), raised, s.refusedAt)
	s.refused = nil
}

// within looks at the lines of the messages on their own: where a message ends is not always to be seen, so that the next thing that
// the program printed may be among them.
func (s *source) within(raised Chain) {
	for _, part := range raised {
		for i, line := range part.Exception.Lines {
			if i == 0 || line.Text == "" || line.Text[0] == ' ' || line.Text[0] == '\t' {
				continue
			}
			if !s.covered(&s.lines, len(line.Text)) {
				return
			}
			el := Element{Line: line, Text: line.Text}
			if s.match(&el, s.matching.words(line.Text), prefilter.InLastLines) == signature.Progress { // a command is advice there
				s.survival.progressed(line)
			}
			el.Matches = slices.DeleteFunc(el.Matches, func(known *signature.Signature) bool { return slices.Contains(part.Matches, known) })
			s.notePaid(&s.lines, Chain{el}, line)
		}
	}
}

// last looks for short keywords in the last lines of the source, of which there are so many by now. What shows there may have been survived
// like anything else: progress counts from the first of it.
func (s *source) last(lines int) {
	failed := false
	s.history.each(lines, func(past *pastPart) {
		line := past.Line
		if !past.loose || line.Number <= s.asked {
			return
		}
		asked, el := Element{Line: line, Text: line.Text}, Element{Line: line, Text: line.Text}
		words := s.matching.words(line.Text)
		s.match(&asked, words, prefilter.InLine)
		if shown := s.match(&el, words, prefilter.InLastLines); failed {
			s.survival.shown(shown, line)
		}
		el.Matches = slices.DeleteFunc(el.Matches, func(known *signature.Signature) bool {
			return known.Role != signature.Noise && !s.lines.refused && slices.Contains(asked.Matches, known)
		})
		c := Chain{el}
		if len(asked.Matches) == 0 && len(el.Matches) == 0 { // else a signature speaks for the line itself, perhaps that it is harmless
			c = s.caught(line)
		}
		if !c.harmless() {
			failed = true
			s.note(c, line)
		}
	})
	s.asked = max(s.asked, lines)
	s.matching.takeCost() // of a few lines, whatever the source
}

// end ends the source.
func (s *source) end() {
	s.assembler.Close()
	s.lastRefused()
	s.statements.facts.EndSource()
	s.last(s.progress.lines)
	s.history.each(s.progress.lines, func(past *pastPart) { s.statements.origin.Line(past.Line) })
	if one := s.pace.add(s.progress.lines, &s.matching, s.statements.origin.Line); one != nil {
		s.survival.stepped(one.WentOn())
	}
	s.survival.ended(s.progress)
}
