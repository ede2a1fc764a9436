package prefilter

import (
	"slices"
	"strings"
	"sync"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/scan"
	"github.com/gpu-triage/triage/matcher/traceback"
	"github.com/gpu-triage/triage/rules/fact"
	"github.com/gpu-triage/triage/rules/pattern"
	"github.com/gpu-triage/triage/rules/signature"
)

// builder gathers what the parts of a knowledge base look for.
type builder struct {
	filter          *Filter
	lines, progress []scan.Literal
	tests           []*lineTest // of lines, one for each
}

// build gathers what the knowledge base looks for.
func (f *Filter) build() *builder {
	base, b := f.base, &builder{filter: f}
	seen := base.Scope.LogPatterns()
	words := make([][]scan.Literal, len(seen))
	var workedOut sync.WaitGroup // which takes as long as all the rest
	workedOut.Go(func() {
		for i, pattern := range seen {
			words[i] = Required(pattern.String())
		}
	})
	b.look(traceback.Openers(), textTest(traceback.MayOpen))
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
		b.statement(Statement{Dict: &v.Dicts[i]}, v.Dicts[i].Marker)
	}
	for _, t := range v.SelectionLogs {
		b.statement(Statement{SelectionLog: t.Library}, t.Keywords...)
	}
	if word := base.Xids.Keyword(); word != "" {
		b.statement(Statement{Xid: true}, word)
	}
	workedOut.Wait()
	for i, pattern := range seen {
		b.pattern(Statement{Pattern: pattern, Number: i}, words[i])
	}
	return b
}

func (b *builder) word(word string, i interest) {
	i.word = scan.Literal{Text: word}
	b.filter.interests = append(b.filter.interests, i)
}

// look has the literals looked for in every line.
func (b *builder) look(literals []scan.Literal, test *lineTest) {
	for _, l := range logline.RawForms(literals) {
		b.lines, b.tests = append(b.lines, l), append(b.tests, test)
	}
}

// statement has every line with one of the words looked at for what it states.
func (b *builder) statement(what Statement, words ...string) {
	for _, word := range words {
		b.word(word, interest{states: what})
	}
	b.look(literals(words), anyLine())
}

func (b *builder) signature(s *signature.Entry) {
	// Those are asked about a sample of the lines, about the answer, or about what a comparison shows.
	if s.Role == signature.Pace || s.Role == signature.Message || s.About != "" {
		return
	}
	if s.Role.LastResort() {
		b.filter.generic = append(b.filter.generic, s)
	}
	// What the patterns of a signature need is worked out when a line has one of its keywords: doing so for all of them would be most of the
	// time that an empty log takes.
	b.filter.needs[s] = sync.OnceValue(func() []*pattern.Pattern { return patterns(s.Requires) })
	for _, word := range s.Keywords {
		b.word(word, interest{signature: s, last: shortWord(s, word)})
	}
	for _, word := range s.Last {
		b.word(word, interest{signature: s, last: true})
	}
	switch {
	case s.Role.AboutRun():
		for _, l := range logline.RawForms(literals(s.Keywords)) {
			b.progress, b.filter.steps = append(b.progress, l), append(b.filter.steps, s)
		}
	case s.Role == signature.Noise, s.Raised: // matters only where others know the line; exceptions are found by their beginnings
	default:
		b.look(eventLiterals(s), eventTest(s))
	}
}

// eventLiterals are those that are looked for to find the lines of a signature's events: its keywords, or what is rarer in its patterns when
// those are common. There are none when its keywords are too short.
func eventLiterals(s *signature.Entry) []scan.Literal {
	best := wide(literals(s.Keywords))
	if len(best) == 0 || rare(best) {
		return best
	}
	for _, pattern := range s.Requires {
		required := Required(pattern)
		if len(wide(required)) == len(required) {
			best = scan.Rarest(best, required)
		}
	}
	return best
}

// shortWord tells whether a keyword of a signature has too few bytes to be looked for in every line: one such literal would make the
// scan of every log slower. It is looked for where that costs nothing: in exceptions, and in the last lines of a source, which is
// where a shell says in one word what became of a program. Noise is asked only about lines that something else was found in.
func shortWord(s *signature.Entry, word string) bool {
	return len(word) < scan.WideLiteral && s.Role != signature.Noise && !s.Role.AboutRun() && s.Role != signature.Pace
}

// wide are those of the literals that are long enough for the fastest scan.
func wide(literals []scan.Literal) []scan.Literal {
	return slices.DeleteFunc(slices.Clone(literals), func(l scan.Literal) bool { return len(l.Text) < scan.WideLiteral })
}

// patterns are prepared expressions; they were compiled before.
func patterns(sources []string) []*pattern.Pattern {
	var all []*pattern.Pattern
	for _, source := range sources {
		if pattern, err := pattern.New(source); err == nil {
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

// readerLiterals are what a reader's lines must contain: its keywords, or what is rarer in its patterns when those are common.
func readerLiterals(r *fact.Reader) []scan.Literal {
	best := literals(r.Keywords)
	if rare(best) {
		return best
	}
	best = scan.Rarest(best, Required(r.Pattern.String()))
	if r.Within != nil {
		best = scan.Rarest(best, Required(r.Within.String()))
	}
	return best
}

// reader has the lines of a reader looked for, or only the first of a log looked at when too many have its words.
func (b *builder) reader(r *fact.Reader, packages bool) {
	var best []scan.Literal
	if !r.Head {
		best = readerLiterals(r)
	}
	common := !rare(best)
	if !common {
		b.look(best, textTest(func(text string) bool { return r.Marks().AnyNumbers().Matches(text) }))
	}
	for _, word := range r.Keywords {
		b.word(word, interest{states: Statement{Reader: r, Packages: packages}, common: common})
	}
}

// pattern prepares to look for a pattern in every line that has one of its literals, or in the first lines when too many have, or when it
// has none.
func (b *builder) pattern(what Statement, literals []scan.Literal) {
	if len(literals) == 0 {
		b.filter.wordless = append(b.filter.wordless, what)
		return
	}
	common := !rare(literals)
	if !common {
		b.look(literals, patternTest(what.Number, what.Pattern))
	}
	for _, l := range literals {
		b.filter.interests = append(b.filter.interests, interest{word: l, states: what, common: common})
	}
}

// mostCommon is the share of the places of an ordinary log at which the literals of one reader may stand: ten in a megabyte.
const mostCommon = 1e-5

// rare tells whether looking for the literals in every line costs little.
func rare(literals []scan.Literal) bool {
	return len(literals) > 0 && !slices.ContainsFunc(literals, func(l scan.Literal) bool { return len(l.Text) < scan.WideLiteral || l.Share() > mostCommon })
}
