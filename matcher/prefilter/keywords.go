package prefilter

import (
	"iter"
	"slices"
	"sync"

	"github.com/gpu-triage/triage/matcher/scan"
)

// Keywords finds which of many words a text has. It may be shared.
type Keywords struct {
	set     func() *scan.Set // made when a text is asked about
	numbers []int            // of the words in it
	others  []numberedWord   // words that no set takes, such as one with a line break in it
}

type numberedWord struct {
	scan.Literal
	number int
}

// NewKeywords prepares to look for words. The number of a word is its place among them.
func NewKeywords(words []scan.Literal) *Keywords { return newKeywords(slices.All(words)) }

// newKeywords is NewKeywords for words with numbers of their own.
func newKeywords(all iter.Seq2[int, scan.Literal]) *Keywords {
	k := &Keywords{}
	var words []scan.Literal
	for n, word := range all {
		if scan.Takes(word) {
			words, k.numbers = append(words, word), append(k.numbers, n)
		} else {
			k.others = append(k.others, numberedWord{word, n})
		}
	}
	k.set = sync.OnceValue(func() *scan.Set {
		set, err := scan.New(words)
		if err != nil {
			panic(err) // each of them is one that a set takes
		}
		return set
	})
	return k
}

// In appends the numbers of the words in a text to those in to, in order and each once.
func (k *Keywords) In(text string, to []int) []int {
	from := len(to)
	k.set().Lines([]byte(text), func(hit scan.Hit) bool {
		for _, id := range hit.IDs {
			to = append(to, k.numbers[id])
		}
		return true
	})
	for _, w := range k.others {
		if w.In(text) {
			to = append(to, w.number)
		}
	}
	found := to[from:]
	slices.Sort(found)
	return to[:from+len(slices.Compact(found))]
}
