// Package pace knows how the steps of a job go on over time. Of each source it takes a sample of the lines (Sample); signatures of the role
// pace read the steps in it (StepReader); the sample of a source that ends is summed up (Pace); and a comparison of all sources shows what
// no line states (Finding): that no step comes any more, that each takes several times as long from one on, or that some processes are
// slower than the others.
//
// Statistics that find changes in series are no help here: they tell that something changed, and most changes in a log are meant. What
// counts as broken is far from all that healthy jobs show, and each bound says what it keeps out.
package pace

import (
	"cmp"
	"slices"
	"time"

	"github.com/gpu-triage/triage/matcher/logline"
)

// When a job that no line calls broken counts as slower or as standing still. Each is far from what healthy jobs show: an evaluation,
// a checkpoint or the first steps take long, but not as long, not to the end, or not as suddenly.
const (
	slowFactor  = 3               // a step takes so many times what it took: no noise, and no other batch of the same work
	suddenly    = 1.5             // just before, it took at most so many times what was usual: what grows bit by bit was meant to
	enoughPaces = 10              // steps seen before and after: fewer are a pause
	tolerated   = 10              // one step in so many may be fast among slow ones, or slow among fast ones
	longWait    = 5 * time.Minute // without a step: shorter pauses are common
	waitFactor  = 4               // times the longest wait that was seen before
	enoughGaps  = 10              // waits seen before
	enoughTurns = 20              // steps of a process in a row: they tell how far processes are apart when all is well
	fewTurns    = 5               // the others get so many steps farther, at most, before they wait
)

// Pace is how a source's processes went on.
type Pace struct {
	series   []*series
	finished bool  // the work was done
	paused   bool  // something other than steps began after the last
	quiet    bool  // after the last step came nothing new, only lines of kinds that came before
	aside    aside // work other than steps that goes on where the source ends
	clock    bool
	stepped  *mark         // the last line that shows a step
	ended    *mark         // the last line with a timestamp before anything new
	longest  time.Duration // between two lines that show steps
	gaps     int
}

// Processes is how many processes show steps, counting one again for each count that it keeps.
func (p *Pace) Processes() int { return len(p.series) }

// series is one count of steps by one process.
type series struct {
	key     seriesKey
	marks   []mark // of the sample; only the last one is kept when the source ends
	last    *mark
	sure    *logline.Line // its last line but one with a larger number than all before it
	lines   int           // of the sample that show its steps
	turn    float64       // steps from one of its lines to the next
	turns   int           // lines in a row that it has at the end of the source
	apart   float64       // steps that a process was behind the first one at most, as long as all went on
	recent  float64       // seconds for a step lately, 0 when unknown
	slow    *slowdown
	growth  *Growth
	current bool // its process counts nothing else later
}

type seriesKey struct {
	writer string
	by     string
	of     float64
}

// close sums up the sample of a source; nil when it shows neither steps nor other work.
func (s *Sample) close() *Pace {
	if !slices.ContainsFunc(s.marks, func(m mark) bool { return m.by != "" || m.aside.name != "" }) {
		return nil
	}
	p := &Pace{clock: s.clock(), aside: unfinished(s.marks)}
	p.wait(s.marks)
	p.group(s.marks)
	row := max(s.closed, 1)
	p.distances(s.marks, row)
	for _, one := range p.series {
		one.close(p, row)
	}
	return p
}

// wait finds the last step and what came after it.
func (p *Pace) wait(marks []mark) {
	lastStep := 0
	for i, m := range marks {
		if m.by != "" {
			lastStep = i
		}
	}
	stepped := marks[lastStep]
	p.stepped = &stepped
	known, before := make(map[uint64]bool), (*mark)(nil)
	for i := range marks[:lastStep+1] {
		m := &marks[i]
		if i > 0 && m.line.Number > marks[i-1].line.Number+1 {
			before = nil // what was between is not known
		}
		if m.by == "" {
			known[m.template] = true
			continue
		}
		if before != nil && p.clock && !before.at.IsZero() {
			p.longest = max(p.longest, m.at.Sub(before.at))
			p.gaps++
		}
		before = m
	}
	p.quiet, p.finished, p.ended = true, p.stepped.finished, p.stepped
	for i := range marks[lastStep+1:] {
		m := marks[lastStep+1+i]
		p.finished, p.paused = p.finished || m.finished, p.paused || m.pause
		if p.quiet && !m.line.Time.IsZero() {
			p.ended = &m
		}
		p.quiet = p.quiet && (known[m.template] || m.line.Text == "")
	}
}

// group puts the steps of one count together.
func (p *Pace) group(marks []mark) {
	byKey := make(map[seriesKey]*series)
	latest := make(map[string]*series)
	for _, m := range marks {
		if m.by == "" {
			continue
		}
		key := seriesKey{m.line.Writer, m.by, m.of}
		one := byKey[key]
		if one == nil {
			one = &series{key: key}
			byKey[key] = one
			p.series = append(p.series, one)
		}
		if n := len(one.marks); n > 0 && m.number < one.marks[n-1].number {
			one.marks = one.marks[:0] // the count began again
		}
		one.marks, one.lines = append(one.marks, m), one.lines+1
		latest[key.writer] = one
	}
	for _, one := range p.series {
		one.last, one.sure = p.same(one.marks[len(one.marks)-1]), sure(one.marks)
		one.current = latest[one.key.writer] == one || p.stepped.line.Number-one.last.line.Number < rowLines
	}
}

// same is a mark, in the memory of the last step where it is that one: a job may have many sources.
func (p *Pace) same(m mark) *mark {
	if m == *p.stepped {
		return p.stepped
	}
	return &m
}

// sure is the last line but one with a larger number than all before it, nil when there is none: up to it the count surely went on.
func sure(marks []mark) *logline.Line {
	most, last, before := marks[0].number, -1, -1
	for i, m := range marks {
		if m.number > most {
			most, last, before = m.number, i, last
		}
	}
	if before < 0 {
		return nil
	}
	line := marks[before].line
	return &line
}

// WentOn are lines of the processes up to which the job surely went on: after each of them its process got farther. Done tells that
// the job then came to its end as it should.
func (p *Pace) WentOn() (lines []logline.Line, done bool) {
	for _, one := range p.series {
		if one.sure != nil {
			lines = append(lines, *one.sure)
		}
	}
	return lines, p.finished
}

// distances finds how far the processes of each count are apart while all go on, from a line on from which none is missing.
func (p *Pace) distances(marks []mark, row int) {
	type count struct {
		first float64 // how far the first of its processes is
		at    map[string]float64
		apart float64
	}
	type name struct {
		by string
		of float64
	}
	counts := make(map[name]*count)
	for _, m := range marks {
		if m.by == "" || m.line.Number < row {
			continue
		}
		c := counts[name{m.by, m.of}]
		if c == nil {
			c = &count{at: make(map[string]float64)}
			counts[name{m.by, m.of}] = c
		}
		if at, known := c.at[m.line.Writer]; known && m.number < at {
			clear(c.at)
			c.first = 0
		} else if known {
			c.apart = max(c.apart, c.first-at)
		}
		c.at[m.line.Writer], c.first = m.number, max(c.first, m.number)
	}
	for _, one := range p.series {
		if c := counts[name{one.key.by, one.key.of}]; c != nil {
			one.apart = c.apart
		}
	}
}

// close sums up the marks of a series.
func (one *series) close(p *Pace, row int) {
	var turns []float64
	for i := 1; i < len(one.marks); i++ {
		if d := one.marks[i].number - one.marks[i-1].number; d > 0 && one.marks[i-1].line.Number >= row {
			turns = append(turns, d)
		}
	}
	one.turn, one.turns = median(turns), len(turns)
	paces := one.paces(p.clock)
	if n := len(paces); n >= enoughPaces {
		one.recent = medianCost(paces[n-enoughPaces:])
	}
	one.slow, one.growth = slower(paces), growth(one.marks)
	one.marks = nil
}

// median is the middle one of some numbers, 0 of none.
func median(numbers []float64) float64 {
	if len(numbers) == 0 {
		return 0
	}
	ordered := slices.Clone(numbers)
	slices.SortFunc(ordered, cmp.Compare[float64])
	return ordered[len(ordered)/2]
}
