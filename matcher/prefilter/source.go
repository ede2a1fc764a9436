package prefilter

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/signature"
)

// seeker wants to see those lines with one of its literals that fulfil more: what it does not say is fulfilled. It wants a line when it
// may want any line of that kind.
type lineTest struct {
	event bool                                                          // wants events, which a line that is surely harmless is not
	first int                                                           // wants only the first line with this pattern, or every one
	has   func(text string) bool                                        // of the whole line, with its prefix
	sees  func(line *logline.Line, situation *condition.Situation) bool // of the line as a reading takes it in; the situation knows its kind
}

// every is the first of a seeker that wants all lines.
const every = -1

// foundPatterns tells of patterns, by their numbers, whether a reading has found a line for each.
type Found []atomic.Bool

// sieve lets go the lines that have a literal but nothing else of what its seekers want. The workers of a scan ask it, so that a
// reading is left with the few lines that may matter. It knows one line at a time: whatever depends on others counts as fulfilled.
type Source struct {
	filter     *Filter
	form       *logline.Form
	found      Found
	unwanted   *templateSet // nobody wants any line of them
	mute       *templateSet // no line of them states anything in common words
	situations sync.Pool    // of *rules.Situation
}

func NewSource(e *Filter, form *logline.Form, found Found) *Source {
	s := &Source{filter: e, form: form, found: found, unwanted: newKinds(), mute: newKinds()}
	s.situations.New = func() any { return e.base.Scope.NewSituation() }
	return s
}

// keep tells whether a line may matter by itself. Literals tells the numbers of those that it has; it is asked for them only when the
// kind of the line does not decide.
func (s *Source) Keep(raw []byte, literals func() []int32) bool {
	var room [usualKind]byte
	kind, ok := lineKind(room[:0], raw)
	if ok && s.unwanted.has(kind) {
		return false
	}
	wanted := s.wanted(raw, literals())
	if ok && !wanted && !s.filter.mayHaveNumbered(kind) {
		s.unwanted.add(kind)
	}
	return wanted
}

// wanted is keep for a line of whose kind nothing is known.
func (s *Source) wanted(raw []byte, literals []int32) bool {
	text := string(raw)
	coded := logline.HidesWords(text)
	var room [8]*lineTest
	left := room[:0]
	for _, n := range literals {
		switch k := s.filter.seekers[n]; {
		case k.first != every && s.found[k.first].Load():
		case !coded && k.has != nil && !k.has(text):
		case k.sees == nil:
			return true
		default:
			left = append(left, k)
		}
	}
	return len(left) > 0 && s.seen(raw, left)
}

// seen tells whether one of the seekers wants to see a part of the line.
func (s *Source) seen(raw []byte, seekers []*lineTest) (wanted bool) {
	situation := s.situations.Get().(*condition.Situation)
	defer s.situations.Put(situation)
	situation.Set("source", condition.StringValue(s.form.Source()))
	s.form.Clean(0, raw, func(line logline.Line) error { //nolint:errcheck // nothing fails
		if wanted {
			return nil
		}
		signature.SetLineTemplate(situation, line.Text)
		harmless := s.harmless(line.Text, situation)
		wanted = slices.ContainsFunc(seekers, func(k *lineTest) bool { return !(k.event && harmless) && k.sees(&line, situation) })
		return nil
	})
	return wanted
}

// harmless tells whether some signature of noise surely knows a text.
func (s *Source) harmless(text string, situation *condition.Situation) bool {
	return slices.ContainsFunc(s.filter.noise.In(text, nil), func(n int) bool {
		return condition.All(s.filter.Interest[n].Signature.Signature().Match, situation)
	})
}
