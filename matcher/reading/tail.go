package reading

import (
	"bytes"
	"context"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/matcher/scan"
	"github.com/gpu-triage/triage/matcher/traceback"
)

// Tail takes in a log piece by piece while it is written. A reading has one at a time, and reads nothing else until it is closed.
type Tail struct {
	reading   *Reading
	name      string
	assembler *traceback.Assembler
	feed      *lineFilter // nil until the first bytes tell the form of the log
	rest      []byte
	lines     int64
	bytes     int64
	told      report.Stats // what the reading knows of
}

// Tail begins a log that grows, under the name that the user knows it by.
func (r *Reading) Tail(name string) *Tail {
	return &Tail{reading: r, name: name, assembler: r.begin(name)}
}

// Write takes in what was added to the log. It implements io.Writer and never fails.
func (t *Tail) Write(added []byte) (int, error) {
	if t.feed == nil {
		t.feed = newLineFilter(t.reading, t.assembler, logline.Sniff(t.name, added))
		t.reading.says = t.feed.of
	}
	t.rest = append(t.rest, added...)
	if n := bytes.IndexByte(t.rest, '\n') + 1; t.feed.long && n > 0 {
		t.piece(n, false)
	}
	if n := bytes.LastIndexByte(t.rest, '\n') + 1; n > 0 {
		t.whole(n)
	}
	if len(t.rest) > scan.LongLine {
		t.piece(len(t.rest), true)
	}
	return len(added), nil
}

// piece takes in a part of a long line, n bytes.
func (t *Tail) piece(n int, open bool) {
	c := &scan.Chunk{Data: t.rest[:n], Open: open}
	if !open {
		c.Lines = 1
	}
	t.take(c)
	t.rest = append(t.rest[:0], t.rest[n:]...)
}

// whole takes in lines, n bytes.
func (t *Tail) whole(n int) {
	// The source has no error, and neither have what it is fed to and the context.
	_ = t.reading.filter.Lines.Read(context.Background(), bytes.NewReader(t.rest[:n]), t.feed.sifted(scan.Reading{}), func(c *scan.Chunk) error {
		t.take(c)
		return nil
	})
	t.rest = append(t.rest[:0], t.rest[n:]...)
}

func (t *Tail) take(c *scan.Chunk) {
	c.Line = t.lines + 1
	t.lines += c.Lines
	t.bytes += int64(len(c.Data))
	c.End = t.bytes
	_ = t.feed.chunk(c) // only what it is fed to could fail
}

// Settle ends the tracebacks that are open, and takes the last whole line for the last of the log. It is for when nothing has been
// added for a while: Python prints a traceback in one go, and what ends a program is printed last.
func (t *Tail) Settle() {
	t.assembler.Close()
	if t.feed != nil && !t.feed.long {
		t.reading.last(int(t.feed.stats.Lines))
	}
	t.tell()
}

// tell adds to the statistics of the reading what is new.
func (t *Tail) tell() {
	if t.feed == nil {
		return
	}
	now := t.feed.stats
	t.reading.Stats.Bytes += now.Bytes - t.told.Bytes
	t.reading.Stats.Lines += now.Lines - t.told.Lines
	t.reading.Stats.TruncatedLines += now.TruncatedLines - t.told.TruncatedLines
	t.told = now
}

// Close ends the log.
func (t *Tail) Close() {
	if t.feed == nil {
		t.reading.end(t.assembler, report.Stats{}, nil)
		return
	}
	if len(t.rest) > 0 {
		t.take(&scan.Chunk{Data: t.rest})
	}
	t.feed.close()
	t.reading.says = nil
	t.tell()
	t.reading.end(t.assembler, report.Stats{}, nil)
}
