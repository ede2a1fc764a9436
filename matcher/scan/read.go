package scan

import (
	"bytes"
	"context"
	"io"
	"os"
)

// Reading says how a source is read. The zero value is right for most.
type Reading struct {
	Workers int  // goroutines that scan; below 1 means 1
	Eager   bool // hand on what one Read returned instead of waiting for a full chunk: for a source that grows

	chunk int // size of a chunk, a multiple of pageSize: for tests
}

// Read reads src to its end and calls yield with its chunks in order. A chunk, with all that it refers to, is overwritten after the
// next call of yield has returned. A regular file is read by all workers at once, from its beginning, anything else by one goroutine.
// The error is that of src or yield, or ctx's; what was read before it has been yielded. A Read of src that is under way when Read
// returns early is left to end by itself.
func (s *Set) Read(ctx context.Context, src io.Reader, how Reading, yield func(*Chunk) error) error {
	how.Workers = max(how.Workers, 1)
	if how.chunk == 0 {
		how.chunk = chunkSize
	}
	r := &reading{Reading: how, set: s, todo: make(chan *slot, how.Workers+3), read: make(chan *slot, how.Workers+3)}
	defer close(r.todo)
	slots := how.Workers + 2
	if file, size := regular(src); file != nil && !how.Eager {
		slots = int(min(int64(slots), size/int64(how.chunk)+2))
		for range min(how.Workers, slots) {
			go r.worker(file)
		}
	} else {
		go r.reader(src)
		for range how.Workers {
			go r.scanner()
		}
	}
	return r.collect(ctx, slots, yield)
}

// regular is src as a file whose parts can be read in any order. Files of size 0 are none: those of /proc have content all the same.
func regular(src io.Reader) (file io.ReaderAt, size int64) {
	f, ok := src.(*os.File)
	if !ok {
		return nil, 0
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return nil, 0
	}
	return f, info.Size()
}

// reading is one call of Read.
type reading struct {
	Reading
	set  *Set
	todo chan *slot // to be filled, in order
	read chan *slot // filled by reader, to be scanned
}

// slot holds a chunk while it goes round: filled, scanned, yielded, kept for the chunk after it, filled again.
type slot struct {
	Chunk
	number int // of the chunk
	buffer []byte
	ids    []int32 // of all Hits
	last   bool    // no chunk follows
	err    error
	ready  chan struct{}
}

func (r *reading) collect(ctx context.Context, slots int, yield func(*Chunk) error) error {
	var queue []*slot // as they are in the source
	next := 0
	fill := func(s *slot) {
		s.number, next = next, next+1
		queue = append(queue, s)
		r.todo <- s
	}
	for range slots {
		fill(&slot{ready: make(chan struct{}, 1)})
	}
	var before *slot
	line := int64(1)
	for {
		now := queue[0]
		queue = append(queue[:0], queue[1:]...)
		select {
		case <-now.ready:
		case <-ctx.Done():
			return ctx.Err()
		}
		again := now
		if len(now.Data) > 0 {
			now.Line, line = line, line+now.Lines
			now.Before = nil
			if before != nil {
				now.Before = before.Data
			}
			if err := yield(&now.Chunk); err != nil {
				return err
			}
			again, before = before, now
		}
		if now.last || now.err != nil {
			return now.err
		}
		if again != nil {
			fill(again)
		}
	}
}

// worker reads and scans chunks of a file.
func (r *reading) worker(file io.ReaderAt) {
	for s := range r.todo {
		s.fillAt(file, r.chunk)
		s.scan(r.set)
	}
}

func (r *reading) scanner() {
	for s := range r.read {
		s.scan(r.set)
	}
}

// reader fills one chunk after the other.
func (r *reading) reader(src io.Reader) {
	defer close(r.read)
	from, rest := &source{reader: src}, []byte(nil)
	for s := range r.todo {
		rest = s.fill(from, rest, r.Reading)
		r.read <- s
		if s.last {
			return
		}
	}
}

// scan finds the literals and counts the lines.
func (s *slot) scan(set *Set) {
	s.Hits, s.ids, s.Lines = s.Hits[:0], s.ids[:0], 0
	counted := 0
	set.Lines(s.Data, func(hit Hit) {
		s.Lines += int64(bytes.Count(s.Data[counted:hit.Start], []byte{'\n'}))
		counted = hit.Start
		s.ids = append(s.ids, hit.IDs...)
		hit.IDs = s.ids[len(s.ids)-len(hit.IDs) : len(s.ids) : len(s.ids)]
		hit.Line = s.Lines
		s.Hits = append(s.Hits, hit)
	})
	s.Lines += int64(bytes.Count(s.Data[counted:], []byte{'\n'}))
	s.ready <- struct{}{}
}
