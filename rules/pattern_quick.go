package rules

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// quick tells of most texts whether they match a regular expression without trying it. Looking for a few words is many times faster,
// and most of what is asked about a line is whether it has one of some words.
type quick struct {
	words []string   // a text that has one of them matches
	needs [][]string // a text that matches without them has one of each
	only  bool       // no text matches without them
}

// The most words that stand for a part of an expression, and the most needs that are looked at before it is tried.
const (
	maxQuickWords = 64
	maxQuickNeeds = 4
)

func quickOf(tree *syntax.Regexp) quick {
	var words []string
	var others []*syntax.Regexp
	for _, branch := range branches(tree.Simplify()) {
		if q := analyse(branch); len(q.words) > 0 && !slices.Contains(q.words, "") {
			words = append(words, q.words...)
		} else {
			others = append(others, branch)
		}
	}
	q := choice(others)
	needs := slices.DeleteFunc(q.needed(), func(need []string) bool { return shortest(need) < 2 })
	slices.SortStableFunc(needs, func(a, b []string) int { return shortest(b) - shortest(a) })
	return quick{words: words, needs: needs[:min(len(needs), maxQuickNeeds)], only: len(others) == 0}
}

// branches are the alternatives of an expression.
func branches(re *syntax.Regexp) []*syntax.Regexp {
	switch re.Op {
	case syntax.OpAlternate:
		return re.Sub
	case syntax.OpCapture:
		return branches(re.Sub[0])
	}
	return []*syntax.Regexp{re}
}

// decides tells whether text matches, if that can be told.
func (q *quick) decides(text string) (matches, decided bool) {
	in := func(word string) bool { return strings.Contains(text, word) }
	if slices.ContainsFunc(q.words, in) {
		return true, true
	}
	for _, need := range q.needs {
		if !slices.ContainsFunc(need, in) {
			return false, true
		}
	}
	return false, q.only
}

// analyse tells of an expression its words: all texts that it matches from end to end, none when they are too many. Else it tells its needs.
func analyse(re *syntax.Regexp) quick {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return quick{words: []string{""}}
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 || slices.Contains(re.Rune, utf8.RuneError) {
			return quick{}
		}
		return quick{words: []string{string(re.Rune)}}
	case syntax.OpCharClass:
		return quick{words: characters(re.Rune)}
	case syntax.OpCapture:
		return analyse(re.Sub[0])
	case syntax.OpPlus:
		q := analyse(re.Sub[0])
		return quick{needs: q.needed()}
	case syntax.OpQuest:
		if q := analyse(re.Sub[0]); len(q.words) > 0 {
			return quick{words: append(q.words, "")}
		}
	case syntax.OpConcat:
		return sequence(re.Sub)
	case syntax.OpAlternate:
		return choice(re.Sub)
	}
	return quick{}
}

// characters lists a class of characters, given as pairs of first and last, when it is small.
func characters(ranges []rune) (words []string) {
	for i := 0; i < len(ranges); i += 2 {
		if ranges[i+1]-ranges[i] >= maxQuickWords || ranges[i+1] >= utf8.RuneError {
			return nil
		}
		for c := ranges[i]; c <= ranges[i+1]; c++ {
			words = append(words, string(c))
		}
	}
	if len(words) > maxQuickWords {
		return nil
	}
	return words
}

// needed are the needs of an expression whose words are not all that a text must be.
func (q quick) needed() [][]string {
	if len(q.words) > 0 {
		return [][]string{q.words}
	}
	return q.needs
}

// sequence joins the words of parts that follow each other as far as that goes.
func sequence(subs []*syntax.Regexp) quick {
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
		return quick{words: words}
	}
	return quick{needs: append(needs, words)}
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
func choice(subs []*syntax.Regexp) quick {
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
		return quick{}
	case exact:
		return quick{words: words}
	case free:
		return quick{}
	}
	return quick{needs: [][]string{need}}
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
