package prefilter

import (
	"bytes"

	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/matcher/logline"
)

// HeadLines is how many lines of a source, from its first, are read for facts that are stated in words as common as "torch": where
// programs and people say what is installed. Facts in rarer words, and those in messages of exceptions, are found everywhere.
const HeadLines = 5000

// ContextLines is how many lines of a source, of all its writers, can be looked back at: short keywords are looked for in so many last
// lines.
const ContextLines = 32

// mayState tells whether a line may state something in common words. Programs repeat themselves: that no line of a template does is
// remembered.
func (s *Source) mayState(raw []byte) bool {
	for part := range bytes.SplitSeq(raw, []byte{'\r'}) {
		var room [usualTemplate]byte
		template, ok := lineTemplate(room[:0], part)
		if ok && s.silent.has(template) {
			continue
		}
		if s.partMayState(part) {
			return true
		}
		if ok {
			s.silent.add(template)
		}
	}
	return false
}

// partMayState tells whether some line that differs from this one in numbers only may state something in common words.
func (s *Source) partMayState(raw []byte) (may bool) {
	f := s.filter
	s.form.Clean(0, raw, func(line logline.Line) error { //nolint:errcheck // nothing fails
		text := line.Body()
		for _, n := range f.common.In(line.Text, nil) {
			may = may || s.mayBeStated(&f.interests[n].states, text)
		}
		for _, n := range f.commonNumbered {
			may = may || s.mayBeStated(&f.interests[n].states, text)
		}
		for n := range f.wordless {
			may = may || s.mayBeStated(&f.wordless[n], text)
		}
		return nil
	})
	return may
}

// mayBeStated tells whether some text that differs from this one in numbers only may state something new.
func (s *Source) mayBeStated(what *Statement, text string) bool {
	switch {
	case what.Reader != nil:
		return facts.MayState(what.Reader, s.filter.base.Vocabulary, text, what.Packages)
	case what.Pattern != nil:
		return !s.found.Has(what.Number) && what.Pattern.AnyNumbers().Matches(text)
	}
	return false
}
