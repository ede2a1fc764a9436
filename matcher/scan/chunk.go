package scan

import (
	"bytes"
	"context"
)

const (
	// LongLine is the length in bytes up to which a line is handed on whole, however a source is read.
	LongLine = 64 << 10

	blockSize = 256 << 10 // of what is read at a time: it fits the processor's second cache, and its alignment makes reads fast
)

// Chunk is a run of whole lines of a source. Lines end at \n, which only the last line of a source may lack.
type Chunk struct {
	Data  []byte
	Open  bool  // Data is a piece of a line longer than LongLine, and not the last unless the source ends
	Line  int64 // number of the first line in Data, from 1
	Lines int64 // how many \n are in Data
	End   int64 // bytes of the source up to the end of Data
	Hits  []Hit // the lines of Data with literals, unless Data is a piece of a line
	Long  []int // where lines longer than LongLine begin in Data
}

// block is a part of a source, with the lines that are whole in it as a Chunk.
type block struct {
	at     int64 // where it begins in the source, if those before it were filled
	size   int   // of what is to be read
	data   []byte
	buffer []byte
	start  int // where whole begins
	whole  Chunk
	ids    []int32 // of all hits
	seen   int     // number of its last chunk, 2 less than any when it had none
	last   bool    // no block follows
	err    error
	ready  chan struct{}
}

// scan finds the whole lines, the literals in them, and counts them. The first block begins with a line, others in the middle of one.
func (b *block) scan(r *reading) {
	start, end := 0, 0
	if first := bytes.IndexByte(b.data, '\n'); first >= 0 { // looking for the last one is slow where there is none
		end = bytes.LastIndexByte(b.data, '\n') + 1
		if b.at > 0 {
			start = first + 1
		}
	}
	b.start = start
	b.whole = Chunk{Data: b.data[start:max(start, end)], Hits: b.whole.Hits[:0], Long: b.whole.Long[:0]}
	b.ids = r.scan(&b.whole, b.ids[:0])
	for at := 0; len(b.whole.Data)-at > LongLine; {
		n := bytes.LastIndexByte(b.whole.Data[at:at+LongLine], '\n') + 1
		if n == 0 {
			b.whole.Long = append(b.whole.Long, at)
			n = bytes.IndexByte(b.whole.Data[at:], '\n') + 1
		}
		at += n
	}
}

// pieceSize is how much is looked at in all ways before what follows is: it fits the processor's first cache.
const pieceSize = 16 << 10

// scan sets the hits of c and counts its lines. The IDs of the hits are appended to ids.
func (r *reading) scan(c *Chunk, ids []int32) []int32 {
	s := sifting{Chunk: c, ids: ids, first: r.first()}
	f, at := finder{set: r.set}, 0
	literals := f.literals
	f.yield = func(from, to int) bool {
		from, to = at+from, at+to
		s.ask(from)
		s.asked = to + 1
		line := c.Data[from:to]
		if r.Keep == nil || r.Keep(line, literals) || s.first != nil && s.first(line) {
			s.hit(from, to, literals())
		}
		return true
	}
	for at < len(c.Data) {
		end := len(c.Data)
		if n := bytes.IndexByte(c.Data[min(at+pieceSize, end):], '\n'); n >= 0 {
			end = at + pieceSize + n + 1
		}
		f.lines(c.Data[at:end])
		s.ask(end)
		s.count(end)
		at = end
	}
	return s.ids
}

// sifting is how far the hits of a chunk have been found.
type sifting struct {
	*Chunk
	ids     []int32
	first   func(line []byte) bool // nil when none of the chunk's lines is among the first
	asked   int                    // where the next line begins that first may be asked about
	counted int                    // up to where lines are counted
}

func (s *sifting) count(to int) {
	s.Lines += int64(bytes.Count(s.Data[s.counted:to], []byte{'\n'}))
	s.counted = to
}

func (s *sifting) hit(from, to int, literals []int32) {
	s.count(from)
	n := len(s.ids)
	s.ids = append(s.ids, literals...)
	s.Hits = append(s.Hits, Hit{from, to, s.Lines, s.ids[n:len(s.ids):len(s.ids)]})
}

// ask asks about the lines up to a place, which have no literals.
func (s *sifting) ask(to int) {
	for s.first != nil && s.asked < to {
		from, end := s.asked, LineEnd(s.Data, s.asked)
		if s.first(s.Data[from:end]) {
			s.hit(from, end, nil)
		}
		s.asked = end + 1
	}
}

// joiner yields what is in blocks that are given in order, with the lines that lie across their edges.
type joiner struct {
	ctx     context.Context
	read    *reading
	yield   func(*Chunk) error
	line    int64     // number of the next line
	end     int64     // bytes that were yielded
	chunks  int       // that were yielded
	edge    []byte    // what has been read of a line that lies across edges
	spare   [2][]byte // the two edges before, which may still be seen
	partial bool      // of a long line pieces have been yielded
}

func (j *joiner) add(b *block) error {
	if b.start > 0 {
		if err := j.piece(b.data[:b.start], true); err != nil {
			return err
		}
	}
	if err := j.hand(&b.whole); err != nil {
		return err
	}
	b.seen = j.chunks
	if len(b.whole.Data) == 0 {
		b.seen -= 2
	}
	return j.piece(b.data[b.start+len(b.whole.Data):], false)
}

// piece takes a part of a line that lies across edges; ended tells that it is its last.
func (j *joiner) piece(part []byte, ended bool) error {
	if !j.partial && len(j.edge)+len(part) <= LongLine {
		j.edge = append(j.edge, part...)
		if !ended {
			return nil
		}
		return j.close()
	}
	if len(j.edge) > 0 {
		if err := j.hand(&Chunk{Data: j.edge, Open: true}); err != nil {
			return err
		}
		j.turn()
	}
	c := Chunk{Data: part, Open: !ended}
	if ended {
		c.Lines = 1
	}
	j.partial = !ended
	return j.hand(&c)
}

// close hands on the line that lay across edges.
func (j *joiner) close() error {
	c := Chunk{Data: j.edge}
	j.read.scan(&c, nil)
	j.turn()
	return j.hand(&c)
}

// turn begins a new edge.
func (j *joiner) turn() { j.edge, j.spare[0], j.spare[1] = j.spare[1][:0], j.edge, j.spare[0] }

func (j *joiner) hand(c *Chunk) error {
	if len(c.Data) == 0 {
		return nil
	}
	if err := j.ctx.Err(); err != nil {
		return err
	}
	c.Line = j.line
	j.line += c.Lines
	j.read.lines.Store(j.line - 1)
	j.end += int64(len(c.Data))
	c.End = j.end
	j.chunks++
	return j.yield(c)
}
