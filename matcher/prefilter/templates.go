package prefilter

import (
	"hash/maphash"
	"sync/atomic"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/scan"
	"github.com/gpu-triage/triage/rules/pattern"
)

// kinds remembers kinds of lines: lines of a kind differ in numbers only. It forgets one for another when it has no room. Several
// goroutines may share it. Of each it keeps a hash of 64 bits, which no log can be made to collide with: the seed is another each time.
type templateSet struct {
	seed  maphash.Seed
	known [kindCount]atomic.Uint64
}

const (
	kindBits  = 12
	kindCount = 1 << kindBits
	usualKind = 512      // bytes of a line whose kind has room on the stack; a longer one takes memory from the heap
	maxKind   = 16 << 10 // bytes of a line that has a kind; longer ones come too seldom
)

func newKinds() *templateSet { return &templateSet{seed: maphash.MakeSeed()} }

// place is where a kind is remembered, and as what: never 0.
func (k *templateSet) place(kind []byte) (at *atomic.Uint64, hash uint64) {
	hash = maphash.Bytes(k.seed, kind) | 1
	return &k.known[hash>>(64-kindBits)], hash
}

func (k *templateSet) has(kind []byte) bool {
	at, hash := k.place(kind)
	return at.Load() == hash
}

func (k *templateSet) add(kind []byte) {
	at, hash := k.place(kind)
	at.Store(hash)
}

// lineKind appends the kind of a line to dst. A line has none where its text may hold digits side by side that are apart in its bytes, or
// where what is read from it depends on more than where its digits stand.
func lineKind(dst, raw []byte) (kind []byte, ok bool) {
	if len(raw) > maxKind || logline.MayJoin(raw) {
		return nil, false
	}
	return pattern.LineTemplate(dst, raw)
}

// numbered are those literals that not all lines of a kind have, or none, as mayHaveNumbered looks for them.
func numbered(literals []scan.Literal) (all []Interest) {
	for _, l := range literals {
		if !pattern.IgnoresNumbers(l.Text) {
			all = append(all, Interest{Word: scan.Literal{Text: string(withOneDigit(nil, []byte(l.Text))), Fold: l.Fold}})
		}
	}
	return all
}

// mayHaveNumbered tells whether some lines of a kind may have a literal that others of it lack.
func (e *Filter) mayHaveNumbered(kind []byte) bool {
	var room [usualKind + 1]byte
	return e.numbered.set().In(append(withOneDigit(room[:0], kind), '\n'))
}

// withOneDigit appends a text to dst with the digit 1 in place of all.
func withOneDigit(dst, text []byte) []byte {
	for _, c := range text {
		if '0' <= c && c <= '9' {
			c = '1'
		}
		dst = append(dst, c)
	}
	return dst
}
