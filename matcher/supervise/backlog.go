package supervise

import (
	"bytes"
	"io"
	"slices"
	"sync"
	"time"
)

// What a Backlog holds, in bytes.
const (
	maxBacklog = 16 << 20
	maxBegin   = 1 << 20
	chunkSize  = 64 << 10
)

// backlog is a pipe whose writer waits only so long in all: when the reader is still too far behind then, what is oldest is skipped,
// so that the end, where a program says why it failed, is always read. The beginning, where it says what it is, is kept too.
type backlog struct {
	mutex    sync.Mutex
	changed  *sync.Cond    // there is something to read, or there will be nothing more
	room     chan struct{} // closed when a waiting writer may go on
	patience time.Duration // how long the writer may still be made to wait
	chunks   [][]byte
	begin    int // how many of the chunks are the beginning
	written  int
	size     int
	skipped  int64
	closed   bool
	unread   bool // nobody reads any more
}

// newBacklog returns a backlog whose writer waits for as long as patience in all.
func newBacklog(patience time.Duration) *backlog {
	b := &backlog{patience: patience}
	b.changed = sync.NewCond(&b.mutex)
	return b
}

// Write takes p. It never fails.
func (b *backlog) Write(p []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.unread {
		return len(p), nil
	}
	b.add(p)
	b.changed.Signal()
	for b.size > maxBacklog && b.patience > 0 {
		b.wait()
	}
	for b.size > maxBacklog && len(b.chunks) > b.begin+2 {
		b.skip()
	}
	return len(p), nil
}

// add appends p to the last chunk if that is small, so that short lines do not make many chunks.
func (b *backlog) add(p []byte) {
	last := len(b.chunks) - 1
	beginning := b.written < maxBegin
	if last >= 0 && (last >= b.begin || beginning) && len(b.chunks[last])+len(p) <= chunkSize {
		b.chunks[last] = append(b.chunks[last], p...)
	} else {
		b.chunks = append(b.chunks, bytes.Clone(p))
		if beginning && b.begin == len(b.chunks)-1 {
			b.begin++
		}
	}
	b.size += len(p)
	b.written += len(p)
}

// wait waits for the reader as long as patience lasts.
func (b *backlog) wait() {
	room := make(chan struct{})
	b.room = room
	start := time.Now()
	b.mutex.Unlock()
	select {
	case <-room:
	case <-time.After(b.patience):
	}
	b.mutex.Lock()
	b.room = nil
	b.patience -= time.Since(start)
}

// skip drops the oldest chunk and the rest of the line that it cuts.
func (b *backlog) skip() {
	at := b.begin
	dropped := len(b.chunks[at])
	next := b.chunks[at+1]
	if end := bytes.IndexByte(next, '\n') + 1; end > 0 {
		dropped += end
		next = next[end:]
	}
	b.chunks = slices.Delete(b.chunks, at, at+1)
	b.chunks[at] = next
	b.size -= dropped
	b.skipped += int64(dropped)
}

// Read waits for something to read. It gives io.EOF when everything was read and the writer is done.
func (b *backlog) Read(p []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	for len(b.chunks) == 0 || len(b.chunks[0]) == 0 {
		if len(b.chunks) > 0 {
			b.chunks = b.chunks[1:]
			b.begin = max(b.begin-1, 0)
			continue
		}
		if b.closed {
			return 0, io.EOF
		}
		b.changed.Wait()
	}
	n := copy(p, b.chunks[0])
	b.chunks[0] = b.chunks[0][n:]
	b.size -= n
	if b.size <= maxBacklog/2 {
		b.letGo()
	}
	return n, nil
}

// letGo lets a waiting writer go on.
func (b *backlog) letGo() {
	if b.room != nil {
		close(b.room)
		b.room = nil
	}
}

// GiveUp says that nobody will read any more: what is written from now on is dropped, and nobody waits.
func (b *backlog) GiveUp() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.unread, b.chunks, b.size = true, nil, 0
	b.letGo()
}

// Close says that nothing more will be written.
func (b *backlog) Close() error {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.closed = true
	b.changed.Signal()
	return nil
}

// Skipped is how many bytes were not read.
func (b *backlog) Skipped() int64 {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.skipped
}
