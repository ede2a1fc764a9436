package prefilter

import (
	"slices"
	"strings"
	"sync"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/scan"
	"github.com/gpu-triage/triage/matcher/traceback"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/fact"
	"github.com/gpu-triage/triage/rules/pattern"
	"github.com/gpu-triage/triage/rules/signature"
)

// builder gathers what the parts of a knowledge base look for.
type builder struct {
	filter          *Filter
	lines, progress []scan.Literal
	seekers         []*lineTest // of lines, one for each
}

// build gathers what the knowledge base looks for.
func (e *Filter) build() *builder {
	base, b := e.base, &builder{filter: e}
	seen := base.Scope.LogPatterns()
	words := make([][]scan.Literal, len(seen))
	var workedOut sync.WaitGroup // which takes as long as all the rest
	workedOut.Go(func() {
		for i, pattern := range seen {
			words[i] = neededBy(pattern)
		}
	})
	b.look(traceback.Openers(), &lineTest{first: every, sees: func(line *logline.Line, _ *condition.Situation) bool { return traceback.MayOpen(line.Body()) }})
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
		b.word(v.Dicts[i].Marker, Interest{Dict: &v.Dicts[i]})
		b.look(literals([]string{v.Dicts[i].Marker}), &lineTest{first: every})
	}
	for _, t := range v.SelectionLogs {
		for _, word := range t.Keywords {
			b.word(word, Interest{Trail: t.Library})
		}
		b.look(literals(t.Keywords), &lineTest{first: every})
	}
	if word := base.Xids.Keyword(); word != "" {
		b.word(word, Interest{Xid: true})
		b.look(literals([]string{word}), &lineTest{first: every})
	}
	workedOut.Wait()
	for i, pattern := range seen {
		b.pattern(i, pattern, words[i])
	}
	return b
}

func (b *builder) word(word string, i Interest) {
	i.Word = scan.Literal{Text: word}
	b.filter.Interest = append(b.filter.Interest, i)
}

// look has the literals looked for in every line.
func (b *builder) look(literals []scan.Literal, by *lineTest) {
	for _, l := range logline.RawForms(literals) {
		b.lines, b.seekers = append(b.lines, l), append(b.seekers, by)
	}
}

func (b *builder) signature(s *signature.Entry) {
	if s.Role == signature.Pace || s.About != "" { // asked about a sample of the lines, or about what a comparison shows
		return
	}
	if s.Role == signature.Generic {
		b.filter.Generic = append(b.filter.Generic, s)
		b.filter.GenericLooks = b.filter.GenericLooks || s.Before
	}
	words := wide(literals(s.Keywords))
	best := words
	// What the patterns of a signature need is worked out when a line has one of its keywords, or now when those are common: doing so
	// for all of them would be most of the time that an empty log takes.
	b.filter.needs[s] = sync.OnceValue(func() []*pattern.Pattern { return patterns(s.Requires) })
	if !rare(words) {
		for _, literals := range needed(s) {
			if len(wide(literals)) == len(literals) {
				best = scan.Rarest(best, literals)
			}
		}
	}
	for _, word := range s.Keywords {
		b.word(word, Interest{Signature: s, Last: shortWord(s, word)})
	}
	for _, word := range s.Last {
		b.word(word, Interest{Signature: s, Last: true})
	}
	switch {
	case s.Role == signature.Progress:
		for _, l := range logline.RawForms(literals(s.Keywords)) {
			b.progress, b.filter.Steps = append(b.progress, l), append(b.filter.Steps, s)
		}
	case s.Role == signature.Noise, s.Raised: // matters only where others know the line; exceptions are found by their beginnings
	case len(words) > 0:
		b.look(best, eventSeeker(s))
	}
}

// eventSeeker wants the lines that may be events of a signature.
func eventSeeker(s *signature.Entry) *lineTest {
	needs := sync.OnceValue(s.TemplatePatterns)
	has := func(text string) bool {
		return !slices.ContainsFunc(needs(), func(p *pattern.Pattern) bool { return !p.Possible(text) })
	}
	return &lineTest{
		event: true,
		first: every,
		has:   has,
		sees: func(line *logline.Line, situation *condition.Situation) bool {
			return has(line.Text) && condition.Possible(s.Signature().Match, situation)
		},
	}
}

// shortWord tells whether a keyword of a signature has too few bytes to be looked for in every line: one such literal would make the
// scan of every log slower. It is looked for where that costs nothing: in exceptions, and in the last lines of a source, which is
// where a shell says in one word what became of a program. Noise is asked only about lines that something else was found in.
func shortWord(s *signature.Entry, word string) bool {
	return len(word) < scan.WideLiteral && s.Role != signature.Noise && s.Role != signature.Progress && s.Role != signature.Pace
}

// wide are those of the literals that are long enough for the fastest scan.
func wide(literals []scan.Literal) []scan.Literal {
	return slices.DeleteFunc(slices.Clone(literals), func(l scan.Literal) bool { return len(l.Text) < scan.WideLiteral })
}

// needed are the sets of literals of each of which the text of a signature's events has one.
func needed(s *signature.Entry) [][]scan.Literal {
	var sets [][]scan.Literal
	for _, pattern := range s.Requires {
		if literals := required(pattern); literals != nil {
			sets = append(sets, literals)
		}
	}
	return sets
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
	best = scan.Rarest(best, required(r.Pattern.String()))
	if r.Within != nil {
		best = scan.Rarest(best, required(r.Within.String()))
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
		b.look(best, &lineTest{first: every, sees: func(line *logline.Line, _ *condition.Situation) bool {
			return r.Marks().AnyNumbers().Matches(line.Body())
		}})
	}
	for _, word := range r.Keywords {
		b.word(word, Interest{Reader: r, packages: packages, Common: common})
	}
}

// neededBy are literals of which each line has one that the pattern matches; none when some such lines have none that is long enough.
func neededBy(pattern *pattern.Pattern) []scan.Literal {
	literals, err := scan.Needed(pattern.String())
	if err != nil || slices.ContainsFunc(literals, func(l scan.Literal) bool { return len(l.Text) < scan.MinLiteral }) {
		return nil
	}
	return literals
}

// pattern prepares to look for a pattern in every line that has one of its literals.
func (b *builder) pattern(number int, compiled *pattern.Pattern, literals []scan.Literal) {
	if len(literals) == 0 {
		b.filter.Wordless = append(b.filter.Wordless, number)
		return
	}
	common := slices.ContainsFunc(literals, func(l scan.Literal) bool { return len(l.Text) < scan.WideLiteral || l.Share() > mostCommon })
	if !common {
		b.look(literals, &lineTest{first: number, sees: func(line *logline.Line, _ *condition.Situation) bool {
			return compiled.AnyNumbers().Matches(line.Body())
		}})
	}
	for _, l := range literals {
		b.filter.Interest = append(b.filter.Interest, Interest{Word: l, Pattern: compiled, Number: number, Common: common})
	}
}

func required(pattern string) []scan.Literal {
	literals, err := scan.Required(pattern)
	if err != nil {
		return nil
	}
	return literals
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
