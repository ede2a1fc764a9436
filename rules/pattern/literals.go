package pattern

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// literalTest tells of most texts whether they match a regular expression without trying it. Looking for a few words is many times
// faster, and most of what is asked about a line is whether it has one of some words.
type literalTest struct {
	words    []string // a text that has one of them matches
	branches []branch // a text without them that matches has all words that one of these needs
}

// branch is what a text needs to match an alternative of an expression: one word of each list.
type branch [][]string

// Bounds of what is looked for: beyond them, trying the expression takes less.
const (
	maxWords      = 64 // that stand for a part of an expression
	maxCharacters = 8  // of a class, looked for one by one
	maxSpellings  = 16 // of a word that may be in either case
	maxNeeds      = 4  // of a branch
	maxBranches   = 64
)

func newLiteralTest(tree *syntax.Regexp) literalTest {
	tree = tree.Simplify()
	all := alternatives(tree)
	if len(all) > maxBranches {
		all = []*syntax.Regexp{tree}
	}
	var test literalTest
	for _, re := range all {
		known := literalsOf(re)
		if len(known.words) > 0 && !slices.Contains(known.words, "") {
			test.words = append(test.words, known.words...)
			continue
		}
		needs := slices.DeleteFunc(known.needed(), func(need []string) bool { return shortest(need) < 2 })
		slices.SortStableFunc(needs, func(a, b []string) int { return shortest(b) - shortest(a) })
		test.branches = append(test.branches, needs[:min(len(needs), maxNeeds)])
	}
	return test
}

// alternatives are the expressions of which a text has to match one. The parser takes out what they begin with alike.
func alternatives(re *syntax.Regexp) []*syntax.Regexp {
	switch {
	case re.Op == syntax.OpCapture:
		return alternatives(re.Sub[0])
	case re.Op == syntax.OpAlternate:
		var all []*syntax.Regexp
		for _, sub := range re.Sub {
			all = append(all, alternatives(sub)...)
		}
		return all
	case re.Op == syntax.OpConcat && re.Sub[0].Op == syntax.OpLiteral && re.Sub[1].Op == syntax.OpAlternate:
		var all []*syntax.Regexp
		for _, sub := range re.Sub[1].Sub {
			whole := append([]*syntax.Regexp{re.Sub[0], sub}, re.Sub[2:]...)
			all = append(all, &syntax.Regexp{Op: syntax.OpConcat, Flags: re.Flags, Sub: whole})
		}
		return all
	}
	return []*syntax.Regexp{re}
}

// has tells whether text has a word that is enough.
func (t *literalTest) has(text string) bool {
	return slices.ContainsFunc(t.words, func(word string) bool { return strings.Contains(text, word) })
}

// possible tells whether text has all words that some branch needs.
func (t *literalTest) possible(text string) bool {
	return slices.ContainsFunc(t.branches, func(b branch) bool { return b.possible(text) })
}

// possible tells whether text has all words that the branch needs.
func (b branch) possible(text string) bool {
	for _, need := range b {
		if !slices.ContainsFunc(need, func(word string) bool { return strings.Contains(text, word) }) {
			return false
		}
	}
	return true
}

// literalSet is what is known of the texts that an expression matches. Either words are all of these texts, or, when those are too many,
// each text has one word of every list of needs. Without words and needs nothing is known.
type literalSet struct {
	words []string
	needs [][]string
}

// literalsOf is the literal set of an expression.
func literalsOf(re *syntax.Regexp) literalSet {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return literalSet{words: []string{""}}
	case syntax.OpLiteral:
		switch {
		case slices.Contains(re.Rune, utf8.RuneError):
			return literalSet{}
		case re.Flags&syntax.FoldCase != 0:
			return inAnyCase(re.Rune)
		}
		return literalSet{words: []string{string(re.Rune)}}
	case syntax.OpCharClass:
		return literalSet{words: characters(re.Rune)}
	case syntax.OpCapture:
		return literalsOf(re.Sub[0])
	case syntax.OpPlus:
		return literalSet{needs: literalsOf(re.Sub[0]).needed()}
	case syntax.OpQuest:
		if once := literalsOf(re.Sub[0]); len(once.words) > 0 {
			return literalSet{words: append(once.words, "")}
		}
	case syntax.OpConcat:
		return sequence(re.Sub)
	case syntax.OpAlternate:
		return choice(re.Sub)
	}
	return literalSet{}
}

// inAnyCase are all spellings of a literal in upper and lower case, or, when they are too many, a need for one of its beginning.
func inAnyCase(literal []rune) literalSet {
	words := []string{""}
	for _, c := range literal {
		spellings := []string{string(c)}
		for other := unicode.SimpleFold(c); other != c; other = unicode.SimpleFold(other) {
			spellings = append(spellings, string(other))
		}
		if len(words)*len(spellings) > maxSpellings {
			return literalSet{needs: [][]string{words}}
		}
		words = product(words, spellings)
	}
	return literalSet{words: words}
}

// characters lists a class of characters, given as pairs of first and last, when it is small: digits are not, since looking for ten
// words takes longer than for what is around them.
func characters(ranges []rune) (words []string) {
	for i := 0; i < len(ranges); i += 2 {
		if int(ranges[i+1]-ranges[i]) >= maxCharacters || ranges[i+1] >= utf8.RuneError {
			return nil
		}
		for c := ranges[i]; c <= ranges[i+1]; c++ {
			words = append(words, string(c))
		}
	}
	if len(words) > maxCharacters {
		return nil
	}
	return words
}

// needed are the needs of an expression that is only a part of what a text must be.
func (l literalSet) needed() [][]string {
	if len(l.words) > 0 {
		return [][]string{l.words}
	}
	return l.needs
}

// sequence joins the words of parts that follow each other, until they are too many.
func sequence(subs []*syntax.Regexp) literalSet {
	words, all := []string{""}, true
	var needs [][]string
	for _, sub := range subs {
		next := literalsOf(sub)
		if len(next.words) > 0 && len(words)*len(next.words) <= maxWords {
			words = product(words, next.words)
			continue
		}
		needs, all = append(needs, words), false
		words = next.words
		if len(words) == 0 {
			needs, words = append(needs, next.needs...), []string{""}
		}
	}
	if all {
		return literalSet{words: words}
	}
	return literalSet{needs: append(needs, words)}
}

// product joins each head with each tail.
func product(heads, tails []string) []string {
	var words []string
	for _, head := range heads {
		for _, tail := range tails {
			words = append(words, head+tail)
		}
	}
	return words
}

// choice has the words of all its branches, or needs what is longest in each.
func choice(subs []*syntax.Regexp) literalSet {
	if len(subs) == 1 {
		return literalsOf(subs[0])
	}
	var words, need []string
	exact, free := true, false // free: some branch needs nothing
	for _, sub := range subs {
		branch := literalsOf(sub)
		exact = exact && len(branch.words) > 0
		words = append(words, branch.words...)
		var best []string
		for _, n := range branch.needed() {
			if shortest(n) > shortest(best) {
				best = n
			}
		}
		free = free || best == nil
		need = append(need, best...)
	}
	switch {
	case max(len(words), len(need)) > maxWords:
		return literalSet{}
	case exact:
		return literalSet{words: words}
	case free:
		return literalSet{}
	}
	return literalSet{needs: [][]string{need}}
}

// shortest is the length of the shortest word, 0 when there is none.
func shortest(words []string) int {
	if len(words) == 0 {
		return 0
	}
	least := len(words[0])
	for _, w := range words {
		least = min(least, len(w))
	}
	return least
}
