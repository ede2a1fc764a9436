package scan

import (
	"errors"
	"io"
)

// fillAt reads the lines that begin in the slot's part of file, and follows the last of them to its end. A line belongs to the part
// that has the break before it, so that a part need not know what stands before it.
func (s *slot) fillAt(file io.ReaderAt, size int) {
	if s.buffer == nil {
		s.buffer = make([]byte, size+MaxLine+4*blockSize)
	}
	offset, eof := int64(s.number)*int64(size), false
	read := func(p span, n int) span {
		n, err := file.ReadAt(s.buffer[len(p.data):len(p.data)+n], offset)
		offset, eof = offset+int64(n), err != nil
		if err != nil && !errors.Is(err, io.EOF) {
			s.err = err
		}
		p.data = s.buffer[:len(p.data)+n]
		return p
	}
	p := read(span{}, size+pageSize)
	s.last = len(p.data) <= size
	start := 0
	if s.number > 0 {
		if start = lineBreak(p.data, 0) + 1; start == 0 || start > size {
			s.Data, s.Cuts = nil, nil
			return
		}
	}
	end := -1
	if len(p.data) > size {
		end = lineBreak(p.data, size)
	}
	if end < 0 && !eof {
		p.open = max(lastLineBreak(p.data)+1, start)
	}
	for end < 0 && !eof {
		p.drop()
		from := len(p.data) - 1
		p = read(p, blockSize)
		end = lineBreak(p.data, from)
	}
	if s.End = offset; end >= 0 {
		s.End -= int64(len(p.data) - end - 1)
	}
	s.cut(p, start, end)
}

// fill reads lines from src until there are enough for a chunk. It begins with rest, and returns what begins an unfinished line.
func (s *slot) fill(src *source, rest []byte, how Reading) []byte {
	front := how.chunk + 2*blockSize // rest stands before it, so that reads are aligned
	if s.buffer == nil {
		s.buffer = make([]byte, front+how.chunk+MaxLine+5*blockSize)
	}
	start := front - len(rest)
	copy(s.buffer[start:], rest)
	p, end := span{data: s.buffer[start:front]}, -1
	read := func(n int) {
		n = src.read(s.buffer[start+len(p.data):][:n])
		p.data = s.buffer[start : start+len(p.data)+n]
	}
	for enough := len(rest) + how.chunk; src.err == nil && len(p.data) < enough && !(how.Eager && lastLineBreak(p.data) >= 0); {
		read(enough - len(p.data))
	}
	if src.err == nil {
		end = lastLineBreak(p.data)
	}
	for src.err == nil && end < 0 {
		p.drop()
		from := len(p.data) - 1
		read(blockSize)
		end = lineBreak(p.data, from)
	}
	rest = nil
	if end >= 0 {
		rest = p.data[end+1:]
	}
	if s.last = src.err != nil && len(rest) == 0; s.last && !errors.Is(src.err, io.EOF) {
		s.err = src.err
	}
	s.End = src.taken - int64(len(rest))
	s.cut(p, 0, end)
	return rest
}

// source is a reader that remembers how it ended.
type source struct {
	reader io.Reader
	taken  int64 // bytes
	err    error
}

// read reads at least one byte, or sets err.
func (s *source) read(into []byte) (n int) {
	for range 100 {
		if n, s.err = s.reader.Read(into); n > 0 || s.err != nil {
			s.taken += int64(n)
			return n
		}
	}
	s.err = io.ErrNoProgress
	return 0
}

// cut makes the chunk of what stands from start up to and with the break at end, or to the end of p when that is negative.
func (s *slot) cut(p span, start, end int) {
	if end >= 0 {
		p.data = p.data[:end+1]
	}
	p.data, p.open = p.data[start:], p.open-start
	s.Cuts = p.finish()
	s.Data = p.data
}
