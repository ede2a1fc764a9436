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
	f := finder{set: s}
	f.yield = func(start, end int) bool { return yield(Hit{Start: start, End: end, IDs: f.literals()}) }
	f.lines(data)
}

// In tells whether a line contains a literal of the set.
func (s *Set) In(line []byte) bool {
	found := false
	f := finder{set: s, yield: func(int, int) bool {
		found = true
		return false
	}}
	f.lines(line)
	return found
}

// finder finds the lines with literals in one data after the other.
type finder struct {
	set   *Set
	yield func(start, end int) (more bool) // takes a line; the finder goes on behind it
	done  bool                             // yield wants no more
	data  []byte                           // of a pass
	from  int                              // where that begins in what was given
	to    int                              // where it ends there when it is a line without its escape sequences, else 0
	plain []byte                           // memory for such a line

	// The line that was found last.
	start, end int      // in data
	next       int      // where the one after it begins
	gathering  bool     // all its literals are looked for
	ids        []int32  // those
	seen       []uint64 // which they are
}

func (f *finder) lines(data []byte) {
	for at := 0; at < len(data) && !f.done && len(f.set.literals) > 0; {
		start, end := escaped(data, at)
		f.from, f.to = at, 0
		f.pass(data[at:start])
		if start < end && !f.done {
			f.plain = Plain(f.plain[:0], data[start:min(end+1, len(data))])
			f.from, f.to = start, end
			f.pass(f.plain)
		}
		at = end + 1
	}
}

func (f *finder) pass(data []byte) {
	f.data, f.next = data, 0
	if f.set.stride == maxStride {
		f.wide()
	} else {
		f.two()
	}
}

// wide looks at a gram every 5 bytes, four in a round and two rounds at a time: a test of bounds for 40 bytes, a branch for 20. Longer
// rounds gain less than looking again at all of one costs.
func (f *finder) wide() {
	table, rest := &f.set.table, f.data
	for len(rest) >= 40 {
		w, at := (*[40]byte)(rest), len(f.data)-len(rest)
		a, b := table[place(binary.LittleEndian.Uint32(w[0:]))], table[place(binary.LittleEndian.Uint32(w[5:]))]
		c, d := table[place(binary.LittleEndian.Uint32(w[10:]))], table[place(binary.LittleEndian.Uint32(w[15:]))]
		if a|b|c|d != 0 && f.round(at, a|b<<1|c<<2|d<<3) {
			rest = f.data[f.next:]
			continue
		}
		a, b = table[place(binary.LittleEndian.Uint32(w[20:]))], table[place(binary.LittleEndian.Uint32(w[25:]))]
		c, d = table[place(binary.LittleEndian.Uint32(w[30:]))], table[place(binary.LittleEndian.Uint32(w[35:]))]
		if a|b|c|d != 0 && f.round(at+20, a|b<<1|c<<2|d<<3) {
			rest = f.data[f.next:]
			continue
		}
		rest = rest[40:]
	}
	f.narrow(len(f.data) - len(rest))
}

// round looks closer at those grams of a round that hits has a bit for, until one is of a literal.
func (f *finder) round(at int, hits uint8) (found bool) {
	for ; hits != 0; hits &= hits - 1 {
		if f.verify(at + maxStride*bits.TrailingZeros8(hits)) {
			return true
		}
	}
	return false
}

// two is wide for every 2 bytes: the compiler needs the distances to be constants.
func (f *finder) two() {
	table, data, i := &f.set.table, f.data, 0
	for i+18 <= len(data) {
		w := (*[18]byte)(data[i:])
		any := table[place(binary.LittleEndian.Uint32(w[0:]))] | table[place(binary.LittleEndian.Uint32(w[2:]))] |
			table[place(binary.LittleEndian.Uint32(w[4:]))] | table[place(binary.LittleEndian.Uint32(w[6:]))] |
			table[place(binary.LittleEndian.Uint32(w[8:]))] | table[place(binary.LittleEndian.Uint32(w[10:]))] |
			table[place(binary.LittleEndian.Uint32(w[12:]))] | table[place(binary.LittleEndian.Uint32(w[14:]))]
		if any != 0 && f.check(i, i+16) {
			i = f.next
		} else {
			i += 16
		}
	}
	f.narrow(i)
}

// narrow looks at one gram after the other.
func (f *finder) narrow(from int) {
	for f.check(from, len(f.data)-gramBytes+1) {
		from = f.next
	}
}

// check looks at the grams that begin between two places, until one is of a literal.
func (f *finder) check(from, to int) (found bool) {
	for at := from; at < to; at += f.set.stride {
		if f.set.table[place(binary.LittleEndian.Uint32(f.data[at:]))] != 0 && f.verify(at) {
			return true
		}
	}
	return false
}

// verify compares the literals that have the gram at data[at:] with its neighbours, on one side, until one is there.
func (f *finder) verify(at int) (found bool) {
	s, data := f.set, f.data
	if at >= s.reach && at+8 <= len(data) {
		next, last := s.followed(binary.LittleEndian.Uint64(data[at:])), s.preceded(binary.LittleEndian.Uint64(data[at-s.reach:]))
		// One branch, where two would go astray more often.
		return (s.isAround(next)|s.isAround(last))&1 != 0 && (f.near(at, next) || f.near(at, last))
	}
	return at+gramBytes+s.reach <= len(data) && f.near(at, s.followed(longGram(data[at:]))) ||
		at >= s.reach && f.near(at, s.preceded(longGram(data[at-s.reach:])))
}

// near compares the literals that have a gram with those neighbours, until one is there.
func (f *finder) near(at int, near uint64) (found bool) {
	s := f.set
	bucket, _ := placeAround(near)
	for _, g := range s.grams[s.starts[bucket]:s.starts[bucket+1]] {
		if g.near != near || !f.stands(at-int(g.offset), g.literal) {
			continue
		}
		if !f.gathering {
			f.line(at - int(g.offset))
			return true
		}
		f.add(g.literal)
	}
	return false
}

// stands tells whether a literal begins at data[start]. The last bytes of literals differ more often than those that were looked at.
func (f *finder) stands(start int, literal int32) bool {
	l := &f.set.literals[literal]
	end := start + len(l.Text)
	if start < 0 || end > len(f.data) || len(l.Text) >= 8 && binary.LittleEndian.Uint64(f.data[end-8:])|longFoldMask != f.set.ends[literal] {
		return false
	}
	return string(f.data[start:end]) == l.Text || l.Fold && equalFold(f.data[start:end], l.Text)
}

// line yields the line with data[at].
func (f *finder) line(at int) {
	f.start, f.end, f.ids = f.lineOf(at), LineEnd(f.data, at), f.ids[:0]
	f.next = min(f.end+1, len(f.data))
	start, end := f.from+f.start, f.from+f.end
	if f.to > 0 {
		start, end = f.from, f.to
	}
	f.done = !f.yield(start, end)
	if f.done {
		f.next = len(f.data)
	}
}

// lineOf is where the line begins that data[at] is in. Where all lines have literals, looking forward from the last one is faster.
func (f *finder) lineOf(at int) int {
	if at-f.next < 1<<10 && bytes.IndexByte(f.data[f.next:at], '\n') < 0 {
		return f.next
	}
	return bytes.LastIndexByte(f.data[:at], '\n') + 1
}

// LineEnd is where the line ends that data[at] is in: its \n, or the end of data.
func LineEnd(data []byte, at int) int {
	if n := bytes.IndexByte(data[at:], '\n'); n >= 0 {
		return at + n
	}
	return len(data)
}

// literals are those of the line that was found, each once.
func (f *finder) literals() []int32 {
	if len(f.ids) > 0 {
		return f.ids
	}
	if f.seen == nil {
		f.seen = make([]uint64, (len(f.set.literals)+63)/64)
	}
	clear(f.seen)
	f.gathering = true
	f.check(f.start, min(f.end+1, len(f.data))-gramBytes+1) // a literal may end with the line break
	f.gathering = false
	return f.ids
}

func (f *finder) add(literal int32) {
	if word, bit := literal/64, uint64(1)<<(literal%64); f.seen[word]&bit == 0 {
		f.seen[word] |= bit
		f.ids = append(f.ids, literal)
	}
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
