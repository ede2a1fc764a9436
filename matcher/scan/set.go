// Package scan reads logs as fast as the machine delivers them and finds the few lines that are worth a closer look: those that
// contain one of many literals. A Set finds the literals in one pass over raw bytes, and Set.Read cuts a source of any size into chunks of
// whole lines, with several workers and in bounded memory.
//
// The search is written here, not taken from a library, because its speed is what the tool stands on, and because it must tell lines,
// not places, and see literals behind a terminal's escape sequences.
package scan

import (
	"encoding/binary"
	"fmt"
	"iter"
	"strings"
)

// Set finds many literals in one pass. It does not change after New, so that several goroutines may share it.
//
// It looks at four bytes (a gram) every stride bytes. A literal of stride+3 bytes has, wherever it stands, a gram at such a place, so
// the stride of the shortest literal does for all. A table says for most grams that no literal has them. A bitmap says for most of
// the rest that none has them and the bytes after or before them; from here on bit 5 is folded away, which makes the two cases of a
// letter one. A comparison decides.
type Set struct {
	literals []Literal
	ends     []uint64 // the last 8 bytes of each that has so many, folded
	stride   int
	table    [tableSize]uint8    // 1 where a gram of a literal may be
	around   [bucketCount]uint64 // of grams with their neighbours: per bucket, a bit for each of 64 finer ones
	reach    int                 // how many bytes those are
	starts   [bucketCount + 1]int32
	grams    []gram // of bucket i of around: grams[starts[i]:starts[i+1]]
}

// gram is four bytes of a literal, at most stride of them per literal.
type gram struct {
	near    uint64 // the gram with its neighbours: followed or preceded by them
	literal int32
	offset  int32 // in the literal
}

// A table of bytes takes fewer instructions than one of bits. It is made for the second cache: what is common in a log stays in the
// first, and where literals leave more than one place in a hundred, survivors cost more.
const (
	tableBits = 18
	tableSize = 1 << tableBits
)

const (
	bucketBits   = 12
	bucketCount  = 1 << bucketBits
	foldMask     = 0x20202020
	longFoldMask = foldMask<<32 | foldMask
	gramBytes    = 4
	maxStride    = WideLiteral - gramBytes + 1 // longer strides gained nothing
	minStride    = MinLiteral - gramBytes + 1
)

// New prepares to look for the literals. It refuses literals that are shorter than MinLiteral, and those with a line break that is not
// their end.
func New(literals []Literal) (*Set, error) {
	s := &Set{literals: make([]Literal, len(literals)), ends: make([]uint64, len(literals)), stride: maxStride}
	for i, l := range literals {
		if !Takes(l) {
			return nil, fmt.Errorf("scan: literal %q has fewer than %d bytes or a line break that is not its end", l.Text, MinLiteral)
		}
		if l.Fold {
			l.Text = lower(l.Text)
		}
		s.literals[i], s.ends[i] = l, longGram([]byte(l.Text[max(0, len(l.Text)-8):]))|longFoldMask
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
	spots := make([]spot, s.stride)
	for i, l := range s.literals {
		rarestGrams(spots, l.Text, s.reach)
		for _, o := range spots {
			at := o.at
			g := gram{literal: int32(i), offset: int32(at)}
			if o.before {
				g.near = s.preceded(longGram([]byte(l.Text[at-s.reach : at+gramBytes])))
			} else {
				g.near = s.followed(longGram([]byte(l.Text[at : at+gramBytes+s.reach])))
			}
			unsorted = append(unsorted, g)
			bucket, bit := placeAround(g.near)
			s.around[bucket] |= 1 << bit
			s.starts[bucket+1]++
			for g := range cases(l.Text[at:at+gramBytes], l.Fold) {
				s.table[place(g)] = 1
			}
		}
	}
	for i := range bucketCount {
		s.starts[i+1] += s.starts[i]
	}
	s.grams = make([]gram, len(unsorted))
	next := s.starts // where the next gram of each bucket goes
	for _, g := range unsorted {
		bucket, _ := placeAround(g.near)
		s.grams[next[bucket]] = g
		next[bucket]++
	}
}

// cases are the grams that stand for one of a literal: itself, or with its letters in either case.
func cases(text string, fold bool) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		gram, letters := uint32(0), uint32(0)
		for i := range gramBytes {
			gram |= uint32(text[i]) << (8 * i)
			if fold && 'a' <= text[i] && text[i] <= 'z' {
				letters |= 0x20 << (8 * i)
			}
		}
		for upper := letters; yield(gram&^upper) && upper > 0; {
			upper = (upper - 1) & letters
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

// place says where the table has a gram.
func place(gram uint32) uint32 { return gram * 0x9E3779B1 >> (32 - tableBits) }

// longGram is a short text, or the beginning of a longer one, as it lies in memory.
func longGram(text []byte) uint64 {
	if len(text) >= 8 {
		return binary.LittleEndian.Uint64(text)
	}
	var room [8]byte
	copy(room[:], text)
	return binary.LittleEndian.Uint64(room[:])
}

// followed is a folded gram with the bytes after it, of which there are as many as reach.
func (s *Set) followed(g uint64) uint64 {
	return (g | longFoldMask) << (8 * (gramBytes - s.reach))
}

// preceded is the same with the bytes before it, marked in its lowest bit.
func (s *Set) preceded(g uint64) uint64 { return s.followed(g) | 1 }

// placeAround says which bit of which bucket stands for a gram with its neighbours.
func placeAround(near uint64) (bucket, bit uint64) {
	h := near * 0x9E3779B97F4A7C15
	return h >> (64 - bucketBits), h >> (64 - bucketBits - 6) & 63
}

// isAround is 1 (among higher bits of no meaning) when some literal may have that gram with those neighbours.
func (s *Set) isAround(near uint64) uint64 {
	bucket, bit := placeAround(near)
	return s.around[bucket] >> bit
}
