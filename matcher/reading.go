package matcher

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/gpu-triage/triage/matcher/flight"
	"github.com/gpu-triage/triage/matcher/scan"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/signature"
)

// Bounds of what a reading remembers, whatever the log contains.
const (
	maxEvents    = 4000  // different ones
	maxProcesses = 20000 // with events

	maxWorkers = 8 // that scan a file: what they find is taken in by one
)

// Reading is what has been read of one job's logs so far. It is used by one goroutine.
type Reading struct {
	engine    *Engine
	facts     *logFacts
	trails    trails
	events    map[string]*event
	processes map[string]*process
	sources   map[string]*sourceState
	seen      []Line        // by the number of the pattern: the first line that matches
	found     foundPatterns // by the same: there is one, as the workers of a scan may know
	scratch   *condition.Situation
	clues     clueList
	xids      xidList
	paces     []*pace // of the sources that show steps
	pacers    int     // in them
	stats     Stats
	ids       []int              // reused for each text
	known     []*signature.Entry // reused for each text
	dumps     []*flight.Dump
	compared  int // how many of them

	// The source that is being read.
	history *history
	watch   func(bytes int64)
	says    func(Line) (says, []int32) // what a line may say, and the literals of progress in it; nil when any may say anything
	source  *sourceState
	lines   int // of the sources before it
	sample  sample
}

// process is a writer whose lines can be told from those of others, and that something happened to.
type process struct {
	source   string
	failed   int // when its last event was
	progress int // when it made progress after an event
}

// Begin starts a reading.
func (e *Engine) Begin() *Reading {
	return &Reading{
		engine:    e,
		facts:     newLogFacts(e.base.Vocabulary),
		trails:    make(trails),
		events:    make(map[string]*event),
		processes: make(map[string]*process),
		sources:   make(map[string]*sourceState),
		seen:      make([]Line, len(e.base.Scope.LogPatterns())),
		found:     make(foundPatterns, len(e.base.Scope.LogPatterns())),
		scratch:   e.base.Scope.NewSituation(),
	}
}

// Read takes in a log under the name that the user knows it by. A file is read by as many goroutines as there are processors, up to maxWorkers, and
// from its beginning. The error is from's, or that of ctx.
func (r *Reading) Read(ctx context.Context, name string, from io.Reader) error {
	return r.read(ctx, name, from, scan.Reading{Workers: min(runtime.GOMAXPROCS(0), maxWorkers)})
}

func (r *Reading) read(ctx context.Context, name string, from io.Reader, how scan.Reading) error {
	head, from, err := sniffed(from)
	if err != nil {
		return err
	}
	if flight.Is(head) {
		return r.dump(name, from)
	}
	assembler := r.begin(name)
	form := Sniff(name, head)
	feed := newFeed(r, assembler, form)
	r.says = feed.of
	err = r.engine.lines.Read(ctx, from, feed.sifted(how), feed.chunk)
	feed.close()
	r.says = nil
	r.end(assembler, feed.stats, err)
	return err
}

// Watch has seen called now and then while a log is read, with the bytes of it that have been read.
func (r *Reading) Watch(seen func(bytes int64)) { r.watch = seen }

// Bytes is how much has been read of all logs that were read to their end.
func (r *Reading) Bytes() int64 { return r.stats.Bytes }

// begin starts a source.
func (r *Reading) begin(name string) *Assembler {
	r.source, r.history, r.sample = r.state(name), &history{}, sample{stride: 1, marks: r.sample.marks[:0]}
	assembler := NewAssembler(r.exception, r.line)
	assembler.before = r.history.hold
	return assembler
}

// end ends the source.
func (r *Reading) end(assembler *Assembler, stats Stats, err error) {
	assembler.Close()
	clear(r.facts.open)
	r.last(r.source.lines)
	r.history.each(r.source.lines, func(past *pastPart) { r.clues.line(past.Line) })
	r.history.raw = nil
	r.paced()
	r.lines += r.source.lines
	r.stats.Bytes += stats.Bytes
	r.stats.Lines += stats.Lines
	r.stats.TruncatedLines += stats.TruncatedLines
	r.stats.Incomplete = r.stats.Incomplete || err != nil
}

// dump takes in a flight recorder's dump.
func (r *Reading) dump(name string, from io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(from, flight.MaxBytes+1))
	if err != nil {
		return err
	}
	if len(data) > flight.MaxBytes {
		return fmt.Errorf("%s: a flight recorder's dump of more than %d MiB is not read", name, flight.MaxBytes>>20)
	}
	r.stats.Bytes += int64(len(data))
	d, err := flight.Parse(name, data)
	if err != nil {
		return err
	}
	r.dumps = append(r.dumps, d)
	return nil
}

// compare takes what the dumps show together for lines of their ranks. It does so once: a dump that comes later is compared with all.
func (r *Reading) compare() {
	if len(r.dumps) == r.compared {
		return
	}
	r.compared = len(r.dumps)
	for _, remark := range flight.Compare(r.dumps) {
		r.line(Line{Source: remark.Dump.Source, Number: 1, Rank: remark.Dump.Rank, Writer: fmt.Sprint("rank ", remark.Dump.Rank), Text: remark.Text})
	}
}

func (r *Reading) process(line Line) *process {
	key := processKey(line)
	w := r.processes[key]
	if w == nil {
		if len(r.processes) >= maxProcesses {
			clear(r.processes)
		}
		w = &process{source: line.Source}
		r.processes[key] = w
	}
	return w
}

func processKey(line Line) string { return line.Source + "\x00" + line.Writer }

// order tells of two lines of a source which is the earlier one.
func (r *Reading) order(line Line) int { return (r.lines+line.Number)<<10 | min(line.Part, 1<<10-1) }

func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}
