package prefilter

import (
	"hash/maphash"
	"sync/atomic"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/scan"
	"github.com/gpu-triage/triage/rules/pattern"
)

// templateSet remembers templates of lines: lines with the same template differ in numbers only. It forgets one for another when it has no
// room. Several goroutines may share it. Of each it keeps a hash of 64 bits, which no log can be made to collide with: the seed is another
// each time.
type templateSet struct {
	seed  maphash.Seed
	known [templateCount]atomic.Uint64
}

const (
	templateBits  = 12
	templateCount = 1 << templateBits
	usualTemplate = 512      // bytes of a line whose template has room on the stack; a longer one takes memory from the heap
	maxTemplate   = 16 << 10 // bytes of a line that has a template; longer ones come too seldom
)

func newTemplateSet() *templateSet { return &templateSet{seed: maphash.MakeSeed()} }

// place is where a template is remembered, and as what: never 0.
func (t *templateSet) place(template []byte) (at *atomic.Uint64, hash uint64) {
	hash = maphash.Bytes(t.seed, template) | 1
	return &t.known[hash>>(64-templateBits)], hash
}

func (t *templateSet) has(template []byte) bool {
	at, hash := t.place(template)
	return at.Load() == hash
}

func (t *templateSet) add(template []byte) {
	at, hash := t.place(template)
	at.Store(hash)
}

// lineTemplate appends the template of a line to dst. A line has none where its text may hold digits side by side that are apart in its
// bytes, or where what is read from it depends on more than where its digits stand.
func lineTemplate(dst, raw []byte) (template []byte, ok bool) {
	if len(raw) > maxTemplate || logline.MayJoin(raw) {
		return nil, false
	}
	return pattern.LineTemplate(dst, raw)
}

// numbered are those literals that not all lines of a template have, or none, as mayHaveNumbered looks for them.
func numbered(literals []scan.Literal) (all []scan.Literal) {
	for _, l := range literals {
		if !pattern.IgnoresNumbers(l.Text) {
			all = append(all, scan.Literal{Text: string(withOneDigit(nil, []byte(l.Text))), Fold: l.Fold})
		}
	}
	return all
}

// mayHaveNumbered tells whether some lines of a template may have a literal that others of it lack.
func (f *Filter) mayHaveNumbered(template []byte) bool {
	var room [usualTemplate + 1]byte
	return f.numbered.set().In(append(withOneDigit(room[:0], template), '\n'))
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
