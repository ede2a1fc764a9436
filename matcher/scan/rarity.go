package scan

import (
	_ "embed"
	"math"
	"slices"
	"strings"
	"sync"
)

// gramList tells how common four bytes are in ordinary training logs. Line i (from 0) has the grams that are seen in 1 of 2^i to 2^(i+1)
// places, written one after another, folded to lower case and with _ for the byte that _ folds to. Grams that it lacks are rarer.
// TestGrams -write makes it anew.
//
//go:embed grams.txt
var gramList string

// gramLevels are the line numbers of gramList.
var gramLevels = sync.OnceValue(func() map[uint32]uint8 {
	level := map[uint32]uint8{}
	for i, line := range strings.Split(strings.TrimRight(gramList, "\n"), "\n") {
		for ; len(line) >= gramBytes; line = line[gramBytes:] {
			level[foldedGram(line)] = uint8(i)
		}
	}
	return level
})

// rareLevel is the level of a gram that the list lacks.
const rareLevel = 20

// share is about how many of all places in an ordinary log have the gram.
func share(folded uint32) float64 {
	if level, ok := gramLevels()[folded]; ok {
		return math.Ldexp(1, -int(level))
	}
	return math.Ldexp(1, -rareLevel)
}

// rarestWindow is the offset in text of the stride+3 bytes whose grams are seen least.
func rarestWindow(text string, stride int) int {
	best, least := 0, math.Inf(1)
	for o := 0; o+stride+gramBytes-1 <= len(text); o++ {
		sum := 0.0
		for i := o; i < o+stride; i++ {
			sum += share(foldedGram(text[i:]))
		}
		if sum < least {
			best, least = o, sum
		}
	}
	return best
}

// Share estimates in how many of the places of an ordinary log the literal stands: 1e-6 is once per MB.
func (l Literal) Share() float64 {
	if len(l.Text) < gramBytes {
		return 1
	}
	least := 1.0
	for i := 0; i+gramBytes <= len(l.Text); i++ {
		least = min(least, share(foldedGram(l.Text[i:])))
	}
	return least
}

// shortCost is how much rarer a literal of fewer than WideLiteral bytes must be to be chosen over longer ones: it slows the scan of
// every byte.
const shortCost = 1e4

// tooShortCost makes a literal that no Set takes the last choice.
const tooShortCost = 1e9

// literalCost is what each literal more adds to the false alarms of a Set.
const literalCost = 1e-6

// Rarest is the set of literals of which an ordinary log has least; an empty one counts as none.
func Rarest(sets ...[]Literal) []Literal {
	var best []Literal
	least := math.Inf(1)
	for _, literals := range sets {
		set := choices{}
		for _, l := range literals {
			set[l] = true
		}
		if cost := set.cost(); cost < least && len(literals) > 0 {
			best, least = literals, cost
		}
	}
	return best
}

func (set choices) cost() float64 {
	sum := literalCost * float64(len(set))
	for l := range set {
		switch {
		case l.Text == "":
			return math.Inf(1)
		case len(l.Text) < MinLiteral:
			sum += tooShortCost / float64(len(l.Text))
		case len(l.Text) < WideLiteral:
			sum += l.Share() * shortCost
		default:
			sum += l.Share() * math.Exp2(-float64(min(len(l.Text), 40))/8)
		}
	}
	return sum
}

// rarer is the set of which an ordinary log has less.
func rarer(a, b choices) choices {
	if b.cost() < a.cost() {
		return b
	}
	return a
}

// shortest lists the set without the literals that contain another of it.
func (set choices) shortest() []Literal {
	var all []Literal
	for l := range set {
		needless := false
		for other := range set {
			needless = needless || other != l && (other.Fold || !l.Fold) && other.In(l.Text)
		}
		if !needless {
			all = append(all, l)
		}
	}
	slices.SortFunc(all, func(a, b Literal) int { return strings.Compare(a.String(), b.String()) })
	return all
}
