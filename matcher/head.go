package matcher

import (
	"bytes"
	"slices"

	"github.com/gpu-triage/triage/rules/fact"
	"github.com/gpu-triage/triage/rules/pattern"
)

// headLines is how many lines of a source, from its first, are read for facts that are stated in words as common as "torch": where
// programs and people say what is installed. Facts in rarer words, and those in messages of exceptions, are found everywhere.
const headLines = 5000

// states tells whether a line may state something in common words. Programs repeat themselves: that no line of a kind does is
// remembered.
func (s *sieve) states(raw []byte) bool {
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
func (s *sieve) mayState(raw []byte) (may bool) {
	e := s.engine
	s.form.Clean(0, raw, func(line Line) error { //nolint:errcheck // nothing fails
		text := line.Body()
		for _, n := range e.common.in(line.Text, nil) {
			may = may || s.mayStateWith(n, text)
		}
		for _, n := range e.commonNumbered {
			may = may || s.mayStateWith(n, text)
		}
		for _, number := range e.wordless {
			may = may || s.mayFind(number, text)
		}
		return nil
	})
	return may
}

// mayStateWith tells whether some line of the kind of this text may state what somebody looks for by a word.
func (s *sieve) mayStateWith(word int, text string) bool {
	switch i := &s.engine.interest[word]; {
	case i.reader != nil:
		return mayRead(i.reader, s.engine.base.Vocabulary, text, i.packages)
	case i.pattern != nil:
		return s.mayFind(i.number, text)
	}
	return false
}

// mayFind tells whether some line of the kind of this text may be the first that a pattern of the scope matches.
func (s *sieve) mayFind(number int, text string) bool {
	return !s.found[number].Load() && s.engine.base.Scope.LogPatterns()[number].AnyNumbers().Matches(text)
}

// mayRead tells whether some line of the kind of this text may state a fact to a reader.
func mayRead(reader *fact.Reader, v *fact.Vocabulary, text string, packages bool) bool {
	group := reader.Pattern.Group("name")
	switch {
	case !reader.Marks().AnyNumbers().Matches(text):
		return false
	case group < 0 || reader.Within != nil || !reader.Pattern.IgnoresNumbers():
		return true
	}
	return slices.ContainsFunc(reader.Pattern.Regexp().FindAllStringSubmatch(text, maxStated), func(m []string) bool {
		_, ok := subject(reader, v, m, packages)
		return ok || !pattern.IgnoresNumbers(m[group])
	})
}
