// Package scan reads logs as fast as the machine delivers them and finds the few lines that are worth a closer look: those that
// contain one of many literals. Required takes such literals from regular expressions, a Set finds them in one pass over raw bytes,
// and Set.Read cuts a source of any size into chunks of whole lines, with several workers and in bounded memory.
package scan

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// Set finds many literals in one pass. It does not change after New, so that several goroutines may share it.
//
// It looks at four bytes (a gram) every stride bytes. A literal of stride+3 bytes has, wherever it stands, a gram at such a place, so
// the stride of the shortest literal does for all. A bitmap that fits the processor's nearest cache says for most grams that no literal
// has them, another one for most of the rest that none has them and their neighbours. Both sides fold bit 5 away, which makes the two cases of a letter one, and a comparison decides.
type Set struct {
	literals []Literal
	stride   int
	bitmap   [bucketCount]uint64 // of grams: per bucket, 64 finer bits of the same hash
	around   [bucketCount]uint64 // the same of grams with some bytes after or before them: asked where the bitmap has a gram
	reach    int                 // how many bytes that are
	starts   [bucketCount + 1]int32
	grams    []gram // of bucket i: grams[starts[i]:starts[i+1]], those with the same neighbours together
}

// gram is four folded bytes of a literal, at most stride of them per literal.
type gram struct {
	near    uint64 // the gram with its neighbours: followed or preceded by them
	literal int32
	offset  int32 // in the literal
	same    int32 // how many of the next grams have the same neighbours
}

const (
	bucketBits  = 12
	bucketCount = 1 << bucketBits
	foldMask    = 0x20202020
	gramBytes   = 4
	maxStride   = WideLiteral - gramBytes + 1 // longer strides gained nothing
	minStride   = MinLiteral - gramBytes + 1
)

// New prepares to look for the literals. It refuses literals that are shorter than MinLiteral, and those with a line break that is not
// their end.
func New(literals []Literal) (*Set, error) {
	s := &Set{literals: make([]Literal, len(literals)), stride: maxStride}
	for i, l := range literals {
		if !Takes(l) {
			return nil, fmt.Errorf("scan: literal %q has fewer than %d bytes or a line break that is not its end", l.Text, MinLiteral)
		}
		if l.Fold {
			l.Text = lower(l.Text)
		}
		s.literals[i] = l
		s.stride = min(s.stride, len(l.Text)-gramBytes+1)
	}
	if s.stride < maxStride {
		s.stride = minStride // there is a loop for no other
	}
	s.reach = s.stride / 2
	s.fill()
	return s, nil
}

// fill enters the grams of the literals.
func (s *Set) fill() {
	unsorted := make([]gram, 0, len(s.literals)*s.stride)
	for i, l := range s.literals {
		offset := rarestWindow(l.Text, s.stride)
		for o := range s.stride {
			at := offset + o
			g := gram{literal: int32(i), offset: int32(at)}
			if o+s.reach < s.stride {
				g.near = s.followed(longGram(l.Text[at : at+gramBytes+s.reach]))
			} else { // the window ends before
				g.near = s.preceded(longGram(l.Text[at-s.reach : at+gramBytes]))
			}
			unsorted = append(unsorted, g)
			bucket, bit := place(foldedGram(l.Text[at:]))
			s.starts[bucket+1]++
			s.bitmap[bucket] |= 1 << bit
			around, aroundBit := placeAround(g.near)
			s.around[around] |= 1 << aroundBit
		}
	}
	for i := range bucketCount {
		s.starts[i+1] += s.starts[i]
	}
	s.grams = make([]gram, len(unsorted))
	next := s.starts // where the next gram of each bucket goes
	for _, g := range unsorted {
		bucket, _ := place(foldedGram(s.literals[g.literal].Text[g.offset:]))
		s.grams[next[bucket]] = g
		next[bucket]++
	}
	for i := range bucketCount {
		group(s.grams[s.starts[i]:s.starts[i+1]])
	}
}

// group brings those grams of a bucket together that have the same neighbours.
func group(grams []gram) {
	slices.SortFunc(grams, func(a, b gram) int { return cmp.Compare(a.near, b.near) })
	for i := len(grams) - 2; i >= 0; i-- {
		if grams[i].near == grams[i+1].near {
			grams[i].same = grams[i+1].same + 1
		}
	}
}

// Takes tells whether a set can look for a literal.
func Takes(l Literal) bool {
	return len(l.Text) >= MinLiteral && !strings.ContainsAny(l.Text[:len(l.Text)-1], "\r\n")
}

// Literals are what the set looks for.
func (s *Set) Literals() []Literal { return s.literals }

func foldedGram(text string) uint32 {
	return (uint32(text[0]) | uint32(text[1])<<8 | uint32(text[2])<<16 | uint32(text[3])<<24) | foldMask
}

// place says which bit of which bucket stands for a folded gram.
func place(folded uint32) (bucket, bit uint32) {
	h := folded * 0x9E3779B1
	return h >> (32 - bucketBits), h >> (32 - bucketBits - 6) & 63
}

// longGram is a short text as it lies in memory.
func longGram(text string) uint64 {
	var bytes [8]byte
	copy(bytes[:], text)
	return binary.LittleEndian.Uint64(bytes[:])
}

// followed is a folded gram with the bytes after it, of which there are as many as reach.
func (s *Set) followed(g uint64) uint64 {
	return (g | foldMask<<32 | foldMask) << (8 * (gramBytes - s.reach))
}

// preceded is the same with the bytes before it, marked in its lowest bit.
func (s *Set) preceded(g uint64) uint64 { return s.followed(g) | 1 }

// placeAround is place for a gram with its neighbours.
func placeAround(near uint64) (bucket, bit uint64) {
	h := near * 0x9E3779B97F4A7C15
	return h >> (64 - bucketBits), h >> (64 - bucketBits - 6) & 63
}

// neighbours are those of the gram at data[at:]. They are not told at the ends of data.
func (s *Set) neighbours(data []byte, at int) (followed, preceded uint64, ok bool) {
	if at < s.reach || at+8 > len(data) {
		return 0, 0, false
	}
	return s.followed(binary.LittleEndian.Uint64(data[at:])), s.preceded(binary.LittleEndian.Uint64(data[at-s.reach:])), true
}

// alone tells of many grams that with their neighbours they are no part of a literal.
func (s *Set) alone(followed, preceded uint64) bool {
	bucket, bit := placeAround(followed)
	other, otherBit := placeAround(preceded)
	return (s.around[bucket]>>bit|s.around[other]>>otherBit)&1 == 0
}

// test is 1 (among higher bits of no meaning) when some literal may have the gram.
func (s *Set) test(g uint32) uint64 {
	bucket, bit := place(g | foldMask)
	return s.bitmap[bucket] >> bit
}

// Hit is a line that contains literals: the bytes from Start up to End, without the line break. IDs are the indexes of all literals
// in it, each once, in no order.
type Hit struct {
	Start, End int
	Line       int64 // how many \n stand before it in its chunk; only in a Chunk
	IDs        []int32
}

// Lines calls yield for every line of data that contains a literal, in order, until it returns false. Lines end at \n; the last may
// lack it. A line with terminal escape sequences is looked at as it is without them. IDs are overwritten after yield returns.
func (s *Set) Lines(data []byte, yield func(Hit) bool) {
	if len(s.literals) == 0 {
		return
	}
	f := finder{set: s}
	var plain []byte
	for at := 0; at < len(data) && !f.done; {
		start, end := escaped(data, at)
		f.pass(data[at:start], func(hit Hit) bool {
			hit.Start, hit.End = hit.Start+at, hit.End+at
			return yield(hit)
		})
		if start < end && !f.done {
			plain = Plain(plain[:0], data[start:min(end+1, len(data))])
			f.pass(plain, func(hit Hit) bool {
				hit.Start, hit.End = start, end
				return yield(hit)
			})
		}
		at = end + 1
	}
}

// In tells whether a line contains a literal of the set.
func (s *Set) In(line []byte) bool {
	found := false
	s.Lines(line, func(Hit) bool {
		found = true
		return false
	})
	return found
}

// finder is one pass over data.
type finder struct {
	set   *Set
	data  []byte
	yield func(Hit) bool
	hit   Hit      // the line that literals are being found in, End is -1 before the first
	seen  []uint64 // which literals are in hit.IDs
	done  bool     // yield wants no more
}

func (f *finder) pass(data []byte, yield func(Hit) bool) {
	f.data, f.yield = data, yield
	f.hit = Hit{End: -1, IDs: f.hit.IDs[:0]}
	if f.set.stride == maxStride {
		f.wide()
	} else {
		f.two()
	}
	f.flush()
}

// wide looks at a gram every 5 bytes, four in a round: one test of bounds and one branch for 20 bytes. Longer rounds gain less than
// looking again at all of one costs.
func (f *finder) wide() {
	s, data, i := f.set, f.data, 0
	for ; i+20 <= len(data) && !f.done; i += 20 {
		w := (*[20]byte)(data[i:])
		a, b := s.test(binary.LittleEndian.Uint32(w[0:])), s.test(binary.LittleEndian.Uint32(w[5:]))
		c, d := s.test(binary.LittleEndian.Uint32(w[10:])), s.test(binary.LittleEndian.Uint32(w[15:]))
		if (a|b|c|d)&1 == 0 {
			continue
		}
		for hits := a&1 | b&1<<1 | c&1<<2 | d&1<<3; hits != 0; hits &= hits - 1 {
			f.verify(i + 5*bits.TrailingZeros64(hits))
		}
	}
	f.narrow(i)
}

// two is wide for every 2 bytes: the compiler needs the distances to be constants.
func (f *finder) two() {
	s, data, i := f.set, f.data, 0
	for ; i+18 <= len(data) && !f.done; i += 16 {
		w := (*[18]byte)(data[i:])
		any := s.test(binary.LittleEndian.Uint32(w[0:])) | s.test(binary.LittleEndian.Uint32(w[2:])) |
			s.test(binary.LittleEndian.Uint32(w[4:])) | s.test(binary.LittleEndian.Uint32(w[6:])) |
			s.test(binary.LittleEndian.Uint32(w[8:])) | s.test(binary.LittleEndian.Uint32(w[10:])) |
			s.test(binary.LittleEndian.Uint32(w[12:])) | s.test(binary.LittleEndian.Uint32(w[14:]))
		if any&1 != 0 {
			f.check(i, i+16)
		}
	}
	f.narrow(i)
}

// check looks again at the grams of a round.
func (f *finder) check(from, to int) {
	for at := from; at < to; at += f.set.stride {
		if f.set.test(binary.LittleEndian.Uint32(f.data[at:]))&1 != 0 {
			f.verify(at)
		}
	}
}

// narrow looks at one gram after the other.
func (f *finder) narrow(from int) {
	s, data := f.set, f.data
	for i := from; i+gramBytes <= len(data) && !f.done; i += s.stride {
		if s.test(binary.LittleEndian.Uint32(data[i:]))&1 != 0 {
			f.verify(i)
		}
	}
}

// verify compares the literals that have the gram at data[at:].
func (f *finder) verify(at int) {
	s := f.set
	followed, preceded, ok := s.neighbours(f.data, at)
	if ok && s.alone(followed, preceded) {
		return
	}
	bucket, _ := place(binary.LittleEndian.Uint32(f.data[at:]) | foldMask)
	grams := s.grams[s.starts[bucket]:s.starts[bucket+1]]
	for i := 0; i < len(grams); {
		next := i + 1 + int(grams[i].same)
		if near := grams[i].near; !ok || near == followed || near == preceded {
			for _, g := range grams[i:next] {
				f.compare(at-int(g.offset), g.literal)
			}
		}
		i = next
	}
}

// compare looks whether a literal begins at data[start].
func (f *finder) compare(start int, literal int32) {
	l := f.set.literals[literal]
	if start < 0 || start+len(l.Text) > len(f.data) {
		return
	}
	if here := f.data[start : start+len(l.Text)]; string(here) == l.Text || l.Fold && equalFold(here, l.Text) {
		f.found(start, literal)
	}
}

// found adds a literal to the line it is in.
func (f *finder) found(at int, literal int32) {
	if at >= f.hit.End {
		f.flush()
		f.hit.Start = bytes.LastIndexByte(f.data[:at], '\n') + 1
		f.hit.End = len(f.data)
		if n := bytes.IndexByte(f.data[at:], '\n'); n >= 0 {
			f.hit.End = at + n
		}
	}
	if f.seen == nil {
		f.seen = make([]uint64, (len(f.set.literals)+63)/64)
	}
	word, bit := literal/64, uint64(1)<<(literal%64)
	if f.seen[word]&bit == 0 {
		f.seen[word] |= bit
		f.hit.IDs = append(f.hit.IDs, literal)
	}
}

// flush yields the line that has been collected.
func (f *finder) flush() {
	if len(f.hit.IDs) == 0 || f.done {
		return
	}
	f.done = !f.yield(f.hit)
	f.hit.IDs = f.hit.IDs[:0]
	clear(f.seen)
}

func equalFold(here []byte, low string) bool {
	for i, c := range here {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != low[i] {
			return false
		}
	}
	return true
}
