package scan

import (
	"bytes"
	"fmt"
)

// A source is cut into chunks where a line or a state of a progress bar ends: after \n, or after \r that no \n follows. Between two
// cuts there may be any number of bytes, and MaxLine bounds how many are kept.
const (
	// MaxLine is the most bytes kept between two line breaks (\n or \r). Of more, the first and the last half are kept.
	MaxLine   = 128 << 10
	chunkSize = 256 << 10 // fits the processor's second cache
	blockSize = 64 << 10  // read at a time when a line goes on past its chunk
	pageSize  = 4 << 10   // reads that are aligned to it are several times faster
)

// Chunk is a run of whole lines of a source.
type Chunk struct {
	Data   []byte // ends with a line break, but for the last one of a source
	Before []byte // Data of the chunk before it, nil for the first
	Line   int64  // number of the line that Data begins in, from 1; lines end at \n
	Lines  int64  // how many \n are in Data
	End    int64  // bytes of the source up to the end of Data
	Hits   []Hit  // the lines of Data with literals
	Cuts   []int  // offsets in Data where the middle of an overlong line was left out
}

// lineBreak is the index of the first break at or after from, -1 when there is none. A \r that ends data is none: \n may follow.
func lineBreak(data []byte, from int) int {
	end := len(data)
	newline := bytes.IndexByte(data[from:], '\n')
	if newline >= 0 {
		end = from + newline
	}
	for i := from; i < end; i++ {
		cr := bytes.IndexByte(data[i:end], '\r')
		if cr < 0 {
			break
		}
		if i += cr; i+1 < len(data) && data[i+1] != '\n' {
			return i
		}
	}
	if newline >= 0 {
		return end
	}
	return -1
}

// lastLineBreak is the index of the last break in data, -1 when there is none.
func lastLineBreak(data []byte) int {
	newline := bytes.LastIndexByte(data, '\n')
	for end := len(data) - 1; end > newline; {
		cr := bytes.LastIndexByte(data[newline+1:end], '\r')
		if cr < 0 {
			break
		}
		if end = newline + 1 + cr; data[end+1] != '\n' {
			return end
		}
	}
	return newline
}

// kept is how much of either end of an overlong line is kept. The mark between them fits into the rest of MaxLine.
const kept = MaxLine/2 - 32

// span is the part of a source that becomes a chunk. A line that is followed past the chunk begins at open; when it has grown too
// long its middle is left out: dropped bytes are missing at data[open+kept:].
type span struct {
	data    []byte
	open    int
	dropped int64
}

// drop leaves out what finish does not need of the line at open.
func (s *span) drop() {
	from, to := s.open+kept, len(s.data)-kept-(MaxLine-2*kept)
	if to-from < 2*blockSize {
		return
	}
	s.dropped += int64(to - from)
	s.data = append(s.data[:from], s.data[to:]...)
}

// finish shortens the overlong lines, in place. It returns where their middles were.
func (s *span) finish() (cuts []int) {
	data, at := s.data, 0
	if s.dropped == 0 {
		s.open = len(data)
	}
	for s.open-at > MaxLine {
		if n := lastLineBreak(data[at : at+MaxLine]); n >= 0 {
			at += n + 1
			continue
		}
		end := s.open
		if n := lineBreak(data, at); n >= 0 {
			end = min(end, n+1)
		}
		if end-at > MaxLine {
			less := len(data)
			data = leaveOut(data, at+kept, end-kept, 0)
			less -= len(data)
			cuts = append(cuts, at+kept)
			end, s.open = end-less, s.open-less
		}
		at = end
	}
	if s.dropped > 0 {
		data = leaveOut(data, s.open+kept, len(data)-kept, s.dropped)
		cuts = append(cuts, s.open+kept)
	}
	s.data = data
	return cuts
}

// leaveOut puts a mark in place of data[from:to], which already lacks dropped bytes.
func leaveOut(data []byte, from, to int, dropped int64) []byte {
	mark := fmt.Appendf(nil, " [... %d bytes ...] ", dropped+int64(to-from))
	return append(append(data[:from], mark...), data[to:]...)
}
