package prefilter

import (
	"bytes"

	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/matcher/logline"
)

// headLines is how many lines of a source, from its first, are read for facts that are stated in words as common as "torch": where
// programs and people say what is installed. Facts in rarer words, and those in messages of exceptions, are found everywhere.
const HeadLines = 5000

// reach is how many lines of a source, of all its writers, can be looked back at: short keywords are looked for in so many last lines.
const ContextLines = 32

// states tells whether a line may state something in common words. Programs repeat themselves: that no line of a kind does is
// remembered.
func (s *Source) States(raw []byte) bool {
	for part := range bytes.SplitSeq(raw, []byte{'\r'}) {
		var room [usualKind]byte
		kind, ok := lineKind(room[:0], part)
		if ok && s.mute.has(kind) {
			continue
		}
		if s.mayState(part) {
			return true
		}
		if ok {
			s.mute.add(kind)
		}
	}
	return false
}

// mayState tells whether some line of the kind of this one may state something in common words.
func (s *Source) mayState(raw []byte) (may bool) {
	e := s.filter
	s.form.Clean(0, raw, func(line logline.Line) error { //nolint:errcheck // nothing fails
		text := line.Body()
		for _, n := range e.Common.In(line.Text, nil) {
			may = may || s.mayStateWith(n, text)
		}
		for _, n := range e.commonNumbered {
			may = may || s.mayStateWith(n, text)
		}
		for _, number := range e.Wordless {
			may = may || s.mayFind(number, text)
		}
		return nil
	})
	return may
}

// mayStateWith tells whether some line of the kind of this text may state what somebody looks for by a word.
func (s *Source) mayStateWith(word int, text string) bool {
	switch i := &s.filter.Interest[word]; {
	case i.Reader != nil:
		return facts.MayState(i.Reader, s.filter.base.Vocabulary, text, i.packages)
	case i.Pattern != nil:
		return s.mayFind(i.Number, text)
	}
	return false
}

// mayFind tells whether some line of the kind of this text may be the first that a pattern of the scope matches.
func (s *Source) mayFind(number int, text string) bool {
	return !s.found[number].Load() && s.filter.base.Scope.LogPatterns()[number].AnyNumbers().Matches(text)
}
