package live

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

// Backlog is a pipe whose writer waits only so long in all: when the reader is still too far behind then, what is oldest is skipped,
// so that the end, where a program says why it failed, is always read. The beginning, where it says what it is, is kept too.
type Backlog struct {
	// Patience is how long the writer may still be made to wait. It is set before the first use.
	Patience time.Duration

	mutex   sync.Mutex
	room    chan struct{} // closed when a waiting writer may go on
	changed sync.Cond
	chunks  [][]byte
	begin   int // how many of the chunks are the beginning
	written int
	size    int
	skipped int64
	closed  bool
}

// Write takes p. It never fails.
func (b *Backlog) Write(p []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.add(p)
	b.wake().Signal()
	for b.size > maxBacklog && b.Patience > 0 {
		b.wait()
	}
	for b.size > maxBacklog && len(b.chunks) > b.begin+2 {
		b.skip()
	}
	return len(p), nil
}

// add appends p to the last chunk if that is small, so that short lines do not make many chunks.
func (b *Backlog) add(p []byte) {
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
func (b *Backlog) wait() {
	room := make(chan struct{})
	b.room = room
	start := time.Now()
	b.mutex.Unlock()
	select {
	case <-room:
	case <-time.After(b.Patience):
	}
	b.mutex.Lock()
	b.room = nil
	b.Patience -= time.Since(start)
}

// skip drops the oldest chunk and the rest of the line that it cuts.
func (b *Backlog) skip() {
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
func (b *Backlog) Read(p []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	for len(b.chunks) > 0 && len(b.chunks[0]) == 0 || len(b.chunks) == 0 {
		if len(b.chunks) > 0 {
			b.chunks = b.chunks[1:]
			b.begin = max(b.begin-1, 0)
			continue
		}
		if b.closed {
			return 0, io.EOF
		}
		b.wake().Wait()
	}
	n := copy(p, b.chunks[0])
	b.chunks[0] = b.chunks[0][n:]
	b.size -= n
	if b.room != nil && b.size <= maxBacklog/2 {
		close(b.room)
		b.room = nil
	}
	return n, nil
}

// Close says that nothing more will be written.
func (b *Backlog) Close() error {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.closed = true
	b.wake().Signal()
	return nil
}

// Skipped is how many bytes were not read.
func (b *Backlog) Skipped() int64 {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.skipped
}

func (b *Backlog) wake() *sync.Cond {
	b.changed.L = &b.mutex
	return &b.changed
}
