package prefilter

import (
	"slices"
	"sync"

	"github.com/gpu-triage/triage/matcher/scan"
)

// keywords finds which of many words a text has.
type Keywords struct {
	set     func() *scan.Set // made when a text is asked about
	numbers []int            // of the words in it
	others  []numberedWord   // words that no set takes, such as one with a line break in it
}

type numberedWord struct {
	scan.Literal
	number int
}

// newKeywords prepares to look for the words of those interests that are of use, of all when use is nil. A word's number is that of
// its interest.
func NewKeywords(interests []Interest, use func(*Interest) bool) *Keywords {
	k := &Keywords{}
	var words []scan.Literal
	for n := range interests {
		switch i := &interests[n]; {
		case use != nil && !use(i):
		case scan.Takes(i.Word):
			words, k.numbers = append(words, i.Word), append(k.numbers, n)
		default:
			k.others = append(k.others, numberedWord{i.Word, n})
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

// in appends the numbers of the words in a text to ids, in order and each once.
func (k *Keywords) In(text string, ids []int) []int {
	k.set().Lines([]byte(text), func(hit scan.Hit) bool {
		for _, id := range hit.IDs {
			ids = append(ids, k.numbers[id])
		}
		return true
	})
	for _, w := range k.others {
		if w.In(text) {
			ids = append(ids, w.number)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
