package prefilter

import (
	"iter"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/rules/pattern"
	"github.com/gpu-triage/triage/rules/signature"
)

// Place is where a text stands: what is looked for in it depends on that.
type Place int

// The places of a text.
const (
	InLine      Place = iota // a line
	InLastLines              // a line for which short words count: one of the last of a source, or of an exception's message
	InException              // an exception with its message
)

// Words appends the numbers of the words that stand in a text to those in to. They are what Candidates and Statements ask for.
func (f *Filter) Words(text string, to []int) []int { return f.words.In(text, to) }

// CommonWords is Words for a line that has nothing but what is looked for in the first lines of a source.
func (f *Filter) CommonWords(text string, to []int) []int { return f.common.In(text, to) }

// Candidates appends to those in to the signatures that an event with this text, which has these words, may be of. They tell cheaply of most
// signatures that it cannot.
func (f *Filter) Candidates(text string, words []int, place Place, to []*signature.Entry) []*signature.Entry {
	for _, n := range words {
		i := &f.interests[n]
		if s := i.signature; s != nil && (!i.last || place != InLine) && !slices.Contains(to, s) && f.mayMatch(s, text) {
			to = append(to, s)
		}
	}
	if place != InException {
		return to
	}
	for _, s := range f.generic {
		if !slices.Contains(to, s) && f.mayMatch(s, text) {
			to = append(to, s)
		}
	}
	return to
}

// Fits tells cheaply of most texts that no event of a signature can have them.
func (f *Filter) Fits(s *signature.Entry, text string) bool {
	has := func(word string) bool { return strings.Contains(text, word) }
	return (slices.ContainsFunc(s.Keywords, has) || slices.ContainsFunc(s.Last, has)) && f.mayMatch(s, text)
}

// mayMatch is Fits for a signature whose keywords do not matter.
func (f *Filter) mayMatch(s *signature.Entry, text string) bool {
	return !slices.ContainsFunc(f.needs[s](), func(p *pattern.Pattern) bool { return !p.Possible(text) })
}

// Statements are what a line with these words may state, by the text that counts of it. Conditions may look for what stands before that text,
// as a level. Head tells that it is worth to be looked at closely, as the first lines of a source are: common words may state something.
func (f *Filter) Statements(text, line string, words []int, head bool) iter.Seq[*Statement] {
	return func(yield func(*Statement) bool) {
		var before *interest
		for _, n := range words {
			i := &f.interests[n]
			in := text
			if i.states.Pattern != nil {
				in = line
			}
			if i.signature != nil || i.common && !head || !i.word.In(in) || i.again(before) {
				continue
			}
			before = i
			if !yield(&i.states) {
				return
			}
		}
		for n := range f.wordless {
			if head && !yield(&f.wordless[n]) {
				return
			}
		}
	}
}
