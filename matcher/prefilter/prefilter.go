// Package prefilter decides cheaply what of a knowledge base can apply to a text, so that the dear questions, which are regular
// expressions and conditions, are asked about few lines and about few signatures.
//
// A knowledge base goes in; a Filter comes out. It answers for a text which signatures an event with it can be of, and what the text may
// state (text.go). For a source it finds in raw bytes the lines that may matter by themselves (source.go): a Set of package scan finds those
// with a literal that somebody looks for, and tests of their own, which see what is left of a line without its wrappers, let go of most.
// What was found out about one line holds for all that differ from it in numbers only (templates.go). The first lines of a source are
// looked at for common words too, which are not looked for in all (head.go).
//
// Whatever it leaves out could not have changed the answer: tests compare it with a reading that takes in every line. Which literals a
// regular expression requires is worked out here (required.go), as package regexp tells only what an expression begins with.
package prefilter

import (
	"sync"

	"github.com/gpu-triage/triage/matcher/scan"
	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/fact"
	"github.com/gpu-triage/triage/rules/pattern"
	"github.com/gpu-triage/triage/rules/signature"
)

// Filter decides cheaply what of a knowledge base can apply to a text. It does not change and may be shared.
type Filter struct {
	base       *rules.Base
	situations sync.Pool // of *condition.Situation

	// Of a text.
	interests []interest                                     // by the number of the word
	words     *Keywords                                      // those of all interests
	common    *Keywords                                      // those that are looked for only in the first lines of a source
	noise     *Keywords                                      // those of harmless lines
	wordless  []Statement                                    // patterns that need no word
	generic   []*signature.Entry                             // asked about every exception
	needs     map[*signature.Entry]func() []*pattern.Pattern // what the text of each event matches

	// Of raw lines.
	lines          *scan.Set          // what a line must contain to matter by itself
	tests          []*lineTest        // by the number of the literal in lines
	numbered       *Keywords          // those of the literals that some lines of a template may have and others lack
	commonNumbered []int              // words in common that some lines of a template may have and others lack, one for each reader and pattern
	progress       *scan.Set          // what a line must contain to show progress
	steps          []*signature.Entry // by the number of the literal in progress: whose it is
	everyLine      bool               // some literal cannot be looked for: every line is read
}

// interest is who wants to see a line with a certain word: a signature, or one who reads what the line states.
type interest struct {
	word      scan.Literal
	signature *signature.Entry // nil when it is about a statement
	last      bool             // the signature's word is looked for only in exceptions and in the last lines of a source
	states    Statement
	common    bool // too many lines have the word: only the first of a source are looked at for what they state
}

// Statement is what a line may state: one of these.
type Statement struct {
	Reader       *fact.Reader // of facts in words
	Packages     bool         // the reader is one of lines that name packages
	Dict         *fact.DictReader
	SelectionLog string           // the library that tells here how it chooses
	Xid          bool             // an error of a GPU, told by the kernel
	Pattern      *pattern.Pattern // the line is one that conditions look for anywhere in a log
	Number       int              // of that pattern in the scope
}

// again tells whether an interest is another word's of the same reader or pattern. They follow each other.
func (i *interest) again(before *interest) bool {
	return before != nil && (i.states.Reader != nil && i.states.Reader == before.states.Reader ||
		i.states.Pattern != nil && i.states.Pattern == before.states.Pattern)
}

// New prepares to look for what a knowledge base asks for.
func New(base *rules.Base) *Filter {
	f := newFilter(base)
	b := f.build()
	f.words = f.keywords(func(*interest) bool { return true })
	f.common = f.keywords(func(i *interest) bool { return i.common })
	f.noise = f.keywords(func(i *interest) bool { return i.signature != nil && i.signature.Role == signature.Noise })
	f.lines, f.progress = f.set(b.lines), f.set(b.progress)
	f.tests, f.numbered = b.tests, NewKeywords(numbered(b.lines))
	f.commonNumbered = f.numberedInterests()
	return f
}

func newFilter(base *rules.Base) *Filter {
	const words = 4 // that a signature has, and more than most: growing would take more memory than they do
	return &Filter{base: base, situations: sync.Pool{New: func() any { return base.Scope.NewSituation() }}, needs: make(map[*signature.Entry]func() []*pattern.Pattern), interests: make([]interest, 0, words*len(base.Entries))}
}

// keywords are the words of some interests, with the numbers of these.
func (f *Filter) keywords(of func(*interest) bool) *Keywords {
	return newKeywords(func(yield func(int, scan.Literal) bool) {
		for n := range f.interests {
			if i := &f.interests[n]; of(i) && !yield(n, i.word) {
				return
			}
		}
	})
}

// numberedInterests are those in common words with numbers, one for each reader and pattern.
func (f *Filter) numberedInterests() (all []int) {
	var before *interest
	for n := range f.interests {
		if i := &f.interests[n]; i.common && !pattern.IgnoresNumbers(i.word.Text) && !i.again(before) {
			all, before = append(all, n), i
		}
	}
	return all
}

// set makes a set of literals, or an empty one when some of them cannot be looked for.
func (f *Filter) set(literals []scan.Literal) *scan.Set {
	set, err := scan.New(literals)
	if err == nil {
		return set
	}
	f.everyLine = true
	set, err = scan.New(nil)
	if err != nil {
		panic(err) // the empty set has nothing that could be refused
	}
	return set
}

// Literals are what a line must contain one of to matter by itself.
func (f *Filter) Literals() []scan.Literal { return f.lines.Literals() }
