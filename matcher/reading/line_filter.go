package reading

import (
	"bytes"
	"slices"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/pace"
	"github.com/gpu-triage/triage/matcher/prefilter"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/matcher/scan"
	"github.com/gpu-triage/triage/matcher/traceback"
)

// feed gives a reading those lines of a source that can matter to it. What it leaves out are lines that its sieve lets go, which come
// while no traceback and no dict is open: a reading takes no notice of them. Lines that show progress matter only as long as some
// event may turn out to have been survived.
type lineFilter struct {
	reading   *Reading
	assembler *traceback.Assembler
	form      *logline.Form
	sieve     *prefilter.Source
	line      logline.Parts
	stats     report.Stats
	ended     bool // the last line that was seen has its \n

	data   []byte    // of the chunk
	at     int       // where the line that is being read begins
	number int       // of that line
	says   lineClass // what that line may have to say
	shown  []int32   // literals of progress in that line, when that is all it may say
	wanted struct {  // the next line of the sample
		number, at int
	}
	recent [2]recentChunk // the last two before data
	tail   []byte         // the last lines before them, unless they have enough
	last   []byte         // the last bytes before them, likewise
	long   bool           // in the middle of a line that comes in pieces
}

// says is what a line may have to say by itself. A traceback that it belongs to is another matter.
type lineClass int

const (
	anything lineClass = iota
	states             // only what the first lines of a source state in common words, or that the job makes progress
	steps              // only that the job makes progress
	nothing
)

// newFeed begins a source: each part of each line that matters goes to the reading and to the assembler.
func newLineFilter(r *Reading, a *traceback.Assembler, form *logline.Form) *lineFilter {
	f := &lineFilter{reading: r, assembler: a, form: form, sieve: prefilter.NewSource(r.filter, form, r.found), ended: true}
	f.line = form.Parts(func(line logline.Line) error {
		r.history.add(line)
		r.sample.Take(line)
		a.Feed(line)
		return nil
	})
	r.history.raw, r.history.reread = f.past, f.reread
	return f
}

// sifted is a way to read what follows of the source so that its chunks have the lines that matter by themselves.
func (f *lineFilter) sifted(how scan.Reading) scan.Reading {
	how.Keep, how.First, how.FirstLines = f.sieve.Keep, f.sieve.States, prefilter.HeadLines-int(f.stats.Lines)
	return how
}

// chunk takes in the next lines of the source.
func (f *lineFilter) chunk(c *scan.Chunk) error {
	f.data, f.at, f.number, f.wanted.number = c.Data, 0, int(c.Line), 0
	f.stats.Lines, f.stats.Bytes = c.Line+c.Lines-1, c.End
	if f.reading.watch != nil {
		f.reading.watch(c.End)
	}
	f.ended = c.Data[len(c.Data)-1] == '\n'
	var err error
	passing := c.Open || f.long // the data of a piece is not there for long
	if passing {
		err = f.piece(c)
	} else {
		err = f.whole(c)
	}
	f.reading.source.lines = int(f.stats.Lines)
	if !f.ended {
		f.reading.source.lines++
	}
	f.data, f.at, f.number = nil, 0, int(f.stats.Lines)+1
	f.remember(c, passing)
	return err
}

// piece takes in a part of a long line.
func (f *lineFilter) piece(c *scan.Chunk) error {
	if f.reading.history.pieces = f.number; !f.long {
		f.says = anything
		f.line.Begin(f.number)
	}
	if f.long = c.Open; f.long {
		return f.line.Add(c.Data)
	}
	return f.finish(bytes.TrimSuffix(c.Data, []byte{'\n'}))
}

func (f *lineFilter) finish(raw []byte) error {
	cut, err := f.line.End(raw)
	if cut {
		f.stats.TruncatedLines++
	}
	return err
}

// whole takes in lines.
func (f *lineFilter) whole(c *scan.Chunk) error {
	hits, long := c.Hits, c.Long
	for f.at < len(f.data) {
		for len(hits) > 0 && hits[0].Start < f.at {
			hits = hits[1:]
		}
		for len(long) > 0 && long[0] < f.at {
			long = long[1:]
		}
		every := f.every()
		if !every {
			if f.skip(c, f.progress(f.next(hits, long)), hits); f.at == len(f.data) {
				break
			}
		}
		end := scan.LineEnd(f.data, f.at)
		if every || f.at == f.wanted.at || f.found(hits) { // nobody has looked
			f.progress(end)
		}
		switch {
		case f.matters(hits, long):
			f.says = anything
		case f.found(hits):
			f.says = states
		case len(f.shown) > 0:
			f.says = steps
		default:
			f.says = nothing
		}
		if raw := f.data[f.at:end]; !f.aside(raw) {
			f.line.Begin(f.number)
			if err := f.finish(raw); err != nil {
				return err
			}
		}
		f.at, f.number = min(end+1, len(f.data)), f.number+1
	}
	return nil
}

// next is where the next line begins that may have anything to say, or is of the sample.
func (f *lineFilter) next(hits []scan.Hit, long []int) int {
	next := f.sampled()
	if len(hits) > 0 {
		next = min(next, hits[0].Start)
	}
	if len(long) > 0 {
		next = min(next, long[0])
	}
	if !f.ended { // no literal that ends with a line break is found in the last line
		next = min(next, bytes.LastIndexByte(f.data, '\n')+1)
	}
	return next
}

// every tells whether the next line matters, whatever it contains.
func (f *lineFilter) every() bool {
	r := f.reading
	return r.filter.EveryLine || !f.form.Searchable() || f.assembler.Busy() || r.Facts.Busy()
}

// matters tells whether the line that is being read may matter by itself.
func (f *lineFilter) matters(hits []scan.Hit, long []int) bool {
	r := f.reading
	return r.filter.EveryLine || !f.form.Searchable() || r.Facts.Busy() ||
		f.found(hits) && len(hits[0].IDs) > 0 || len(long) > 0 && long[0] == f.at || !f.ended && f.at > bytes.LastIndexByte(f.data, '\n')
}

// found tells whether the line that is being read is the first of the hits.
func (f *lineFilter) found(hits []scan.Hit) bool { return len(hits) > 0 && hits[0].Start == f.at }

// aside takes in a line that has nothing to say, or shows progress, if it belongs to no traceback: whose it is, is all that it is
// asked, if anything. It tells whether it did.
func (f *lineFilter) aside(raw []byte) bool {
	inSample := pace.Sampled(f.number)
	if f.says < steps || inSample && len(raw) > pace.MaxMarked || bytes.IndexByte(raw, '\r') >= 0 {
		return false
	}
	if f.says == steps || f.assembler.Busy() {
		line := f.form.Writer(raw)
		if line.Text == "" || f.assembler.Has(line) {
			return false
		}
		f.assembler.Expire(f.number)
		if f.says == steps {
			line.Number = f.number
			f.reading.step(line, f.shown)
		}
	}
	if inSample {
		f.reading.sample.TakeRaw(f.form, f.number, string(raw))
	}
	return true
}

// of is what a line that comes out of the assembler may have to say. Of one that was held back that is not known any more.
func (f *lineFilter) of(line logline.Line) (lineClass, []int32) {
	if line.Number != f.number {
		return anything, nil
	}
	return f.says, f.shown
}

// skip goes to the line that begins at to. The number of most is known.
func (f *lineFilter) skip(c *scan.Chunk, to int, hits []scan.Hit) {
	switch {
	case to == len(c.Data):
		f.number = int(c.Line + c.Lines)
	case len(hits) > 0 && hits[0].Start == to:
		f.number = int(c.Line + hits[0].Line)
	default:
		f.number += bytes.Count(f.data[f.at:to], []byte{'\n'})
	}
	f.at = to
}

// sampled is where the next line of the sample begins.
func (f *lineFilter) sampled() int {
	if f.wanted.number >= f.number {
		return f.wanted.at
	}
	f.wanted.number, f.wanted.at = pace.NextSampled(f.number), len(f.data)
	if f.wanted.number <= int(f.stats.Lines)+1 {
		f.wanted.at = f.at
		for range f.wanted.number - f.number {
			f.wanted.at = min(scan.LineEnd(f.data, f.wanted.at)+1, len(f.data))
		}
	}
	return f.wanted.at
}

// progress is where the next line begins that shows progress, if that matters or will when a traceback ends, and before to. It looks
// ahead a little at first: where it matters, such lines are many.
func (f *lineFilter) progress(to int) int {
	f.shown = f.shown[:0]
	if !f.reading.source.watching && !f.assembler.Busy() {
		return to
	}
	for from, ahead := f.at, 1<<10; from < to; ahead *= 2 {
		end := min(scan.LineEnd(f.data, min(from+ahead, to-1))+1, to)
		f.reading.filter.Progress.Lines(f.data[from:end], func(hit scan.Hit) bool {
			f.shown, to = append(f.shown, hit.IDs...), from+hit.Start
			return false
		})
		from = end
	}
	return to
}

// close ends the source.
func (f *lineFilter) close() {
	if f.long {
		f.finish(nil) //nolint:errcheck // only yield could fail
	}
	if !f.ended {
		f.stats.Lines++
	}
	f.data, f.at, f.number = nil, 0, int(f.stats.Lines)+1
	f.reading.sample.TakeLast(f.form, slices.Concat(f.last, f.recent[0].data, f.recent[1].data), f.stats.Bytes, int(f.stats.Lines))
}
