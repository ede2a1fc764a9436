package pattern

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// quick tells of most texts whether they match a regular expression without trying it. Looking for a few words is many times faster,
// and most of what is asked about a line is whether it has one of some words.
type quick struct {
	words    []string // a text that has one of them matches
	branches []branch // a text without them that matches fulfils one of these
}

// branch is what a text needs to match an alternative of an expression: one of each.
type branch [][]string

// The most words that stand for a part of an expression, characters of a class that are looked for one by one, spellings of a word that may
// be in either case, needs that are looked at before it is tried, and alternatives.
const (
	maxQuickWords    = 64
	maxQuickClass    = 8
	maxQuickCases    = 16
	maxQuickNeeds    = 4
	maxQuickBranches = 64
)

func quickOf(tree *syntax.Regexp) quick {
	tree = tree.Simplify()
	all := alternatives(tree)
	if len(all) > maxQuickBranches {
		all = []*syntax.Regexp{tree}
	}
	var q quick
	for _, re := range all {
		known := analyse(re)
		if len(known.words) > 0 && !slices.Contains(known.words, "") {
			q.words = append(q.words, known.words...)
			continue
		}
		needs := slices.DeleteFunc(known.needed(), func(need []string) bool { return shortest(need) < 2 })
		slices.SortStableFunc(needs, func(a, b []string) int { return shortest(b) - shortest(a) })
		q.branches = append(q.branches, needs[:min(len(needs), maxQuickNeeds)])
	}
	return q
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

// has tells whether text has a word that suffices.
func (q *quick) has(text string) bool {
	return slices.ContainsFunc(q.words, func(word string) bool { return strings.Contains(text, word) })
}

// possible tells whether text fulfils a branch.
func (q *quick) possible(text string) bool {
	return slices.ContainsFunc(q.branches, func(b branch) bool { return b.possible(text) })
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

// wording is what is known of an expression: its words, which are all texts that it matches from end to end, none when they are too many,
// or else its needs, of each of which a text that matches has one.
type wording struct {
	words []string
	needs [][]string
}

// analyse tells the words of an expression, or its needs.
func analyse(re *syntax.Regexp) wording {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return wording{words: []string{""}}
	case syntax.OpLiteral:
		switch {
		case slices.Contains(re.Rune, utf8.RuneError):
			return wording{}
		case re.Flags&syntax.FoldCase != 0:
			return inAnyCase(re.Rune)
		}
		return wording{words: []string{string(re.Rune)}}
	case syntax.OpCharClass:
		return wording{words: characters(re.Rune)}
	case syntax.OpCapture:
		return analyse(re.Sub[0])
	case syntax.OpPlus:
		q := analyse(re.Sub[0])
		return wording{needs: q.needed()}
	case syntax.OpQuest:
		if q := analyse(re.Sub[0]); len(q.words) > 0 {
			return wording{words: append(q.words, "")}
		}
	case syntax.OpConcat:
		return sequence(re.Sub)
	case syntax.OpAlternate:
		return choice(re.Sub)
	}
	return wording{}
}

// inAnyCase has all spellings of a literal in upper and lower case, or needs those of its beginning when they are too many.
func inAnyCase(literal []rune) wording {
	words := []string{""}
	for _, c := range literal {
		spellings := []string{string(c)}
		for other := unicode.SimpleFold(c); other != c; other = unicode.SimpleFold(other) {
			spellings = append(spellings, string(other))
		}
		if len(words)*len(spellings) > maxQuickCases {
			return wording{needs: [][]string{words}}
		}
		words = product(words, spellings)
	}
	return wording{words: words}
}

// characters lists a class of characters, given as pairs of first and last, when it is small: digits are not, since looking for ten
// words takes longer than for what is around them.
func characters(ranges []rune) (words []string) {
	for i := 0; i < len(ranges); i += 2 {
		if int(ranges[i+1]-ranges[i]) >= maxQuickClass || ranges[i+1] >= utf8.RuneError {
			return nil
		}
		for c := ranges[i]; c <= ranges[i+1]; c++ {
			words = append(words, string(c))
		}
	}
	if len(words) > maxQuickClass {
		return nil
	}
	return words
}

// needed are the needs of an expression whose words are not all that a text must be.
func (q wording) needed() [][]string {
	if len(q.words) > 0 {
		return [][]string{q.words}
	}
	return q.needs
}

// sequence joins the words of parts that follow each other as far as that goes.
func sequence(subs []*syntax.Regexp) wording {
	words, all := []string{""}, true
	var needs [][]string
	for _, sub := range subs {
		q := analyse(sub)
		if len(q.words) > 0 && len(words)*len(q.words) <= maxQuickWords {
			words = product(words, q.words)
			continue
		}
		needs, all = append(needs, words), false
		if words = q.words; len(words) == 0 {
			needs, words = append(needs, q.needs...), []string{""}
		}
	}
	if all {
		return wording{words: words}
	}
	return wording{needs: append(needs, words)}
}

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
func choice(subs []*syntax.Regexp) wording {
	if len(subs) == 1 {
		return analyse(subs[0])
	}
	var words, need []string
	exact, free := true, false // free: some branch needs nothing
	for _, sub := range subs {
		q := analyse(sub)
		exact = exact && len(q.words) > 0
		words = append(words, q.words...)
		var best []string
		for _, n := range q.needed() {
			if shortest(n) > shortest(best) {
				best = n
			}
		}
		free = free || best == nil
		need = append(need, best...)
	}
	switch {
	case max(len(words), len(need)) > maxQuickWords:
		return wording{}
	case exact:
		return wording{words: words}
	case free:
		return wording{}
	}
	return wording{needs: [][]string{need}}
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
