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
	table atomic.Pointer[templateTable] // nil as long as nothing was added
	added atomic.Int32                  // to a small table
}

// templateTable has a power of two of places.
type templateTable []atomic.Uint64

const (
	fewTemplates  = 1 << 6   // places at first: a job can have thousands of short logs
	templateCount = 1 << 12  // places of a log that has filled them
	usualTemplate = 512      // bytes of a line whose template has room on the stack; a longer one takes memory from the heap
	maxTemplate   = 16 << 10 // bytes of a line that has a template; longer ones come too seldom
)

func newTemplateSet() *templateSet { return &templateSet{seed: maphash.MakeSeed()} }

// hash stands for a template. It is never 0.
func (t *templateSet) hash(template []byte) uint64 { return maphash.Bytes(t.seed, template) | 1<<63 }

// at is where a hash is remembered.
func (t templateTable) at(hash uint64) *atomic.Uint64 { return &t[hash&uint64(len(t)-1)] }

func (t *templateSet) has(template []byte) bool {
	table := t.table.Load()
	if table == nil {
		return false
	}
	hash := t.hash(template)
	return table.at(hash).Load() == hash
}

func (t *templateSet) add(template []byte) {
	table := t.table.Load()
	if table == nil {
		table = t.grow(nil, fewTemplates)
	} else if len(*table) == fewTemplates && t.added.Add(1) >= fewTemplates {
		table = t.grow(table, templateCount)
	}
	hash := t.hash(template)
	table.at(hash).Store(hash)
}

// grow puts a table of that size in the place of another, unless somebody else did.
func (t *templateSet) grow(old *templateTable, size int) *templateTable {
	table := make(templateTable, size)
	t.table.CompareAndSwap(old, &table)
	return t.table.Load()
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
