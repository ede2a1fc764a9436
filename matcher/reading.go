package matcher

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/matcher/flight"
	"github.com/gpu-triage/triage/matcher/scan"
	"github.com/gpu-triage/triage/rules"
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
	seen      []Line // by the number of the pattern: the first line that matches
	scratch   *rules.Situation
	clues     clueList
	xids      xidList
	paces     []*pace // of the sources that show steps
	pacers    int     // in them
	stats     Stats
	ids       []int          // reused for each text
	known     []*rules.Entry // reused for each text
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
		seen:      make([]Line, len(e.base.Scope.SeenPatterns())),
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
	how.Keep = newSieve(r.engine, form).keep
	r.says = feed.of
	err = r.engine.lines.Read(ctx, from, how, feed.chunk)
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
	r.source, r.history, r.sample = r.state(name), &history{}, sample{stride: 1}
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

// line takes in a line that belongs to no traceback.
func (r *Reading) line(line Line) {
	r.history.loose(line)
	if r.says != nil {
		switch says, shown := r.says(line); says {
		case nothing:
			return
		case steps:
			r.step(line, shown)
			return
		}
	}
	near := line.Number <= headLines
	if near {
		r.clues.line(line)
	}
	ids := r.words(line.Text)
	r.states(ids, line.Body(), line, near)
	el := element{line: line, text: line.Text}
	if r.match(ids, &el) {
		r.progressed(line)
	}
	r.note(&event{chain: []element{el}}, line)
}

// step takes in a line that can only show progress. The numbers are those of the literals in it.
func (r *Reading) step(line Line, shown []int32) {
	r.known = r.known[:0]
	for _, n := range shown {
		if s := r.engine.steps[n]; !slices.Contains(r.known, s) && r.engine.fits(s, line.Text) {
			r.known = append(r.known, s)
		}
	}
	if r.consider(r.known, &element{line: line, text: line.Text}) {
		r.progressed(line)
	}
}

// exception takes in the last exception of a chain, with those before it.
func (r *Reading) exception(e *Exception) {
	raised := &event{}
	for x := e; x != nil; x = x.Earlier {
		r.clues.exception(x)
		el := element{line: x.Line, exception: x, text: x.Text(), past: e.Before, near: true}
		for _, line := range x.Lines {
			r.states(r.words(line.Text), line.Text, line, true)
		}
		r.match(r.words(el.text), &el)
		raised.chain = append(raised.chain, el)
	}
	e.Before = nil // it holds bytes of the log
	slices.Reverse(raised.chain)
	r.note(raised, e.Line)
	r.within(raised)
}

// within looks at the lines of the messages on their own: where a message ends is not always to be seen, so that the next thing that
// the program printed may be among them.
func (r *Reading) within(e *event) {
	for _, part := range e.chain {
		for i, line := range part.exception.Lines {
			if i == 0 || line.Text == "" || line.Text[0] == ' ' || line.Text[0] == '\t' {
				continue
			}
			el := element{line: line, text: line.Text, near: true}
			if r.match(r.words(line.Text), &el) {
				r.progressed(line)
			}
			el.matches = slices.DeleteFunc(el.matches, func(s *rules.Signature) bool { return slices.Contains(part.matches, s) })
			r.note(&event{chain: []element{el}}, line)
		}
	}
}

// words are the numbers of the words in a text, until it is called again.
func (r *Reading) words(text string) []int {
	r.ids = r.engine.words.in(text, r.ids[:0])
	return r.ids
}

// states takes the facts that a line states, and looks whether it is one that conditions look for. Near tells that it is worth to be
// looked at closely: common words may state something.
func (r *Reading) states(words []int, text string, line Line, near bool) {
	if r.facts.continues(text, line) {
		return
	}
	for _, n := range words {
		i := &r.engine.interest[n]
		if i.signature != nil || i.common && !near || !i.word.In(text) {
			continue
		}
		switch {
		case i.reader != nil && i.packages:
			r.facts.read(i.reader, text, line, fromPackageList)
		case i.reader != nil:
			r.facts.read(i.reader, text, line, fromLine)
		case i.dict != nil:
			r.facts.begin(i.dict, text, line)
		case i.trail != "":
			r.trails.add(i.trail, text, line)
		case i.xid:
			r.xids.add(r.engine.base.Xids, text, line)
		case i.pattern != nil:
			r.look(i.number, text, line)
		}
	}
	if near {
		for _, number := range r.engine.wordless {
			r.look(number, text, line)
		}
	}
}

// look notes whether a line is the first that one of the scope's patterns matches.
func (r *Reading) look(number int, text string, line Line) {
	if r.seen[number].Number == 0 && r.engine.base.Scope.SeenPatterns()[number].Matches(text) {
		r.seen[number] = line
	}
}

// match finds the signatures whose conditions an element fulfils, as far as they can be decided before the log is read to its end.
// It tells whether the line shows progress.
func (r *Reading) match(words []int, el *element) (progress bool) {
	signatures := r.known[:0]
	looking := el.exception != nil && r.engine.genericLooks
	for _, n := range words {
		i := &r.engine.interest[n]
		if s := i.signature; s != nil && (el.near || !i.last) && !slices.Contains(signatures, s) && r.engine.fits(s, el.text) {
			signatures, looking = append(signatures, s), looking || s.Before
		}
	}
	r.known = signatures
	switch {
	case looking && el.exception == nil:
		el.before = r.before(el.line)
	case looking && el.past != nil:
		el.before = el.past()
	}
	el.past = nil
	return r.consider(signatures, el)
}

// consider notes which of the signatures, and of those for every exception, an element may be of: none for a line that is surely
// harmless. It tells whether the line shows progress.
func (r *Reading) consider(signatures []*rules.Entry, el *element) (progress bool) {
	if len(signatures) == 0 && el.exception == nil {
		return false
	}
	el.variables(r.scratch)
	harmless := el.exception == nil && r.harmless(signatures)
	consider := func(e *rules.Entry) {
		switch s := e.Signature(); {
		case s.Role == rules.Progress:
			progress = progress || r.watches(el.line) && possible(s.Match, r.scratch)
		case harmless:
		case slices.Contains(el.matches, s) || !possible(s.Match, r.scratch):
		default:
			el.matches = append(el.matches, s)
		}
	}
	for _, s := range signatures {
		consider(s)
	}
	if el.exception != nil {
		for _, s := range r.engine.generic {
			if r.engine.mayMatch(s, el.text) {
				consider(s)
			}
		}
	}
	return progress
}

// harmless tells whether one of the signatures that may know a line surely says that it does not matter. Where all of them are of that
// kind or of progress, nobody has to know which.
func (r *Reading) harmless(signatures []*rules.Entry) bool {
	noise := func(e *rules.Entry) bool { return e.Role == rules.Noise }
	if !slices.ContainsFunc(signatures, func(e *rules.Entry) bool { return !noise(e) && e.Role != rules.Progress }) {
		return true
	}
	return slices.ContainsFunc(signatures, func(e *rules.Entry) bool { return noise(e) && all(e.Signature().Match, r.scratch) })
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
func (r *Reading) note(e *event, line Line) {
	if e.chain[0].exception == nil && e.harmless() {
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
		known.number = len(r.events)
		r.events[key] = known
	}
	r.clues.line(line)
	known.occurred(occurrence{order: r.order(line), line: line, writer: processKey(line)})
	if !known.harmless() {
		p := r.process(line)
		p.failed = max(p.failed, r.order(line))
		r.state(line.Source).watch()
	}
}

func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}
