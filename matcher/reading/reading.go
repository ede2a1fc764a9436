// Package reading reads the logs of a job and keeps what matters of them: the exceptions and lines that signatures may know, and what was
// stated. It judges none of that: which failure explains the others, package diagnosis tells when all is read.
//
// Lines flow one way. A line filter takes in the raw bytes of a source, passes by what cannot matter, and hands the rest on, each line with
// what it may have to say (line_filter.go). What it passes by is remembered for a while, as bytes, for those who ask what stood before
// something (window.go, history.go). A source hands each line to the assembler of tracebacks, takes exceptions and single lines back from
// it (source.go), and asks which signatures may know them (matching.go). What these know are events, of which only different ones are kept,
// with their occurrences (event.go, occurrence.go). Beside them it keeps what lines state, facts above all (statements.go), whether the job
// went on after what happened (survival.go), and how fast its steps come. A Result is what all that comes to.
//
// Whatever is left out, the answer is as if every line had been taken in: tests compare the two.
package reading

import (
	"bytes"
	"context"
	"io"
	"runtime"

	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/matcher/flight"
	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/pace"
	"github.com/gpu-triage/triage/matcher/prefilter"
	"github.com/gpu-triage/triage/matcher/repair"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/matcher/rootline"
	"github.com/gpu-triage/triage/matcher/scan"
	"github.com/gpu-triage/triage/rules"
)

// maxWorkers bounds the goroutines that scan a file: what they find is taken in by one.
const maxWorkers = 8

// Reading reads the logs of one job, one after the other. It is used by one goroutine.
type Reading struct {
	base  *rules.Base
	watch func(bytes int64)
	stats report.Stats

	matching    matching
	lines       allowance // for matching loose lines, and those within messages
	raisings    allowance // for matching exceptions
	events      events
	survival    survival
	statements  statements
	pace        paces
	standstill  pace.Standstill
	dumps       []*flight.Dump
	collectives collectives
	tails       tails
	kinds       kinds
	originals   originals
	noLogs      []string        // sentences about the sources that are no logs
	heads       []Head          // the first lines of the first sources
	machine     map[string]bool // the sources that are not the job's: what the machine said while it ran
}

// Begin starts a reading with what was prepared of a knowledge base.
func Begin(base *rules.Base, filter *prefilter.Filter, steps *pace.StepReader, roots func() *rootline.Finder) *Reading {
	return &Reading{
		base:        base,
		matching:    matching{filter: filter, situation: base.Scope.NewSituation()},
		lines:       allowance{free: freeLines},
		raisings:    allowance{free: freeExceptions},
		events:      make(events),
		survival:    newSurvival(),
		statements:  newStatements(base),
		pace:        paces{steps: steps},
		tails:       tails{finder: roots, filter: filter, scope: base.Scope},
		kinds:       newKinds(),
		originals:   make(originals),
		collectives: collectives{known: make(map[string]bool)},
		machine:     make(map[string]bool),
	}
}

// Read takes in a log under the name that the user knows it by. A file is read from its beginning, by as many goroutines as there are
// processors, up to maxWorkers. The error is from's, or that of ctx.
func (r *Reading) Read(ctx context.Context, name string, from io.Reader) error {
	return r.read(ctx, name, from, scan.Reading{Workers: min(runtime.GOMAXPROCS(0), maxWorkers)})
}

// ReadMachine takes in what the machine said while the job ran, as its kernel's messages, under a name of their own. A failure that these
// lines tell counts for less than one that the job's own log tells, and they state nothing about the job.
func (r *Reading) ReadMachine(ctx context.Context, name string, from io.Reader) error {
	r.machine[name] = true
	return r.Read(ctx, name, from)
}

func (r *Reading) read(ctx context.Context, name string, from io.Reader, how scan.Reading) error {
	head, text, err := logline.Decode(from)
	if err != nil {
		return err
	}
	if flight.Is(head) {
		return r.dump(name, text)
	}
	s := r.begin(name)
	s.head = bytes.Clone(head)
	damage := repair.Of(head)
	head = damage.Head(head)
	lines := newLineFilter(s, logline.Sniff(name, head))
	if !damage.None() {
		lines.repaired = damage.Reader(text, r.originals.of(name, lines.form).keep)
		text = lines.repaired
	}
	err = lines.read(ctx, text, how, func(c *scan.Chunk) error {
		if r.watch != nil {
			r.watch(c.End)
		}
		return lines.chunk(c)
	})
	lines.close()
	r.count(lines.stats)
	r.stats.Incomplete = r.stats.Incomplete || err != nil
	s.end()
	s.told(head)
	s.judge()
	return err
}

// StoodStill says that the job did, as whoever watched it saw it.
func (r *Reading) StoodStill(seen pace.Standstill) { r.standstill = seen }

// dump takes in a dump of NCCL's flight recorder.
func (r *Reading) dump(name string, from io.Reader) error {
	dump, size, err := flight.Read(name, from)
	r.stats.Bytes += size
	if err != nil {
		return err
	}
	r.dumps = append(r.dumps, dump)
	return nil
}

// count adds what was read of a source.
func (r *Reading) count(stats report.Stats) {
	r.stats.Bytes += stats.Bytes
	r.stats.Lines += stats.Lines
	r.stats.TruncatedLines += stats.TruncatedLines
}

// Watch has progress called now and then while a log is read, with the bytes of it that have been read.
func (r *Reading) Watch(progress func(bytes int64)) { r.watch = progress }

// Bytes is how much has been read of all logs that were read to their end.
func (r *Reading) Bytes() int64 { return r.stats.Bytes }

// Origin tells where and when the logs read so far were written.
func (r *Reading) Origin() facts.LogOrigin {
	return r.statements.origin.Summary(r.statements.facts.Stated())
}

// note keeps an event, or counts it when it was seen before. It tells whether the event is another one than all before it.
func (r *Reading) note(printed Chain, line logline.Line) (another bool) {
	if printed[0].Exception == nil && printed.harmless() {
		return false
	}
	e := r.events.of(printed, maxEvents)
	if e == nil {
		r.stats.Incomplete = true
		return true
	}
	another = len(e.episodes) == 0
	r.occurred(e, printed, r.survival.occurrence(line))
	return another
}

// occurred counts an event that was printed where o tells.
func (r *Reading) occurred(e *Event, printed Chain, o Occurrence) {
	r.statements.origin.Line(o.Line)
	r.collectives.add(printed)
	x := printed.Head().Exception
	o.raised, o.Bare = x != nil, x != nil && len(x.Frames) == 0
	e.Occurred(o, printed, r.survival.wentOn)
	if !e.Chain.harmless() {
		r.survival.failed(o.Line)
	}
}

// paces are those of the sources that show steps.
type paces struct {
	steps     *pace.StepReader
	sample    pace.Sample // of the source that is being read
	all       []*pace.Pace
	processes int // in them
}

// maxPaced bounds the processes whose pace is kept.
const maxPaced = 20000

// add sums up the sample of a source that ends after so many lines; nil when it shows no steps. Each line of the sample is given to also.
func (p *paces) add(lines int, m *matching, also func(logline.Line)) *pace.Pace {
	one := p.sample.Sum(lines, p.steps, m.situation, also)
	if one != nil && p.processes+one.Processes() <= maxPaced {
		p.all, p.processes = append(p.all, one), p.processes+one.Processes()
	}
	return one
}
