package reading

import (
	"bytes"
	"context"
	"io"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/pace"
	"github.com/gpu-triage/triage/matcher/prefilter"
	"github.com/gpu-triage/triage/matcher/repair"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/matcher/scan"
	"github.com/gpu-triage/triage/rules/signature"
)

// lineFilter takes in the raw lines of a source and hands on those that can matter, with what they may have to say. What it leaves out are
// lines that the prefilter lets go, which come while no traceback and no dict is open: nobody takes notice of them. Lines that show progress
// matter only as long as some event may turn out to have been survived.
type lineFilter struct {
	to       *source
	filter   *prefilter.Source
	form     *logline.Form
	parts    logline.Parts
	stats    report.Stats
	repaired *repair.Reader // nil when nothing is wrong with the source
	window   window
	ended    bool // the last line that was seen has its \n
	long     bool // in the middle of a line that comes in pieces

	class lineClass          // what the line that is being read may have to say
	steps []*signature.Entry // with a keyword in that line, if it shows progress and that matters
	next  struct {           // line of the sample
		number, at int
	}
}

// newLineFilter begins a source.
func newLineFilter(to *source, form *logline.Form) *lineFilter {
	f := &lineFilter{to: to, filter: to.matching.filter.Source(form, to.statements.found), form: form, ended: true}
	f.parts = form.Parts(func(line logline.Line) error {
		to.take(line, f.class, f.steps)
		return nil
	})
	to.history.window, to.history.form = &f.window, form
	return f
}

// read has the chunks of what follows of the source handed to yield, with the lines that may matter by themselves as hits.
func (f *lineFilter) read(ctx context.Context, from io.Reader, how scan.Reading, yield func(*scan.Chunk) error) error {
	return f.filter.Read(ctx, from, how, f.stats.Lines, yield)
}

// chunk takes in the next lines of the source.
func (f *lineFilter) chunk(c *scan.Chunk) error {
	f.window.open(c)
	f.next.number = 0
	f.stats.Lines, f.stats.Bytes = c.Line+c.Lines-1, c.End
	f.ended = c.Data[len(c.Data)-1] == '\n'
	var err error
	passing := c.Open || f.long // the data of a piece is not there for long
	if passing {
		err = f.piece(c)
	} else {
		err = f.whole(c)
	}
	f.to.progress.lines = int(f.stats.Lines)
	if !f.ended {
		f.to.progress.lines++
	}
	f.window.leave(int(f.stats.Lines) + 1)
	f.window.remember(c, passing)
	return err
}

// piece takes in a part of a long line.
func (f *lineFilter) piece(c *scan.Chunk) error {
	f.window.pieces = f.window.number
	if !f.long {
		f.class = anything
		f.parts.Begin(f.window.number)
	}
	f.long = c.Open
	if f.long {
		return f.parts.Add(c.Data)
	}
	return f.finish(bytes.TrimSuffix(c.Data, []byte{'\n'}))
}

func (f *lineFilter) finish(raw []byte) error {
	cut, err := f.parts.End(raw)
	if cut {
		f.stats.TruncatedLines++
	}
	return err
}

// whole takes in lines.
func (f *lineFilter) whole(c *scan.Chunk) error {
	w, marked := &f.window, marked{c.Hits, c.Long}
	for w.at < len(w.data) {
		marked.from(w.at)
		every := f.filter.EveryLine() || f.to.busy()
		if !every {
			f.skip(c, f.progress(f.nextMarked(marked)), marked)
			if w.at == len(w.data) {
				break
			}
		}
		end := scan.LineEnd(w.data, w.at)
		if every || w.at == f.next.at || marked.hit(w.at) { // nobody has looked
			f.progress(end)
		}
		f.class = f.classOf(marked)
		if raw := w.data[w.at:end]; !f.isGap(raw) && !f.pass(raw) {
			f.parts.Begin(w.number)
			if err := f.finish(raw); err != nil {
				return err
			}
		}
		w.at, w.number = min(end+1, len(w.data)), w.number+1
	}
	return nil
}

// isGap tells whether a line stands for one that was joined to the line before it.
func (f *lineFilter) isGap(raw []byte) bool { return f.repaired != nil && repair.IsGap(raw) }

// marked are the lines of a chunk that may matter, by what the scan says, from the one that is being read on.
type marked struct {
	hits []scan.Hit
	long []int // where long lines begin
}

// from leaves out the lines before a place.
func (m *marked) from(at int) {
	for len(m.hits) > 0 && m.hits[0].Start < at {
		m.hits = m.hits[1:]
	}
	for len(m.long) > 0 && m.long[0] < at {
		m.long = m.long[1:]
	}
}

// hit tells whether the line that begins there is one that may matter.
func (m *marked) hit(at int) bool { return len(m.hits) > 0 && m.hits[0].Start == at }

// words tells whether the line that begins there has a literal of its own, or is too long to tell.
func (m *marked) words(at int) bool {
	return m.hit(at) && len(m.hits[0].IDs) > 0 || len(m.long) > 0 && m.long[0] == at
}

// nextMarked is where the next line begins that may have anything to say, or is of the sample.
func (f *lineFilter) nextMarked(m marked) int {
	next := f.nextSampled()
	if len(m.hits) > 0 {
		next = min(next, m.hits[0].Start)
	}
	if len(m.long) > 0 {
		next = min(next, m.long[0])
	}
	if !f.ended {
		next = min(next, f.lastLine())
	}
	return next
}

// lastLine is where the last line of the chunk begins, one without its line break perhaps: no literal that ends with one is found in it.
func (f *lineFilter) lastLine() int { return bytes.LastIndexByte(f.window.data, '\n') + 1 }

// classOf tells what the line that is being read may have to say by itself.
func (f *lineFilter) classOf(m marked) lineClass {
	at := f.window.at
	switch {
	case f.filter.EveryLine(), f.to.statements.facts.Busy(), m.words(at), !f.ended && at >= f.lastLine():
		return anything
	case m.hit(at):
		return commonWords
	case len(f.steps) > 0:
		return onlyProgress
	}
	return nothing
}

// pass takes in a line that has nothing to say, or shows progress, if it belongs to no traceback: whose it is, is all that it is asked, if
// anything. It tells whether it did.
func (f *lineFilter) pass(raw []byte) bool {
	number := f.window.number
	sampled := pace.Sampled(number)
	if f.class < onlyProgress || sampled && len(raw) > pace.MaxMarked || bytes.IndexByte(raw, '\r') >= 0 {
		return false
	}
	if f.class == onlyProgress || f.to.assembler.Busy() {
		line := f.form.Writer(raw)
		line.Number = number
		if line.Text == "" || !f.to.pass(line, f.class, f.steps) {
			return false
		}
	}
	if sampled {
		f.to.pace.sample.TakeRaw(f.form, number, string(raw))
	}
	return true
}

// skip goes to the line that begins at to. The number of most is known.
func (f *lineFilter) skip(c *scan.Chunk, to int, m marked) {
	w := &f.window
	switch {
	case to == len(c.Data):
		w.number = int(c.Line + c.Lines)
	case m.hit(to):
		w.number = int(c.Line + m.hits[0].Line)
	default:
		w.number += bytes.Count(w.data[w.at:to], []byte{'\n'})
	}
	w.at = to
}

// nextSampled is where the next line of the sample begins.
func (f *lineFilter) nextSampled() int {
	w := &f.window
	if f.next.number >= w.number {
		return f.next.at
	}
	f.next.number, f.next.at = pace.NextSampled(w.number), len(w.data)
	if f.next.number <= int(f.stats.Lines)+1 {
		f.next.at = w.at
		for range f.next.number - w.number {
			f.next.at = min(scan.LineEnd(w.data, f.next.at)+1, len(w.data))
		}
	}
	return f.next.at
}

// progress is where the next line begins that shows progress, if that matters or will when a traceback ends, and before to. It looks
// ahead a little at first: where it matters, such lines are many.
func (f *lineFilter) progress(to int) int {
	f.steps = f.steps[:0]
	if !f.to.progress.watching && !f.to.assembler.Busy() {
		return to
	}
	for from, ahead := f.window.at, 1<<10; from < to; ahead *= 2 {
		end := min(scan.LineEnd(f.window.data, min(from+ahead, to-1))+1, to)
		at, steps := f.filter.NextProgress(f.window.data[from:end], f.steps)
		f.steps = steps
		if len(steps) > 0 {
			return from + at
		}
		from = end
	}
	return to
}

// close ends the source.
func (f *lineFilter) close() {
	if f.long {
		f.finish(nil) //nolint:errcheck // only what it is handed to could fail
	}
	if !f.ended {
		f.stats.Lines++
	}
	f.window.leave(int(f.stats.Lines) + 1)
	last := f.window.lastBytes()
	f.to.pace.sample.TakeLast(f.form, last, f.stats.Bytes, int(f.stats.Lines))
	f.to.tails.add(f.form, last, f.stats.Bytes, int(f.stats.Lines))
	if f.repaired != nil {
		f.stats.Bytes = f.repaired.Bytes()
	}
}
