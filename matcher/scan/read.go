package scan

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"slices"
	"sync/atomic"
)

// Reading says how a source is read. The zero value is right for most.
type Reading struct {
	Workers int  // goroutines that scan; below 1 means 1
	Eager   bool // hand on what one Read returned instead of waiting for more: for a source that grows

	// Keep decides of each line with literals, without its line break, whether it is one of a chunk's hits; nil keeps all. All
	// workers call it at once. It may ask which literals the line has, which takes longer than to see that it has one: their numbers
	// are as those of a Hit.
	Keep func(line []byte, literals func() []int32) bool

	// First decides of the first lines of a source, as many as FirstLines and some more, whether they are hits too, whatever literals
	// they have. Workers call it as they do Keep. The hits of lines without literals have no IDs.
	First      func(line []byte) bool
	FirstLines int

	Block int // bytes read at a time, at the beginning fewer; 256 KiB when it is 0
}

// Read reads src to its end and calls yield with its chunks, in order, which together are all of src. Data of a chunk stays as it
// is until yield has returned for the two chunks after it, a piece of a line only until yield returns. A regular file that nothing has
// been read of is read by all workers at once, anything else by one goroutine. The error is that of src or yield, or ctx's; what was
// read before it has been yielded. A Read of src that is under way when Read returns early is left to end by itself.
func (s *Set) Read(ctx context.Context, src io.Reader, how Reading, yield func(*Chunk) error) error {
	how.Workers = max(how.Workers, 1)
	if how.Block == 0 {
		how.Block = blockSize
	}
	blocks := min(ahead*how.Workers, allAhead) + few
	r := &reading{Reading: how, set: s, todo: make(chan *block, blocks), read: make(chan *block, blocks)}
	defer close(r.todo)
	if file, size := regular(src); file != nil && !how.Eager {
		blocks = int(min(int64(blocks), size/int64(r.size(0))+2))
		for range min(how.Workers, blocks) {
			go r.worker(file)
		}
	} else {
		go r.reader(src)
		for range how.Workers {
			go r.scanner()
		}
	}
	return r.collect(ctx, blocks, yield)
}

const (
	few      = 3  // blocks that hold what has been joined and may still be looked at
	ahead    = 4  // blocks of each worker: with fewer, workers often sleep while there is much to say of one block
	allAhead = 16 // blocks of all workers: memory counts too
)

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
	if at, err := f.Seek(0, io.SeekCurrent); err != nil || at != 0 {
		return nil, 0
	}
	return f, info.Size()
}

// reading is one call of Read.
type reading struct {
	Reading
	set   *Set
	todo  chan *block  // to be filled, in order
	read  chan *block  // filled by reader, to be scanned
	lines atomic.Int64 // that have been joined
}

// first is First as long as lines that are scanned now may be among the first.
func (r *reading) first() func([]byte) bool {
	if r.lines.Load() >= int64(r.FirstLines) {
		return nil
	}
	return r.First
}

// collect sends blocks round: they are filled, scanned, joined, kept for the block after them, and filled again.
func (r *reading) collect(ctx context.Context, blocks int, yield func(*Chunk) error) error {
	var queue []*block // as they are in the source
	next := int64(0)
	fill := func(b *block) {
		b.at, b.size = next, r.size(next)
		next += int64(b.size)
		queue = append(queue, b)
		r.todo <- b
	}
	for range blocks {
		fill(&block{ready: make(chan struct{}, 1)})
	}
	joined := joiner{ctx: ctx, read: r, yield: yield, line: 1}
	var kept []*block // chunks of theirs may still be seen
	for {
		now := queue[0]
		queue = append(queue[:0], queue[1:]...)
		select {
		case <-now.ready:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := joined.add(now); err != nil {
			return err
		}
		if now.last || now.err != nil {
			if err := joined.close(); err != nil {
				return err
			}
			return now.err
		}
		kept = slices.DeleteFunc(append(kept, now), func(b *block) bool {
			unseen := joined.chunks >= b.seen+2
			if unseen {
				fill(b)
			}
			return unseen
		})
	}
}

// size is that of the block at a place.
func (r *reading) size(at int64) int {
	if at < firstBlocks*int64(r.Block) {
		return max(r.Block/firstParts, 1)
	}
	return r.Block
}

// The first lines take longest: all of them are looked at closely, their kinds are new, and what it takes to decide about them is got
// ready. They come in parts of blocks, so that the workers share that, and what is found in one is not looked for in the next.
const (
	firstBlocks = 4
	firstParts  = 16
)

// worker reads and scans blocks of a file.
func (r *reading) worker(file io.ReaderAt) {
	for b := range r.todo {
		b.reserve()
		n, err := file.ReadAt(b.buffer, b.at)
		b.filled(n, err)
		b.scan(r)
		b.ready <- struct{}{}
		runtime.Gosched() // while the block is in the cache
	}
}

// reader fills one block after the other.
func (r *reading) reader(src io.Reader) {
	defer close(r.read)
	for b := range r.todo {
		b.reserve()
		n, err := 0, error(nil)
		for empty := 0; n < b.size && err == nil && (n == 0 || !r.Eager); {
			m := 0
			m, err = src.Read(b.buffer[n:])
			if m > 0 {
				n, empty = n+m, 0
			} else if empty++; empty == 100 {
				err = io.ErrNoProgress
			}
		}
		b.filled(n, err)
		r.read <- b
		if b.last {
			return
		}
	}
}

func (r *reading) scanner() {
	for b := range r.read {
		b.scan(r)
		b.ready <- struct{}{}
	}
}

// reserve makes room for what the block is to hold.
func (b *block) reserve() {
	if cap(b.buffer) < b.size {
		b.buffer = make([]byte, b.size)
	}
	b.buffer = b.buffer[:b.size]
}

// filled notes what a read gave.
func (b *block) filled(n int, err error) {
	b.data, b.last = b.buffer[:n], err != nil
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
}
