package prefilter

import (
	"context"
	"io"
	"slices"
	"sync/atomic"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/scan"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/signature"
)

// Found tells of the patterns that conditions look for anywhere in a log, by their numbers, whether a line was found for each: nobody asks
// for a second one. The workers of a scan read it while a reading adds to it.
type Found []atomic.Bool

// Has tells whether a line was found for a pattern.
func (f Found) Has(number int) bool { return f[number].Load() }

// Add notes that a line was found for a pattern.
func (f Found) Add(number int) { f[number].Store(true) }

// Source finds the lines of one source that may matter by themselves. It knows one line at a time: whatever depends on others counts as
// fulfilled.
type Source struct {
	filter   *Filter
	form     *logline.Form
	found    Found
	unwanted *templateSet // no line of these matters
	silent   *templateSet // no line of these states anything in common words
}

// Source begins a source of that form.
func (f *Filter) Source(form *logline.Form, found Found) *Source {
	return &Source{filter: f, form: form, found: found, unwanted: newTemplateSet(), silent: newTemplateSet()}
}

// EveryLine tells that any line may matter: what is looked for cannot be found in the bytes of this source.
func (s *Source) EveryLine() bool { return s.filter.everyLine || !s.form.Searchable() }

// Read reads what follows of the source, of which so many lines were read before, in the way that how says. The hits of the chunks that it
// hands to yield are the lines that may matter by themselves. Those without a literal, which have no IDs, may matter only for what they
// state in common words. The error is from's, yield's, or ctx's.
func (s *Source) Read(ctx context.Context, from io.Reader, how scan.Reading, before int64, yield func(*scan.Chunk) error) error {
	how.Keep, how.First, how.FirstLines = s.keep, s.mayState, HeadLines-int(before)
	return s.filter.lines.Read(ctx, from, how, yield)
}

// NextProgress is where the first line of data begins that may show progress, len(data) when there is none. The signatures with a keyword
// in that line are appended to those in to.
func (s *Source) NextProgress(data []byte, to []*signature.Entry) (at int, signatures []*signature.Entry) {
	at = len(data)
	s.filter.progress.Lines(data, func(hit scan.Hit) bool {
		for _, id := range hit.IDs {
			if step := s.filter.steps[id]; !slices.Contains(to, step) {
				to = append(to, step)
			}
		}
		at = hit.Start
		return false
	})
	return at, to
}

// keep tells whether a line may matter by itself. Literals tells the numbers of those that it has; it is asked for them only when the
// template of the line does not decide. The workers of a scan call it, so that a reading is left with the few lines that may matter.
func (s *Source) keep(raw []byte, literals func() []int32) bool {
	var room [usualTemplate]byte
	template, ok := lineTemplate(room[:0], raw)
	if ok && s.unwanted.has(template) {
		return false
	}
	wanted := s.wanted(raw, literals())
	if ok && !wanted && !s.filter.mayHaveNumbered(template) {
		s.unwanted.add(template)
	}
	return wanted
}

// maxLiterals is of how many literals a line may have some and still be tested: to test one with more takes longer than to read it.
const maxLiterals = 16

// wanted is keep for a line of whose template nothing is known.
func (s *Source) wanted(raw []byte, literals []int32) bool {
	if len(literals) > maxLiterals {
		return true
	}
	text := string(raw)
	hidden := logline.HidesWords(text)
	var room [8]*lineTest
	left := room[:0]
	for _, n := range literals {
		switch t := s.filter.tests[n]; {
		case t.pattern != noPattern && s.found.Has(t.pattern):
		case !hidden && t.raw != nil && !t.raw(text):
		case t.line == nil:
			return true
		default:
			left = append(left, t)
		}
	}
	return len(left) > 0 && s.passes(raw, left)
}

// passes tells whether a part of a line passes one of the tests.
func (s *Source) passes(raw []byte, tests []*lineTest) (passed bool) {
	situation := s.filter.situations.Get().(*condition.Situation)
	defer s.filter.situations.Put(situation)
	situation.Set("source", condition.StringValue(s.form.Source()))
	s.form.Clean(0, raw, func(line logline.Line) error { //nolint:errcheck // nothing fails
		if passed {
			return nil
		}
		signature.SetLineTemplate(situation, line.Text)
		harmless := s.harmless(line.Text, situation)
		passed = slices.ContainsFunc(tests, func(t *lineTest) bool { return !(t.event && harmless) && t.line(&line, situation) })
		return nil
	})
	return passed
}

// harmless tells whether some signature of noise surely knows a text.
func (s *Source) harmless(text string, situation *condition.Situation) bool {
	return slices.ContainsFunc(s.filter.noise.In(text, nil), func(n int) bool {
		return condition.All(s.filter.interests[n].signature.Signature().Match, situation)
	})
}
