package scan

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

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
	f := finder{set: s, yield: yield}
	f.lines(data)
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

// finder is Lines for one data after the other.
type finder struct {
	set        *Set
	yield      func(Hit) bool
	data       []byte   // of a pass
	start, end int      // where that begins in what was given, and ends when it is a line without its escape sequences, else 0
	plain      []byte   // memory for such a line
	hit        Hit      // the line that literals are being found in, End is -1 before the first
	seen       []uint64 // which literals are in hit.IDs
	done       bool     // yield wants no more
}

func (f *finder) lines(data []byte) {
	for at := 0; at < len(data) && !f.done && len(f.set.literals) > 0; {
		start, end := escaped(data, at)
		f.start, f.end = at, 0
		f.pass(data[at:start])
		if start < end && !f.done {
			f.plain = Plain(f.plain[:0], data[start:min(end+1, len(data))])
			f.start, f.end = start, end
			f.pass(f.plain)
		}
		at = end + 1
	}
}

func (f *finder) pass(data []byte) {
	f.data = data
	f.hit = Hit{End: -1, IDs: f.hit.IDs[:0]}
	if f.set.stride == maxStride {
		f.wide()
	} else {
		f.two()
	}
	f.flush()
}

// wide looks at a gram every 5 bytes, four in a round and two rounds at a time: a test of bounds for 40 bytes, a branch for 20. Longer
// rounds gain less than looking again at all of one costs.
func (f *finder) wide() {
	table, rest := &f.set.table, f.data
	for len(rest) >= 40 && !f.done {
		w, at := (*[40]byte)(rest), len(f.data)-len(rest)
		a, b := table[place(binary.LittleEndian.Uint32(w[0:]))], table[place(binary.LittleEndian.Uint32(w[5:]))]
		c, d := table[place(binary.LittleEndian.Uint32(w[10:]))], table[place(binary.LittleEndian.Uint32(w[15:]))]
		if a|b|c|d != 0 {
			f.round(at, a|b<<1|c<<2|d<<3)
		}
		a, b = table[place(binary.LittleEndian.Uint32(w[20:]))], table[place(binary.LittleEndian.Uint32(w[25:]))]
		c, d = table[place(binary.LittleEndian.Uint32(w[30:]))], table[place(binary.LittleEndian.Uint32(w[35:]))]
		if a|b|c|d != 0 {
			f.round(at+20, a|b<<1|c<<2|d<<3)
		}
		rest = rest[40:]
	}
	f.narrow(len(f.data) - len(rest))
}

// round looks closer at those grams of a round that hits has a bit for.
func (f *finder) round(at int, hits uint8) {
	for ; hits != 0; hits &= hits - 1 {
		f.verify(at + maxStride*bits.TrailingZeros8(hits))
	}
}

// two is wide for every 2 bytes: the compiler needs the distances to be constants.
func (f *finder) two() {
	table, data, i := &f.set.table, f.data, 0
	for ; i+18 <= len(data) && !f.done; i += 16 {
		w := (*[18]byte)(data[i:])
		any := table[place(binary.LittleEndian.Uint32(w[0:]))] | table[place(binary.LittleEndian.Uint32(w[2:]))] |
			table[place(binary.LittleEndian.Uint32(w[4:]))] | table[place(binary.LittleEndian.Uint32(w[6:]))] |
			table[place(binary.LittleEndian.Uint32(w[8:]))] | table[place(binary.LittleEndian.Uint32(w[10:]))] |
			table[place(binary.LittleEndian.Uint32(w[12:]))] | table[place(binary.LittleEndian.Uint32(w[14:]))]
		if any != 0 {
			f.check(i, i+16)
		}
	}
	f.narrow(i)
}

// narrow looks at one gram after the other.
func (f *finder) narrow(from int) { f.check(from, len(f.data)-gramBytes+1) }

// check looks at the grams between two places, one after the other.
func (f *finder) check(from, to int) {
	for at := from; at < to && !f.done; at += f.set.stride {
		if f.set.table[place(binary.LittleEndian.Uint32(f.data[at:]))] != 0 {
			f.verify(at)
		}
	}
}

// verify compares the literals that have the gram at data[at:] with its neighbours, on one side.
func (f *finder) verify(at int) {
	s, data := f.set, f.data
	if at >= s.reach && at+8 <= len(data) {
		next, last := s.followed(binary.LittleEndian.Uint64(data[at:])), s.preceded(binary.LittleEndian.Uint64(data[at-s.reach:]))
		if (s.isAround(next)|s.isAround(last))&1 != 0 { // one branch: the processor cannot foresee more
			f.near(at, next)
			f.near(at, last)
		}
		return
	}
	if at+gramBytes+s.reach <= len(data) {
		f.near(at, s.followed(longGram(data[at:])))
	}
	if at >= s.reach {
		f.near(at, s.preceded(longGram(data[at-s.reach:])))
	}
}

// near compares the literals that have a gram with those neighbours.
func (f *finder) near(at int, near uint64) {
	s := f.set
	bucket, _ := placeAround(near)
	for _, g := range s.grams[s.starts[bucket]:s.starts[bucket+1]] {
		if g.near == near {
			f.compare(at-int(g.offset), g.literal)
		}
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
		f.hit.Start = f.lineOf(at)
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

// lineOf is where the line begins that data[at] is in. Where all lines have literals, looking forward from the last one is faster.
func (f *finder) lineOf(at int) int {
	if last := f.hit.End; 0 <= last && last < at && at-last < 1<<10 {
		if n := bytes.IndexByte(f.data[last+1:at], '\n'); n < 0 {
			return last + 1
		}
	}
	return bytes.LastIndexByte(f.data[:at], '\n') + 1
}

// flush yields the line that has been collected.
func (f *finder) flush() {
	if len(f.hit.IDs) == 0 || f.done {
		return
	}
	found := f.hit
	if f.end > 0 {
		found.Start, found.End = f.start, f.end
	} else {
		found.Start, found.End = f.start+found.Start, f.start+found.End
	}
	f.done = !f.yield(found)
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
