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

// gramTable tells about how many of all places in an ordinary log have a gram. A gram is at the place that its hash says, or after
// those of others that are there already. The table is made at every start of the program and asked a hundred thousand times, which
// takes a map too long.
type gramTable [1 << gramTableBits]struct {
	folded uint32 // 0 in a free place
	share  float32
}

// gramTableBits leaves half of the places free.
const gramTableBits = 14

// rareLevel stands for the grams that the list lacks.
const rareLevel = 20

var gramShares = sync.OnceValue(func() *gramTable {
	t, share := &gramTable{}, float32(1)
	for line := range strings.Lines(gramList) {
		for ; len(line) > gramBytes; line = line[gramBytes:] {
			folded := foldedGram(line)
			i := t.find(folded)
			t[i].folded, t[i].share = folded, share
		}
		share /= 2
	}
	return t
})

// find is where a gram is, or the free place where it would be.
func (t *gramTable) find(folded uint32) uint32 {
	i := folded * 0x9E3779B1 >> (32 - gramTableBits)
	for t[i].folded != folded && t[i].folded != 0 {
		i = (i + 1) % (1 << gramTableBits)
	}
	return i
}

// of is the share of the gram that text begins with.
func (t *gramTable) of(text string) float64 {
	if at := &t[t.find(foldedGram(text))]; at.folded != 0 {
		return float64(at.share)
	}
	return 1.0 / (1 << rareLevel)
}

// survivorCost is how many times longer it takes to look up a gram that is found with its neighbours than to see that it is not.
const survivorCost = 3

// spot is where a gram stands in a literal, and on which side of it those bytes are that are looked at with it.
type spot struct {
	at     int
	before bool
}

// rarestGrams sets best[r] to the gram of text, among those at r and every len(best) bytes on, that costs a scan of ordinary logs least:
// it is seldom there, and above all seldom with its neighbours. How often these are is not known, but no more often than the rarest gram
// in them.
func rarestGrams(best []spot, text string, reach int) {
	t := gramShares()
	var room [128]float64
	shares := room[:0]
	for i := 0; i+gramBytes <= len(text); i++ {
		shares = append(shares, t.of(text[i:]))
	}
	var least [maxStride]float64
	for at, share := range shares {
		for _, before := range []bool{false, true} {
			from := at
			if before {
				from -= reach
			}
			if from < 0 || from+reach >= len(shares) {
				continue
			}
			cost, r := share+survivorCost*slices.Min(shares[from:from+reach+1]), at%len(best)
			if least[r] == 0 || cost < least[r] {
				best[r], least[r] = spot{at, before}, cost
			}
		}
	}
}

// Share estimates in how many of the places of an ordinary log the literal stands: 1e-6 is once per MB.
func (l Literal) Share() float64 {
	if len(l.Text) < gramBytes {
		return 1
	}
	t, least := gramShares(), 1.0
	for i := 0; i+gramBytes <= len(l.Text); i++ {
		least = min(least, t.of(l.Text[i:]))
	}
	return least
}

// shortCost is how much rarer a literal of fewer than WideLiteral bytes must be to be chosen over longer ones: it slows the scan of
// every byte.
const shortCost = 1e4

// tooShortCost makes a literal that no Set takes the last choice.
const tooShortCost = 1e9

// longest is the length in bytes from which on a longer literal is found by chance no less often.
const longest = 40

// literalCost is what each literal more adds to the false alarms of a Set.
const literalCost = 1e-6

// Cost estimates what it costs to look for the literals in every line: how often an ordinary log has one of them, and how much they slow
// the scan. It is infinite when one of them is empty. Only which of two costs is the smaller one means something.
func Cost(literals []Literal) float64 {
	sum := literalCost * float64(len(literals))
	for _, l := range literals {
		switch {
		case l.Text == "":
			return math.Inf(1)
		case len(l.Text) < MinLiteral:
			sum += tooShortCost / float64(len(l.Text))
		case len(l.Text) < WideLiteral:
			sum += l.Share() * shortCost
		default:
			sum += l.Share() * math.Exp2(-float64(min(len(l.Text), longest))/8)
		}
	}
	return sum
}

// Rarest is the set of literals of which an ordinary log has least; an empty one counts as none.
func Rarest(sets ...[]Literal) []Literal {
	var best []Literal
	least := math.Inf(1)
	for _, literals := range sets {
		if cost := Cost(distinct(literals)); cost < least && len(literals) > 0 {
			best, least = literals, cost
		}
	}
	return best
}

// distinct are the literals, each once.
func distinct(literals []Literal) (all []Literal) {
	for _, l := range literals {
		if !slices.Contains(all, l) {
			all = append(all, l)
		}
	}
	return all
}
