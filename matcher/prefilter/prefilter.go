package prefilter

import (
	"slices"
	"strings"

	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/matcher/scan"
	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/fact"
	"github.com/gpu-triage/triage/rules/pattern"
	"github.com/gpu-triage/triage/rules/signature"
)

// Filter decides cheaply which signatures and facts can be in a text. It does not change and may be shared.
type Filter struct {
	base           *rules.Base
	Words          *Keywords
	noise          *Keywords                                      // those of harmless lines, with the numbers that they have in words
	Common         *Keywords                                      // those that only the first lines of a source are looked at for, likewise
	commonNumbered []int                                          // of common: words that some lines of a kind may lack, one for each reader and pattern
	Interest       []Interest                                     // by the number of the word
	Generic        []*signature.Entry                             // asked about every exception
	GenericLooks   bool                                           // some of them has conditions about the lines before
	Wordless       []int                                          // patterns that conditions look for and that need no word
	needs          map[*signature.Entry]func() []*pattern.Pattern // what the text of each event matches

	Lines     *scan.Set          // what a line must contain to matter by itself
	seekers   []*lineTest        // by the number of the literal in lines: who looks for it
	numbered  *Keywords          // those that not all lines of a kind have, or none, with the digit 1 in place of all
	Progress  *scan.Set          // what a line must contain to show progress
	Steps     []*signature.Entry // by the number of the literal in progress: who looks for it
	EveryLine bool               // some literal cannot be looked for: every line is read
}

// interest is who wants to see a line with a certain word.
type Interest struct {
	Word      scan.Literal
	Signature *signature.Entry
	Reader    *fact.Reader
	packages  bool // reader is one of lines that name packages
	Dict      *fact.DictReader
	Trail     string           // a library whose trail the line is part of
	Xid       bool             // the line is the kernel's about a GPU error
	Pattern   *pattern.Pattern // that conditions look for
	Number    int              // of pattern
	Common    bool             // too many lines have the word: only the first of a source are looked at for it
	Last      bool             // the word is looked for only in exceptions and in the last lines of a source
}

// weight is that of what the reader finds.
func (i *Interest) Weight() int {
	if i.packages {
		return facts.FromPackageList
	}
	return facts.FromLine
}

// same tells whether an interest is another word's of the same reader or pattern. They follow each other.
func (i *Interest) Same(other *Interest) bool {
	return i != nil && (i.Reader != nil && i.Reader == other.Reader || i.Pattern != nil && i.Pattern == other.Pattern)
}

// NewFilter prepares to look for what a knowledge base asks for.
func New(base *rules.Base) *Filter {
	e := newFilter(base)
	b := e.build()
	isCommon := func(i *Interest) bool { return i.Common }
	isNoise := func(i *Interest) bool { return i.Signature != nil && i.Signature.Role == signature.Noise }
	e.Words, e.noise, e.Common = NewKeywords(e.Interest, nil), NewKeywords(e.Interest, isNoise), NewKeywords(e.Interest, isCommon)
	e.Lines, e.Progress = e.set(b.lines), e.set(b.progress)
	var before *Interest
	for n := range e.Interest {
		if i := &e.Interest[n]; i.Common && !pattern.IgnoresNumbers(i.Word.Text) && !before.Same(i) {
			e.commonNumbered, before = append(e.commonNumbered, n), i
		}
	}
	e.seekers, e.numbered = b.seekers, NewKeywords(numbered(b.lines), nil)
	return e
}

func newFilter(base *rules.Base) *Filter {
	const words = 4 // that a signature has, and more than most: growing would take more memory than they do
	return &Filter{base: base, needs: make(map[*signature.Entry]func() []*pattern.Pattern), Interest: make([]Interest, 0, words*len(base.Entries))}
}

// set makes a set of literals, or an empty one when some of them cannot be looked for.
func (e *Filter) set(literals []scan.Literal) *scan.Set {
	set, err := scan.New(literals)
	if err == nil {
		return set
	}
	e.EveryLine = true
	if set, err = scan.New(nil); err != nil {
		panic(err) // the empty set has nothing that could be refused
	}
	return set
}

// fits tells cheaply of most texts that no event of a signature can have them.
func (e *Filter) Fits(s *signature.Entry, text string) bool {
	has := func(word string) bool { return strings.Contains(text, word) }
	return (slices.ContainsFunc(s.Keywords, has) || slices.ContainsFunc(s.Last, has)) && e.MayMatch(s, text)
}

// mayMatch is fits of a signature whose keywords do not matter.
func (e *Filter) MayMatch(s *signature.Entry, text string) bool {
	return !slices.ContainsFunc(e.needs[s](), func(p *pattern.Pattern) bool { return !p.Possible(text) })
}

// Literals are what a line must contain one of to matter by itself.
func (e *Filter) Literals() []scan.Literal { return e.Lines.Literals() }
