package reading

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"strings"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/matcher/scan"
	"github.com/gpu-triage/triage/rules/pattern"
)

// ReadPlain is the judge of Read: it takes in every line.
func (r *Reading) ReadPlain(name string, from io.Reader) error {
	assembler := r.begin(name)
	decoded, err := logline.Decode(from)
	if err != nil {
		return err
	}
	all, err := io.ReadAll(decoded)
	if err != nil {
		return err
	}
	stats, err := ReadLines(bytes.NewReader(all), name, func(line logline.Line) error {
		r.source.lines = line.Number
		r.history.add(line)
		r.sample.Take(line)
		assembler.Feed(line)
		return nil
	})
	r.sample.TakeLast(logline.Sniff(name, all[:min(len(all), logline.HeadBytes)]), all, int64(len(all)), int(stats.Lines))
	r.end(assembler, stats, err)
	return err
}

// Renumbered is another line of the same kind, or the line itself when it is of none.
func Renumbered(rnd *rand.Rand, line string) string {
	raw, end, _ := strings.Cut(line, "\n")
	kind, ok := pattern.LineTemplate(nil, []byte(raw))
	if !ok {
		return line
	}
	other := []byte(raw)
	for i, c := range other {
		if logline.IsDigit(c) {
			other[i] = byte('0' + rnd.IntN(10))
			if now, _ := pattern.LineTemplate(nil, other); !bytes.Equal(now, kind) {
				other[i] = c
			}
		}
	}
	return string(other) + line[len(raw):len(line)-len(end)] + end
}

// ReadSo is Read in a certain way.
func (r *Reading) ReadSo(ctx context.Context, name string, from io.Reader, how scan.Reading) error {
	return r.read(ctx, name, from, how)
}

// ReadLines is the judge of the fast reading: it hands every line of a log to yield, in order. Memory stays bounded whatever the log contains: a line
// longer than 64 KiB is shortened to its head and tail, and counted. The error is r's or yield's.
func ReadLines(r io.Reader, source string, yield func(logline.Line) error) (report.Stats, error) {
	counted := &countingReader{r: r}
	stats, err := readLines(counted, source, yield)
	stats.Bytes = counted.n
	return stats, err
}

func readLines(r io.Reader, source string, yield func(logline.Line) error) (report.Stats, error) {
	var stats report.Stats
	decoded, err := logline.Decode(r)
	if err != nil {
		return stats, err
	}
	in := bufio.NewReaderSize(decoded, 4*logline.HeadBytes)
	head, err := in.Peek(logline.HeadBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return stats, err
	}
	line := logline.Parts{Form: logline.Sniff(source, head), Yield: yield}
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
