// Package loglinetest reads whole logs line by line, for tests: as plainly as can be, so that it can judge faster ways.
package loglinetest

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/gpu-triage/triage/matcher/logline"
)

// Stats counts what was read.
type Stats struct {
	Bytes          int64 // of the source as it is stored
	Lines          int64 // \n-terminated ones, and a last one without
	TruncatedLines int64 // that were shortened
}

// ReadLines hands every line of a log to yield, in order. Memory stays bounded whatever the log contains: a line longer than 64 KiB is
// shortened to its head and tail, and counted. The error is r's or yield's.
func ReadLines(r io.Reader, source string, yield func(logline.Line) error) (Stats, error) {
	counted := &countingReader{r: r}
	stats, err := readLines(counted, source, yield)
	stats.Bytes = counted.n
	return stats, err
}

func readLines(r io.Reader, source string, yield func(logline.Line) error) (Stats, error) {
	var stats Stats
	head, text, err := logline.Decode(r)
	if err != nil {
		return stats, err
	}
	in := bufio.NewReaderSize(text, 256<<10)
	line := logline.Sniff(source, head).Parts(yield)
	for {
		raw, err := in.ReadSlice('\n')
		if len(raw) == 0 && errors.Is(err, io.EOF) {
			return stats, nil
		}
		stats.Lines++
		line.Begin(int(stats.Lines))
		for errors.Is(err, bufio.ErrBufferFull) {
			if err := line.Add(raw); err != nil {
				return stats, err
			}
			raw, err = in.ReadSlice('\n')
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return stats, err
		}
		cut, err := line.End(bytes.TrimSuffix(raw, []byte{'\n'}))
		if err != nil {
			return stats, err
		}
		if cut {
			stats.TruncatedLines++
		}
	}
}

// countingReader counts the bytes that went through it.
type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
