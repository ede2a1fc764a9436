package reading

import (
	"bytes"
	"context"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/matcher/scan"
)

// Tail takes in a log piece by piece while it is written. A reading has one at a time, and reads nothing else until it is closed. Nothing is
// repaired: nobody has folded or quoted what a program prints now.
type Tail struct {
	name   string
	source *source
	lines  *lineFilter  // nil until the first bytes tell the form of the log
	rest   []byte       // of a line whose end has not come
	number int64        // of the lines that were taken in
	bytes  int64        // that were taken in
	told   report.Stats // what the reading knows of
}

// Tail begins a log that grows, under the name that the user knows it by.
func (r *Reading) Tail(name string) *Tail {
	return &Tail{name: name, source: r.begin(name)}
}

// Write takes in what was added to the log. It implements io.Writer and never fails.
func (t *Tail) Write(added []byte) (int, error) {
	if t.lines == nil {
		t.lines = newLineFilter(t.source, logline.Sniff(t.name, added))
		t.source.keepHead(added)
	}
	t.rest = append(t.rest, added...)
	if n := bytes.IndexByte(t.rest, '\n') + 1; t.lines.long && n > 0 {
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
	// The source has no error, and neither have what it is handed to and the context.
	_ = t.lines.read(context.Background(), bytes.NewReader(t.rest[:n]), scan.Reading{}, func(c *scan.Chunk) error {
		t.take(c)
		return nil
	})
	t.rest = append(t.rest[:0], t.rest[n:]...)
}

func (t *Tail) take(c *scan.Chunk) {
	c.Line = t.number + 1
	t.number += c.Lines
	t.bytes += int64(len(c.Data))
	c.End = t.bytes
	_ = t.lines.chunk(c) // only what it is handed to could fail
}

// Settle ends the tracebacks that are open, and takes the last whole line for the last of the log. It is for when nothing has been
// added for a while: Python prints a traceback in one go, and what ends a program is printed last.
func (t *Tail) Settle() {
	t.source.assembler.Close()
	if t.lines != nil && !t.lines.long {
		t.source.last(int(t.lines.stats.Lines))
	}
	t.tell()
}

// tell adds to the statistics of the reading what is new.
func (t *Tail) tell() {
	if t.lines == nil {
		return
	}
	now := t.lines.stats
	t.source.count(report.Stats{Bytes: now.Bytes - t.told.Bytes, Lines: now.Lines - t.told.Lines, TruncatedLines: now.TruncatedLines - t.told.TruncatedLines})
	t.told = now
}

// Close ends the log.
func (t *Tail) Close() {
	if t.lines != nil {
		if len(t.rest) > 0 {
			t.take(&scan.Chunk{Data: t.rest})
		}
		t.lines.close()
		t.tell()
	}
	t.source.end()
}
