package reading

import (
	"context"
	"io"
	"runtime"

	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/matcher/flight"
	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/pace"
	"github.com/gpu-triage/triage/matcher/prefilter"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/matcher/scan"
	"github.com/gpu-triage/triage/matcher/traceback"
	"github.com/gpu-triage/triage/rules"
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
	Base      *rules.Base
	filter    *prefilter.Filter
	steps     *pace.StepReader
	Facts     *facts.LogFacts
	Trails    facts.SelectionLogs
	Events    map[string]*Event
	processes map[string]*process
	sources   map[string]*sourceState
	Seen      []logline.Line  // by the number of the pattern: the first line that matches
	found     prefilter.Found // by the same: there is one, as the workers of a scan may know
	scratch   *condition.Situation
	origin    facts.OriginCollector
	Xids      facts.Xids
	Paces     []*pace.Pace // of the sources that show steps
	pacers    int          // in them
	Stats     report.Stats
	ids       []int              // reused for each text
	known     []*signature.Entry // reused for each text
	Dumps     []*flight.Dump     // of the flight recorder

	// The source that is being read.
	history *history
	watch   func(bytes int64)
	says    func(logline.Line) (lineClass, []int32) // what a line may say, and the literals of progress in it; nil when any may say anything
	source  *sourceState
	lines   int // of the sources before it
	sample  pace.Sample
}

// process is a writer whose lines can be told from those of others, and that something happened to.
type process struct {
	source   string
	failed   int // when its last event was
	progress int // when it made progress after an event
}

// BeginReading starts a reading with what was prepared of a knowledge base.
func Begin(base *rules.Base, filter *prefilter.Filter, steps *pace.StepReader) *Reading {
	return &Reading{
		Base: base, filter: filter, steps: steps,
		Facts:     facts.NewLogFacts(base.Vocabulary),
		Trails:    make(facts.SelectionLogs),
		Events:    make(map[string]*Event),
		processes: make(map[string]*process),
		sources:   make(map[string]*sourceState),
		Seen:      make([]logline.Line, len(base.Scope.LogPatterns())),
		found:     make(prefilter.Found, len(base.Scope.LogPatterns())),
		scratch:   base.Scope.NewSituation(),
	}
}

// Read takes in a log under the name that the user knows it by. A file is read by as many goroutines as there are processors, up to maxWorkers, and
// from its beginning. The error is from's, or that of ctx.
func (r *Reading) Read(ctx context.Context, name string, from io.Reader) error {
	return r.read(ctx, name, from, scan.Reading{Workers: min(runtime.GOMAXPROCS(0), maxWorkers)})
}

func (r *Reading) read(ctx context.Context, name string, from io.Reader, how scan.Reading) error {
	head, from, err := logline.Decode(from)
	if err != nil {
		return err
	}
	if flight.Is(head) {
		return r.dump(name, from)
	}
	assembler := r.begin(name)
	form := logline.Sniff(name, head)
	feed := newLineFilter(r, assembler, form)
	r.says = feed.of
	err = r.filter.Lines.Read(ctx, from, feed.sifted(how), feed.chunk)
	feed.close()
	r.says = nil
	r.end(assembler, feed.stats, err)
	return err
}

// Watch has seen called now and then while a log is read, with the bytes of it that have been read.
func (r *Reading) Watch(seen func(bytes int64)) { r.watch = seen }

// Bytes is how much has been read of all logs that were read to their end.
func (r *Reading) Bytes() int64 { return r.Stats.Bytes }

// begin starts a source.
func (r *Reading) begin(name string) *traceback.Assembler {
	r.source, r.history = r.state(name), &history{}
	r.sample.Begin()
	return traceback.NewAssembler(r.take, r.history.hold)
}

// take takes in what an assembler hands on.
func (r *Reading) take(e *traceback.Exception, line logline.Line) {
	if e != nil {
		r.exception(e)
	} else {
		r.line(line)
	}
}

// end ends the source.
func (r *Reading) end(assembler *traceback.Assembler, stats report.Stats, err error) {
	assembler.Close()
	r.Facts.EndSource()
	r.last(r.source.lines)
	r.history.each(r.source.lines, func(past *pastPart) { r.origin.Line(past.Line) })
	r.history.raw = nil
	r.paced()
	r.lines += r.source.lines
	r.Stats.Bytes += stats.Bytes
	r.Stats.Lines += stats.Lines
	r.Stats.TruncatedLines += stats.TruncatedLines
	r.Stats.Incomplete = r.Stats.Incomplete || err != nil
}

// dump takes in a flight recorder's dump.
func (r *Reading) dump(name string, from io.Reader) error {
	d, size, err := flight.Read(name, from)
	r.Stats.Bytes += size
	if err != nil {
		return err
	}
	r.Dumps = append(r.Dumps, d)
	return nil
}

func (r *Reading) process(line logline.Line) *process {
	key := line.Process()
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

// order tells of two lines of a source which is the earlier one.
func (r *Reading) order(line logline.Line) int {
	return (r.lines+line.Number)<<10 | min(line.Part, 1<<10-1)
}

// Clues tells where and when the logs read so far were written.
func (r *Reading) Origin() facts.LogOrigin {
	return r.origin.Summary(r.Facts.Stated())
}

// paced sums up the sample of the source that ends.
func (r *Reading) paced() {
	p := r.sample.Sum(r.source.lines, r.steps, r.scratch, r.origin.Line)
	if p != nil && r.pacers+p.Processes() <= maxSteppers {
		r.Paces, r.pacers = append(r.Paces, p), r.pacers+p.Processes()
	}
}
