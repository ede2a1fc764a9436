package matcher

import (
	"slices"
	"strings"

	"github.com/gpu-triage/triage/matcher/scan"
	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/fact"
	"github.com/gpu-triage/triage/rules/pattern"
	"github.com/gpu-triage/triage/rules/signature"
)

// Filter decides cheaply which signatures and facts can be in a text. It does not change and may be shared.
type Filter struct {
	base           *rules.Base
	words          *keywords
	noise          *keywords                                      // those of harmless lines, with the numbers that they have in words
	common         *keywords                                      // those that only the first lines of a source are looked at for, likewise
	commonNumbered []int                                          // of common: words that some lines of a kind may lack, one for each reader and pattern
	interest       []interest                                     // by the number of the word
	generic        []*signature.Entry                             // asked about every exception
	genericLooks   bool                                           // some of them has conditions about the lines before
	wordless       []int                                          // patterns that conditions look for and that need no word
	needs          map[*signature.Entry]func() []*pattern.Pattern // what the text of each event matches

	lines     *scan.Set          // what a line must contain to matter by itself
	seekers   []*seeker          // by the number of the literal in lines: who looks for it
	numbered  *keywords          // those that not all lines of a kind have, or none, with the digit 1 in place of all
	progress  *scan.Set          // what a line must contain to show progress
	steps     []*signature.Entry // by the number of the literal in progress: who looks for it
	everyLine bool               // some literal cannot be looked for: every line is read
}

// interest is who wants to see a line with a certain word.
type interest struct {
	word      scan.Literal
	signature *signature.Entry
	reader    *fact.Reader
	packages  bool // reader is one of lines that name packages
	dict      *fact.DictReader
	trail     string           // a library whose trail the line is part of
	xid       bool             // the line is the kernel's about a GPU error
	pattern   *pattern.Pattern // that conditions look for
	number    int              // of pattern
	common    bool             // too many lines have the word: only the first of a source are looked at for it
	last      bool             // the word is looked for only in exceptions and in the last lines of a source
}

// weight is that of what the reader finds.
func (i *interest) weight() int {
	if i.packages {
		return fromPackageList
	}
	return fromLine
}

// same tells whether an interest is another word's of the same reader or pattern. They follow each other.
func (i *interest) same(other *interest) bool {
	return i != nil && (i.reader != nil && i.reader == other.reader || i.pattern != nil && i.pattern == other.pattern)
}

// NewFilter prepares to look for what a knowledge base asks for.
func NewFilter(base *rules.Base) *Filter {
	e := newFilter(base)
	b := e.build()
	isCommon := func(i *interest) bool { return i.common }
	isNoise := func(i *interest) bool { return i.signature != nil && i.signature.Role == signature.Noise }
	e.words, e.noise, e.common = newKeywords(e.interest, nil), newKeywords(e.interest, isNoise), newKeywords(e.interest, isCommon)
	e.lines, e.progress = e.set(b.lines), e.set(b.progress)
	var before *interest
	for n := range e.interest {
		if i := &e.interest[n]; i.common && !pattern.IgnoresNumbers(i.word.Text) && !before.same(i) {
			e.commonNumbered, before = append(e.commonNumbered, n), i
		}
	}
	e.seekers, e.numbered = b.seekers, newKeywords(numbered(b.lines), nil)
	return e
}

func newFilter(base *rules.Base) *Filter {
	const words = 4 // that a signature has, and more than most: growing would take more memory than they do
	return &Filter{base: base, needs: make(map[*signature.Entry]func() []*pattern.Pattern), interest: make([]interest, 0, words*len(base.Entries))}
}

// set makes a set of literals, or an empty one when some of them cannot be looked for.
func (e *Filter) set(literals []scan.Literal) *scan.Set {
	set, err := scan.New(literals)
	if err == nil {
		return set
	}
	e.everyLine = true
	if set, err = scan.New(nil); err != nil {
		panic(err) // the empty set has nothing that could be refused
	}
	return set
}

// fits tells cheaply of most texts that no event of a signature can have them.
func (e *Filter) fits(s *signature.Entry, text string) bool {
	has := func(word string) bool { return strings.Contains(text, word) }
	return (slices.ContainsFunc(s.Keywords, has) || slices.ContainsFunc(s.Last, has)) && e.mayMatch(s, text)
}

// mayMatch is fits of a signature whose keywords do not matter.
func (e *Filter) mayMatch(s *signature.Entry, text string) bool {
	return !slices.ContainsFunc(e.needs[s](), func(p *pattern.Pattern) bool { return !p.Possible(text) })
}

// Literals are what a line must contain one of to matter by itself.
func (e *Filter) Literals() []scan.Literal { return e.lines.Literals() }
