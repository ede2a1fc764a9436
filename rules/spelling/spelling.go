// Package spelling finds the known word that a misspelt one means.
package spelling

import "strings"

// Nearest is the candidate that is spelled most like a word, "" when none is like it at all. It is for a question: did you mean this one?
func Nearest(word string, candidates []string) string {
	best, bestDistance := "", len(word)/3+2
	for _, c := range candidates {
		if d := distance(word, c); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// Meant is the candidate that a word was most likely meant to be: it differs only in capitals and underscores, or in one letter, or in two of a
// very long word, and not in the first one. It is "" when there is none, or when more than one is as near. Numbers in names count versions and
// sizes, and are never a slip.
func Meant(word string, candidates []string) string {
	best, bestDistance, several := "", slips(word)+1, false
	for _, c := range candidates {
		if c == word || c == best || digits(c) != digits(word) || first(c) != first(word) {
			continue
		}
		d := bestDistance + 1
		if abs(len(fold(c))-len(fold(word))) < d { // else it is further by its length alone, which a text from a log may have a lot of
			d = distance(fold(word), fold(c))
		}
		switch {
		case d > slips(c) || d > bestDistance:
		case d == bestDistance && fold(c) != fold(best):
			several = true
		case d < bestDistance || distance(word, c) < distance(word, best): // of Tensor and tensor the one that is written as the word is
			best, bestDistance, several = c, d, several && d == bestDistance
		}
	}
	if several {
		return ""
	}
	return best
}

// slips is how many letters of a word may be wrong.
func slips(word string) int {
	const short, long = 4, 16
	switch n := len(fold(word)); {
	case n < short:
		return 0
	case n < long:
		return 1
	}
	return 2
}

// fold leaves out what people confuse without misspelling a word: capitals and underscores.
func fold(word string) string { return strings.ToLower(strings.ReplaceAll(word, "_", "")) }

// first is the first letter of a word, with the underscores before it: a name that is private to its package is not meant by others.
func first(word string) string {
	if strings.HasPrefix(word, "_") {
		return "_" + first(word[1:])
	}
	return strings.ToLower(word[:min(len(word), 1)])
}

func abs(n int) int { return max(n, -n) }

func digits(word string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, word)
}

// distance counts the letters that were left out, put in, replaced, or exchanged with the next one, between two short words.
func distance(a, b string) int {
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, above, row = above, row, before
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replaced := above[j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			row[j] = min(above[j]+1, row[j-1]+1, replaced)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
