package pace

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/condition"
)

// When a job that is watched counts as standing still, unless somebody says after how long.
const (
	stillAfter     = 5 * time.Minute  // without anything new
	stillInPause   = 30 * time.Minute // likewise, when an evaluation or a checkpoint began: they may print nothing
	stillSteps     = 20               // times the usual time from step to step, likewise
	stillLongest   = 2                // times the longest time from step to step, likewise
	suspectAfter   = 6 * time.Second  // instead of stillAfter, for one that somebody ended
	enoughAdvances = 5                // times that steps were seen to go on

	maxWaiting   = 64 << 10 // bytes of an output that wait for the next look; of more, the last are looked at
	maxTemplates = 4096
	maxWatched   = 256 // processes
	maxTimes     = 64  // from step to step, of which the middle one is the usual
)

// Watch reads along while a job runs, and tells whether it stands still: no step comes, and nothing else that is new. It has no clock: who
// looks says what time it is. What it is given it may leave out where much comes at once, so that it holds nobody up.
type Watch struct {
	steps     *StepReader
	situation *condition.Situation

	mutex   sync.Mutex // of what waits in the outputs
	outputs []*Output

	processes []*watched
	templates map[uint64][]reader // of the lines that were seen
	advances  int
	finished  bool
	paused    bool
	news      time.Time     // when something new came last
	stepped   time.Time     // when a step came last
	first     time.Time     // the first look
	gap       time.Duration // the longest without anything new since then
	gapSince  time.Time
	times     []time.Duration
	longest   time.Duration
}

// watched is a process that writes.
type watched struct {
	name string
	last logline.Line
	at   time.Time
	step float64
}

// Output is one output of the job. It implements io.Writer.
type Output struct {
	watch   *Watch
	name    string
	form    *logline.Form
	waiting []byte
	line    int // number of the first line in waiting
}

// NewWatch prepares to watch a job, with the signatures of a knowledge base that know its steps.
func NewWatch(base *rules.Base, steps *StepReader) *Watch {
	return &Watch{steps: steps, situation: base.Scope.NewSituation(), templates: make(map[uint64][]reader)}
}

// Output begins to watch an output under the name that the user knows it by.
func (w *Watch) Output(name string) *Output {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	o := &Output{watch: w, name: name, line: 1}
	w.outputs = append(w.outputs, o)
	return o
}

// Write takes what was printed. It never fails and never waits.
func (o *Output) Write(p []byte) (int, error) {
	o.watch.mutex.Lock()
	defer o.watch.mutex.Unlock()
	o.waiting = append(o.waiting, p...)
	if over := len(o.waiting) - maxWaiting; over > 0 {
		if end := bytes.IndexByte(o.waiting[over:], '\n'); end >= 0 {
			over += end + 1
		}
		o.line += bytes.Count(o.waiting[:over], []byte{'\n'})
		o.waiting = append(o.waiting[:0], o.waiting[over:]...)
	}
	return len(p), nil
}

// take takes the lines that are whole out of what waits.
func (o *Output) take() (lines []byte, first int) {
	o.watch.mutex.Lock()
	defer o.watch.mutex.Unlock()
	end := bytes.LastIndexAny(o.waiting, "\r\n") + 1 // a progress bar has no other end than \r
	lines, first = bytes.Clone(o.waiting[:end]), o.line
	o.line += bytes.Count(lines, []byte{'\n'})
	o.waiting = append(o.waiting[:0], o.waiting[end:]...)
	return lines, first
}

// Look takes in what came until now.
func (w *Watch) Look(now time.Time) {
	if w.first.IsZero() {
		w.first, w.news = now, now
	}
	w.mutex.Lock()
	outputs := slices.Clone(w.outputs)
	w.mutex.Unlock()
	fresh, advanced := false, false
	for _, o := range outputs {
		lines, number := o.take()
		if len(lines) > 0 && o.form == nil {
			o.form = logline.Sniff(o.name, lines)
		}
		for raw := range bytes.Lines(lines) {
			o.form.Clean(number, bytes.TrimSuffix(raw, []byte{'\n'}), func(line logline.Line) error { //nolint:errcheck // nothing fails
				new, step := w.line(line, now)
				fresh, advanced = fresh || new, advanced || step
				return nil
			})
			number++
		}
	}
	if fresh || advanced {
		if quiet := now.Sub(w.news); quiet > w.gap {
			w.gap, w.gapSince = quiet, w.news
		}
		w.news = now
	}
	if advanced {
		w.advance(now)
	}
}

// advance notes that steps went on.
func (w *Watch) advance(now time.Time) {
	if !w.stepped.IsZero() {
		took := now.Sub(w.stepped)
		w.longest = max(w.longest, took)
		if w.times = append(w.times, took); len(w.times) > maxTimes {
			w.times = w.times[1:]
		}
	}
	w.stepped, w.gap = now, 0
}

// line takes in a line. It tells whether the line is unlike all before it, and whether a process made a step.
func (w *Watch) line(line logline.Line, now time.Time) (fresh, advanced bool) {
	if strings.TrimSpace(line.Text) == "" {
		return false, false
	}
	line.Text = strings.Clone(logline.Clip(line.Text, MaxMarked))
	template := templateOf(line.Text)
	by, known := w.templates[template]
	if !known {
		by = w.steps.of(&line, w.situation)
		if len(w.templates) < maxTemplates {
			w.templates[template] = by
		}
	}
	p := w.process(line)
	p.last, p.at = line, now
	read := stepIn(line.Text, by)
	w.finished = (w.finished || read.finished) && (read.by == "" || read.finished)
	if read.by == "" {
		w.paused = w.paused || read.pause
		return !known, false
	}
	if read.number == p.step {
		return !known, false
	}
	p.step, w.paused = read.number, false
	w.advances++
	return !known, true
}

// process is the one that printed a line; when there are too many, the last of them stands for the others.
func (w *Watch) process(line logline.Line) *watched {
	name := nameOf(line)
	at := slices.IndexFunc(w.processes, func(p *watched) bool { return p.name == name })
	switch {
	case at >= 0:
	case len(w.processes) < maxWatched:
		w.processes = append(w.processes, &watched{name: name})
		at = len(w.processes) - 1
	default:
		at = maxWatched - 1
	}
	return w.processes[at]
}

// Standstill is how a job stands still that somebody watches.
type Standstill struct {
	Wait  time.Duration  // since something new came last; 0 when the job does not stand still
	Since time.Time      // when that was
	Usual time.Duration  // the usual time from step to step, 0 when nobody knows
	Lasts []logline.Line // the last line of each process
}

// Still tells whether the job stands still. Without a limit of its own, 0, the bounds are those of the package, and only a job whose steps are
// known can stand still.
func (w *Watch) Still(now time.Time, limit time.Duration) Standstill {
	still := w.standstill(w.news)
	still.Wait = now.Sub(w.news)
	if w.first.IsZero() || still.Wait < w.limit(limit, stillAfter) {
		still.Wait = 0
	}
	return still
}

// Suspected tells whether the job may stand still, long before that is sure.
func (w *Watch) Suspected(now time.Time) bool {
	return !w.first.IsZero() && now.Sub(w.news) >= w.limit(0, suspectAfter)
}

// Stood tells whether a job stood still before its end. What it printed at the end counts for nothing. Shorter bounds than those of Still hold
// for one that somebody ended.
func (w *Watch) Stood(end time.Time, own time.Duration, asked bool) Standstill {
	limit := w.limit(own, stillAfter)
	if asked {
		limit = min(limit, w.limit(0, suspectAfter))
	}
	wait, since := end.Sub(w.news), w.news
	if w.gap > wait {
		wait, since = w.gap, w.gapSince
	}
	still := w.standstill(since)
	still.Wait = wait
	if w.first.IsZero() || still.Wait < limit {
		still.Wait = 0
	}
	return still
}

// limit is after how long without anything new the job stands still.
func (w *Watch) limit(own, least time.Duration) time.Duration {
	const never = time.Duration(1<<63 - 1)
	switch {
	case own > 0:
		return own
	case w.finished || w.advances < enoughAdvances:
		return never
	case w.paused:
		least = max(least, stillInPause)
	}
	return max(least, stillSteps*w.usual(), stillLongest*w.longest)
}

// usual is the middle one of the times from step to step.
func (w *Watch) usual() time.Duration {
	if len(w.times) == 0 {
		return 0
	}
	ordered := slices.Sorted(slices.Values(w.times))
	return ordered[len(ordered)/2]
}

// standstill is how it stands since then, but for how long.
func (w *Watch) standstill(since time.Time) Standstill {
	still := Standstill{Since: since, Usual: w.usual()}
	processes := slices.SortedFunc(slices.Values(w.processes), func(a, b *watched) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.last.Rank, b.last.Rank), strings.Compare(a.name, b.name))
	})
	for _, p := range processes {
		if !p.at.After(since) || since.Equal(w.news) { // else it is what it printed at the end
			still.Lasts = append(still.Lasts, p.last)
		}
	}
	return still
}
