package matcher

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/matcher/flight"
	"github.com/gpu-triage/triage/rules"
)

// Bounds of what a reading remembers, whatever the log contains.
const (
	maxEvents    = 4000  // different ones
	maxProcesses = 20000 // with their own context
	maxBefore    = 12    // lines before an event
	maxText      = 400   // bytes of each of them
)

// Reading is what has been read of one job's logs so far. It is used by one goroutine.
type Reading struct {
	engine    *Engine
	facts     *logFacts
	trails    trails
	events    map[string]*event
	processes map[string]*process
	seen      []Line // by the number of the pattern: the first line that matches
	scratch   *rules.Situation
	clock     int
	stats     Stats
	ids       []int // reused for each line
	dumps     []*flight.Dump
	compared  int // how many of them
}

// process is a writer whose lines can be told from those of others.
type process struct {
	before   []string // its last lines
	lines    int
	progress int // when it last made progress
}

// Begin starts a reading.
func (e *Engine) Begin() *Reading {
	return &Reading{
		engine:    e,
		facts:     newLogFacts(e.base.Vocabulary),
		trails:    make(trails),
		events:    make(map[string]*event),
		processes: make(map[string]*process),
		seen:      make([]Line, len(e.base.Scope.SeenPatterns())),
		scratch:   e.base.Scope.NewSituation(),
	}
}

// Read takes in a log under the name that the user knows it by. The error is from's, or that of ctx.
func (r *Reading) Read(ctx context.Context, name string, from io.Reader) error {
	begin := bufio.NewReaderSize(from, 4096)
	if head, _ := begin.Peek(4096); flight.Is(head) { // an error will come again when the log is read
		return r.dump(name, begin)
	}
	from = begin
	assembler := NewAssembler(r.exception, r.line)
	stats, err := ReadLines(from, name, func(line Line) error {
		if line.Number%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		assembler.Feed(line)
		return nil
	})
	assembler.Close()
	r.stats.Bytes += stats.Bytes
	r.stats.Lines += stats.Lines
	r.stats.TruncatedLines += stats.TruncatedLines
	r.stats.Incomplete = r.stats.Incomplete || err != nil
	return err
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
		w = &process{}
		r.processes[key] = w
	}
	return w
}

func processKey(line Line) string { return line.Source + "\x00" + line.Writer }

// line takes in a line that belongs to no traceback.
func (r *Reading) line(line Line) {
	p := r.process(line)
	r.clock++
	p.lines++
	el := element{line: line, text: line.Text}
	r.states(line.Body(), line)
	el.before = strings.Join(p.before, "\n")
	if r.match(&el) {
		p.progress = r.clock
	}
	r.note(p, &event{chain: []element{el}}, line)
	if len(p.before) == maxBefore {
		p.before = slices.Delete(p.before, 0, 1)
	}
	p.before = append(p.before, clip(line.Text, maxText))
}

// exception takes in the last exception of a chain, with those before it.
func (r *Reading) exception(e *Exception) {
	p := r.process(e.Line)
	r.clock++
	raised := &event{}
	for x := e; x != nil; x = x.Earlier {
		el := element{line: x.Line, exception: x, text: x.Text(), before: strings.Join(p.before, "\n")}
		for _, line := range x.Lines {
			r.states(line.Text, line)
		}
		r.match(&el)
		raised.chain = append(raised.chain, el)
	}
	slices.Reverse(raised.chain)
	r.note(p, raised, e.Line)
	r.within(p, raised)
}

// within looks at the lines of the messages on their own: where a message ends is not always to be seen, so that the next thing that
// the program printed may be among them.
func (r *Reading) within(p *process, e *event) {
	for _, part := range e.chain {
		for i, line := range part.exception.Lines {
			if i == 0 || line.Text == "" || line.Text[0] == ' ' || line.Text[0] == '\t' {
				continue
			}
			el := element{line: line, text: line.Text}
			r.clock++
			if r.match(&el) {
				p.progress = r.clock
			}
			el.matches = slices.DeleteFunc(el.matches, func(s *rules.Signature) bool { return slices.Contains(part.matches, s) })
			r.note(p, &event{chain: []element{el}}, line)
		}
	}
}

// states takes the facts that a line states, and looks whether it is one that conditions look for.
func (r *Reading) states(text string, line Line) {
	if r.facts.continues(text, line) {
		return
	}
	r.engine.words.find(text, func(n int) {
		switch i := r.engine.interest[n]; {
		case i.reader != nil && i.packages:
			r.facts.read(i.reader, text, line, fromPackageList)
		case i.reader != nil:
			r.facts.read(i.reader, text, line, fromLine)
		case i.dict != nil:
			r.facts.begin(i.dict, text, line)
		case i.trail != "":
			r.trails.add(i.trail, text, line)
		}
	})
	for i, pattern := range r.engine.base.Scope.SeenPatterns() {
		if r.seen[i].Number == 0 && pattern.MatchString(text) {
			r.seen[i] = line
		}
	}
}

// match finds the signatures whose conditions an element fulfils, as far as they can be decided before the log is read to its end.
// It tells whether the line shows progress.
func (r *Reading) match(el *element) (progress bool) {
	r.ids = r.ids[:0]
	r.engine.words.find(el.text, func(n int) {
		if r.engine.interest[n].signature != nil {
			r.ids = append(r.ids, n)
		}
	})
	if len(r.ids) == 0 && el.exception == nil {
		return false
	}
	slices.Sort(r.ids)
	el.variables(r.scratch)
	consider := func(s *rules.Signature) {
		switch {
		case slices.Contains(el.matches, s) || !possible(s.Match, r.scratch):
		case s.Role == rules.Progress:
			progress = true
		default:
			el.matches = append(el.matches, s)
		}
	}
	for _, n := range slices.Compact(r.ids) {
		consider(r.engine.interest[n].signature)
	}
	if el.exception != nil {
		for _, s := range r.engine.generic {
			consider(s)
		}
	}
	return progress
}

// possible tells whether no condition is false.
func possible(conditions []*rules.Expression, s *rules.Situation) bool {
	for _, c := range conditions {
		if c.Eval(s).False() {
			return false
		}
	}
	return true
}

// note keeps an event, or counts it when it is known already.
func (r *Reading) note(p *process, e *event, line Line) {
	if e.chain[0].exception == nil && len(e.chain[0].matches) == 0 {
		return
	}
	key := e.key()
	known, ok := r.events[key]
	if !ok {
		if len(r.events) >= maxEvents {
			r.stats.Incomplete = true
			return
		}
		known = e
		r.events[key] = known
	}
	known.occurred(occurrence{order: r.clock, line: line, writer: processKey(line), lines: p.lines})
}

func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}
