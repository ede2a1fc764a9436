package prefilter

import (
	"slices"
	"sync"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/pattern"
	"github.com/gpu-triage/triage/rules/signature"
)

// lineTest tells which lines with one of its literals matter. What it does not ask is fulfilled. Its answer holds for all lines that
// differ in numbers only: it passes a line when it may pass one of those.
type lineTest struct {
	event   bool                                                          // asks for events, which a line that is surely harmless is not
	pattern int                                                           // only the first line with this pattern of the scope passes, or noPattern
	raw     func(text string) bool                                        // of the whole line, with its wrappers
	line    func(line *logline.Line, situation *condition.Situation) bool // of the line as a reading takes it in; the situation knows its text
}

// noPattern is the pattern of a test that passes more lines than the first.
const noPattern = -1

// anyLine passes every line with one of its literals.
func anyLine() *lineTest { return &lineTest{pattern: noPattern} }

// textTest passes the lines in whose text something may stand.
func textTest(may func(text string) bool) *lineTest {
	return &lineTest{pattern: noPattern, line: func(line *logline.Line, _ *condition.Situation) bool { return may(line.Body()) }}
}

// patternTest passes the first line that a pattern of the scope matches.
func patternTest(number int, p *pattern.Pattern) *lineTest {
	t := textTest(func(text string) bool { return p.AnyNumbers().Matches(text) })
	t.pattern = number
	return t
}

// eventTest passes the lines that may be events of a signature.
func eventTest(s *signature.Entry) *lineTest {
	needs := sync.OnceValue(s.TemplatePatterns)
	has := func(text string) bool {
		return !slices.ContainsFunc(needs(), func(p *pattern.Pattern) bool { return !p.Possible(text) })
	}
	return &lineTest{
		event:   true,
		pattern: noPattern,
		raw:     has,
		line: func(line *logline.Line, situation *condition.Situation) bool {
			return has(line.Text) && condition.Possible(s.Signature().Match, situation)
		},
	}
}
