package matcher

import (
	"slices"
	"strings"
	"sync"

	"github.com/gpu-triage/triage/matcher/scan"
	"github.com/gpu-triage/triage/rules"
)

// Engine diagnoses logs with a knowledge base. It does not change and may be shared.
type Engine struct {
	base         *rules.Base
	words        *keywords
	noise        *keywords                                // those of harmless lines, with the numbers that they have in words
	common       *keywords                                // those that only the first lines of a source are looked at for, likewise
	interest     []interest                               // by the number of the word
	generic      []*rules.Entry                           // asked about every exception
	genericLooks bool                                     // some of them has conditions about the lines before
	unstated     []*rules.Entry                           // asked about what comparisons show
	wordless     []int                                    // patterns that conditions look for and that need no word
	needs        map[*rules.Entry]func() []*rules.Pattern // what the text of each event matches
	sampled      *stepReader

	lines     *scan.Set      // what a line must contain to matter by itself
	seekers   []*seeker      // by the number of the literal in lines: who looks for it
	numbered  []bool         // by the same: not all lines of a kind have it or none
	progress  *scan.Set      // what a line must contain to show progress
	steps     []*rules.Entry // by the number of the literal in progress: who looks for it
	everyLine bool           // some literal cannot be looked for: every line is read
}

// interest is who wants to see a line with a certain word.
type interest struct {
	word      scan.Literal
	signature *rules.Entry
	reader    *rules.FactReader
	packages  bool // reader is one of lines that name packages
	dict      *rules.DictReader
	trail     string         // a library whose trail the line is part of
	xid       bool           // the line is the kernel's about a GPU error
	pattern   *rules.Pattern // that conditions look for
	number    int            // of pattern
	common    bool           // too many lines have the word: only the first of a source are looked at for it
	last      bool           // the word is looked for only in exceptions and in the last lines of a source
}

// same tells whether an interest is another word's of the same reader or pattern. They follow each other.
func (i *interest) same(other *interest) bool {
	return i != nil && (i.reader != nil && i.reader == other.reader || i.pattern != nil && i.pattern == other.pattern)
}

// headLines is how many lines of a source, from its first, are read for facts that are stated in words as common as "torch": where
// programs and people say what is installed. Facts in rarer words, and those in messages of exceptions, are found everywhere.
const headLines = 5000

// New prepares an engine.
func New(base *rules.Base) *Engine {
	e := newEngine(base)
	b := e.build()
	e.words, e.sampled = newKeywords(e.interest, nil), newStepReader(base)
	e.noise = newKeywords(e.interest, func(i *interest) bool { return i.signature != nil && i.signature.Role == rules.Noise })
	e.common = newKeywords(e.interest, func(i *interest) bool { return i.common })
	e.lines, e.progress = e.set(b.lines), e.set(b.progress)
	e.seekers = b.seekers
	for _, l := range b.lines {
		e.numbered = append(e.numbered, !rules.IgnoresNumbers(l.Text))
	}
	return e
}

func newEngine(base *rules.Base) *Engine {
	return &Engine{base: base, needs: make(map[*rules.Entry]func() []*rules.Pattern)}
}

// build gathers what the knowledge base looks for.
func (e *Engine) build() *builder {
	base, b := e.base, &builder{engine: e}
	b.look(openers(), &seeker{first: every, sees: func(line *Line, _ *rules.Situation) bool { return mayOpen(line.Body()) }})
	for _, s := range base.Entries {
		b.signature(s)
	}
	v := base.Vocabulary
	for i := range v.Readers {
		b.reader(&v.Readers[i], false)
	}
	for i := range v.PackageLines {
		b.reader(&v.PackageLines[i], true)
	}
	for i := range v.Dicts {
		b.word(v.Dicts[i].Marker, interest{dict: &v.Dicts[i]})
		b.look(literals([]string{v.Dicts[i].Marker}), &seeker{first: every})
	}
	for _, t := range v.Trails {
		for _, word := range t.Keywords {
			b.word(word, interest{trail: t.Library})
		}
		b.look(literals(t.Keywords), &seeker{first: every})
	}
	if word := base.Xids.Keyword(); word != "" {
		b.word(word, interest{xid: true})
		b.look(literals([]string{word}), &seeker{first: every})
	}
	for i, pattern := range base.Scope.SeenPatterns() {
		b.pattern(i, pattern)
	}
	return b
}

// set makes a set of literals, or an empty one when some of them cannot be looked for.
func (e *Engine) set(literals []scan.Literal) *scan.Set {
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

// builder gathers what the parts of a knowledge base look for.
type builder struct {
	engine          *Engine
	lines, progress []scan.Literal
	seekers         []*seeker // of lines, one for each
}

func (b *builder) word(word string, i interest) {
	i.word = scan.Literal{Text: word}
	b.engine.interest = append(b.engine.interest, i)
}

// look has the literals looked for in every line.
func (b *builder) look(literals []scan.Literal, by *seeker) {
	for _, l := range literals {
		b.lines, b.seekers = append(b.lines, l), append(b.seekers, by)
	}
}

func (b *builder) signature(s *rules.Entry) {
	switch s.Role {
	case rules.Pace: // asked about a sample of the lines
		return
	case rules.Unstated:
		b.engine.unstated = append(b.engine.unstated, s)
		return
	}
	if s.Role == rules.Generic {
		b.engine.generic = append(b.engine.generic, s)
		b.engine.genericLooks = b.engine.genericLooks || s.Before
	}
	words := wide(literals(s.Keywords))
	best := words
	// What the patterns of a signature need is worked out when a line has one of its keywords, or now when those are common: doing so
	// for all of them would be most of the time that an empty log takes.
	b.engine.needs[s] = sync.OnceValue(func() []*rules.Pattern { return patterns(s.Requires) })
	if !rare(words) {
		for _, literals := range needed(s) {
			if len(wide(literals)) == len(literals) {
				best = scan.Rarest(best, literals)
			}
		}
	}
	for _, word := range s.Keywords {
		b.word(word, interest{signature: s, last: shortWord(s, word)})
	}
	for _, word := range s.Last {
		b.word(word, interest{signature: s, last: true})
	}
	switch {
	case s.Role == rules.Progress:
		for _, l := range literals(s.Keywords) {
			b.progress, b.engine.steps = append(b.progress, l), append(b.engine.steps, s)
		}
	case s.Role == rules.Noise, s.Raised: // matters only where others know the line; exceptions are found by their beginnings
	case len(words) > 0:
		needs := sync.OnceValue(s.KindPatterns)
		has := func(text string) bool {
			return !slices.ContainsFunc(needs(), func(p *rules.Pattern) bool { return !p.Possible(text) })
		}
		b.look(best, &seeker{
			event: true,
			first: every,
			has:   has,
			sees: func(line *Line, situation *rules.Situation) bool {
				return has(line.Text) && possible(s.Signature().Match, situation)
			},
		})
	}
}

// shortWord tells whether a keyword of a signature has too few bytes to be looked for in every line: one such literal would make the
// scan of every log slower. It is looked for where that costs nothing: in exceptions, and in the last lines of a source, which is
// where a shell says in one word what became of a program. Noise is asked only about lines that something else was found in.
func shortWord(s *rules.Entry, word string) bool {
	return len(word) < scan.WideLiteral && s.Role != rules.Noise && s.Role != rules.Progress && s.Role != rules.Pace
}

// wide are those of the literals that are long enough for the fastest scan.
func wide(literals []scan.Literal) []scan.Literal {
	return slices.DeleteFunc(slices.Clone(literals), func(l scan.Literal) bool { return len(l.Text) < scan.WideLiteral })
}

// needed are the sets of literals of each of which the text of a signature's events has one.
func needed(s *rules.Entry) [][]scan.Literal {
	var sets [][]scan.Literal
	for _, pattern := range s.Requires {
		if literals := required(pattern); literals != nil {
			sets = append(sets, literals)
		}
	}
	return sets
}

// patterns are prepared expressions; they were compiled before.
func patterns(sources []string) []*rules.Pattern {
	var all []*rules.Pattern
	for _, source := range sources {
		if pattern, err := rules.NewPattern(source); err == nil {
			all = append(all, pattern)
		}
	}
	return all
}

// literals are those words that a line can have. One with a line break is in the message of an exception only, and exceptions are
// found by their beginnings.
func literals(words []string) []scan.Literal {
	var all []scan.Literal
	for _, word := range words {
		if !strings.ContainsAny(word, "\r\n") {
			all = append(all, scan.Literal{Text: word})
		}
	}
	return all
}

// readerLiterals are the rarest of what a reader's lines must contain, according to its keywords and its patterns.
func readerLiterals(r *rules.FactReader) []scan.Literal {
	best := scan.Rarest(literals(r.Keywords), required(r.Pattern.String()))
	if r.Within != nil {
		best = scan.Rarest(best, required(r.Within.String()))
	}
	return best
}

// reader has the lines of a reader looked for, or only the first of a log looked at when too many have its words.
func (b *builder) reader(r *rules.FactReader, packages bool) {
	best := readerLiterals(r)
	common := r.Head || !rare(best)
	if !common {
		pattern := r.Pattern
		if r.Within != nil {
			pattern = r.Within
		}
		b.look(best, &seeker{first: every, sees: func(line *Line, _ *rules.Situation) bool { return pattern.OfKind().Matches(line.Body()) }})
	}
	for _, word := range r.Keywords {
		b.word(word, interest{reader: r, packages: packages, common: common})
	}
}

// pattern prepares to look for a pattern in every line that has one of its literals.
func (b *builder) pattern(number int, compiled *rules.Pattern) {
	literals, err := scan.Needed(compiled.String())
	if err != nil || slices.ContainsFunc(literals, func(l scan.Literal) bool { return len(l.Text) < scan.MinLiteral }) {
		literals = nil
	}
	if len(literals) == 0 {
		b.engine.wordless = append(b.engine.wordless, number)
		return
	}
	common := slices.ContainsFunc(literals, func(l scan.Literal) bool { return len(l.Text) < scan.WideLiteral || l.Share() > mostCommon })
	if !common {
		b.look(literals, &seeker{first: number, sees: func(line *Line, _ *rules.Situation) bool { return compiled.OfKind().Matches(line.Body()) }})
	}
	for _, l := range literals {
		b.engine.interest = append(b.engine.interest, interest{word: l, pattern: compiled, number: number, common: common})
	}
}

func required(pattern string) []scan.Literal {
	literals, err := scan.Required(pattern)
	if err != nil {
		return nil
	}
	return literals
}

// fits tells cheaply of most texts that no event of a signature can have them.
func (e *Engine) fits(s *rules.Entry, text string) bool {
	has := func(word string) bool { return strings.Contains(text, word) }
	return (slices.ContainsFunc(s.Keywords, has) || slices.ContainsFunc(s.Last, has)) && e.mayMatch(s, text)
}

// mayMatch is fits of a signature whose keywords do not matter.
func (e *Engine) mayMatch(s *rules.Entry, text string) bool {
	return !slices.ContainsFunc(e.needs[s](), func(p *rules.Pattern) bool { return !p.Possible(text) })
}

// mostCommon is the share of the places of an ordinary log at which the literals of one reader may stand: ten in a megabyte.
const mostCommon = 1e-5

// rare tells whether looking for the literals in every line costs little.
func rare(literals []scan.Literal) bool {
	share := 0.0
	for _, l := range literals {
		if len(l.Text) < scan.WideLiteral {
			return false
		}
		share = max(share, l.Share())
	}
	return len(literals) > 0 && share <= mostCommon
}

// Literals are what a line must contain one of to matter by itself.
func (e *Engine) Literals() []scan.Literal { return e.lines.Literals() }

// Base is the knowledge base that the engine diagnoses with.
func (e *Engine) Base() *rules.Base { return e.base }
