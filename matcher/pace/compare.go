package pace

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gpu-triage/triage/matcher/logline"
)

// pacer is a process whose steps are compared with those of others.
type pacer struct {
	name string
	*series
}

// Compare tells what the steps of all sources show together, or nil: that the job stands still before that it is slow. Whoever watches the
// job knows better than timestamps whether it does.
func Compare(paces []*Pace, seen Standstill) *Finding {
	if seen.Wait > 0 {
		return seen.finding(paces)
	}
	if slices.ContainsFunc(paces, func(p *Pace) bool { return p.finished }) {
		return nil
	}
	all := pacers(paces)
	if len(all) == 0 {
		return nil
	}
	return cmp.Or(stopped(paces, all), slowed(all), slowest(all))
}

// pacers are the processes of the count of steps that most of them show, by name.
func pacers(paces []*Pace) []pacer {
	type count struct {
		by string
		of float64
	}
	groups, lines := make(map[count]map[string]*series), make(map[count]int)
	var best count
	for _, p := range paces {
		for _, one := range p.series {
			if !one.current {
				continue
			}
			c := count{one.key.by, one.key.of}
			if groups[c] == nil {
				groups[c] = make(map[string]*series)
			}
			name := nameOf(one.last.line)
			if known := groups[c][name]; known == nil || known.last.number < one.last.number {
				groups[c][name] = one
			}
			lines[c] += one.lines
			if cmp.Or(cmp.Compare(len(groups[c]), len(groups[best])), cmp.Compare(lines[c], lines[best])) >= 0 {
				best = c
			}
		}
	}
	var all []pacer
	for name, one := range groups[best] {
		all = append(all, pacer{name, one})
	}
	slices.SortFunc(all, func(a, b pacer) int {
		return cmp.Or(cmp.Compare(a.last.line.Rank, b.last.line.Rank), strings.Compare(a.name, b.name))
	})
	return all
}

// nameOf is what a process is called in a finding.
func nameOf(line logline.Line) string {
	if line.Rank != logline.NoRank {
		return "rank " + strconv.Itoa(line.Rank)
	}
	return cmp.Or(line.Writer, path.Base(strings.ReplaceAll(line.Source, `\`, "/")))
}

// stopped tells that no process shows a step any more, and which were the first to stop; nil when neither a clock nor the steps of others
// prove it.
func stopped(paces []*Pace, all []pacer) *Finding {
	if slices.ContainsFunc(paces, func(p *Pace) bool { return p.paused }) {
		return nil
	}
	wait, end, quiet := waited(paces)
	found := stoppedFor(wait, quiet, paces, all)
	if found != nil && wait > 0 {
		found.Lines = append(found.Lines, end)
	}
	return found
}

// finding is that the job stands still, as somebody saw it.
func (s Standstill) finding(paces []*Pace) *Finding {
	if all := pacers(paces); len(all) > 0 {
		return stoppedFor(s.Wait, true, paces, all)
	}
	if len(s.Lasts) == 0 {
		return nil
	}
	return &Finding{Kind: Stopped, Quiet: true, stepless: true, Lines: s.Lasts[len(s.Lasts)-1:], wait: s.Wait}
}

// stoppedFor is stopped for a wait that is known, or 0.
func stoppedFor(wait time.Duration, quiet bool, paces []*Pace, all []pacer) *Finding {
	first := slices.MaxFunc(all, func(a, b pacer) int { return cmp.Compare(a.last.number, b.last.number) })
	behind := left(all, first.last.number, wait > 0, len(paces) == 1)
	found := &Finding{Kind: Stopped, Quiet: quiet, wait: wait}
	switch {
	case len(behind) > 0 && 2*len(behind) <= len(all):
		stuck := behind[0]
		found.step, found.reached, found.others = stuck.last.number, first.last.number, len(all)-len(behind)
		found.Lines = []logline.Line{stuck.last.line, first.last.line}
		found.about(behind, func(one pacer) logline.Line { return one.last.line })
	case wait > 0:
		found.step, found.Lines = first.last.number, []logline.Line{first.last.line}
	default:
		return nil
	}
	return found
}

// left are the processes that stopped before the first one came to a step, as far as that is proved: by the wait that the clock shows or,
// where all are in one source, by how far apart they are otherwise.
func left(all []pacer, reached float64, waited, oneSource bool) (behind []pacer) {
	for _, one := range all {
		due := reached - one.last.number
		inReach := one.turn > 0 && due >= one.turn && due <= one.apart+fewTurns*one.turn
		if inReach && (waited || oneSource && one.leftBehind(due)) {
			behind = append(behind, one)
		}
	}
	return behind
}

// about says that a finding is about these processes, and which line shows each.
func (found *Finding) about(these []pacer, line func(pacer) logline.Line) {
	for _, one := range these {
		found.About, found.names = append(found.About, line(one)), append(found.names, one.name)
	}
}

// leftBehind tells without a clock that a process is farther behind than processes are while all go on.
func (one *series) leftBehind(due float64) bool {
	return one.turns >= enoughTurns && due > one.apart && due >= 2*one.turn
}

// waited is for how long no step has come, as far as timestamps prove it, the line that shows it, and whether nothing new came.
func waited(paces []*Pace) (wait time.Duration, end logline.Line, quiet bool) {
	stepped, ended := &mark{}, &mark{}
	var longest time.Duration
	quiet = true
	for _, p := range paces {
		quiet = quiet && p.quiet
		if !p.clock || p.gaps < enoughGaps || p.stepped.at.IsZero() {
			continue
		}
		longest = max(longest, p.longest)
		if p.stepped.at.After(stepped.at) {
			stepped = p.stepped
		}
		if p.ended.at.After(ended.at) {
			ended = p.ended
		}
	}
	wait = ended.at.Sub(stepped.at)
	if wait < longWait || wait < waitFactor*longest || !logline.SameClock(ended.at, stepped.at) {
		return 0, logline.Line{}, quiet
	}
	return wait, ended.line, quiet
}

// slowed tells since when steps take several times as long, on all processes or some.
func slowed(all []pacer) *Finding {
	var slow []pacer
	told := 0
	for _, one := range all {
		if one.recent > 0 {
			told++
		}
		if one.slow != nil {
			slow = append(slow, one)
		}
	}
	if len(slow) == 0 {
		return nil
	}
	slices.SortStableFunc(slow, func(a, b pacer) int { return cmp.Compare(a.slow.since.number, b.slow.since.number) })
	began := slow[0].slow
	found := &Finding{
		Kind: Slower, Quiet: true, Lines: []logline.Line{began.since.line, began.before.line},
		step: began.since.number, factor: began.now / began.usual, data: began.waits,
	}
	if !began.since.rate {
		found.seconds, found.usual = began.now, began.usual
	}
	switch {
	case tolerated*len(slow) < (tolerated-1)*told:
		found.others = len(all) - len(slow)
		found.about(slow, func(one pacer) logline.Line { return one.slow.since.line })
	case len(slow) > 2 && began.since.number < slow[1].slow.since.number:
		found.first = slow[0].name
	}
	return found
}

// fewestCompared is how many processes are compared at least: of two, neither is the usual one.
const fewestCompared = 3

// slowest tells which processes, a quarter of them at most, take several times as long for a step as the others.
func slowest(all []pacer) *Finding {
	var told []pacer
	for _, one := range all {
		if one.recent > 0 && one.turn == all[0].turn && one.turn > 0 {
			told = append(told, one)
		}
	}
	if len(told) < fewestCompared {
		return nil
	}
	slices.SortStableFunc(told, func(a, b pacer) int { return cmp.Compare(a.recent, b.recent) })
	most := len(told) - max(1, len(told)/4)
	for most < len(told)-1 && told[most].recent < slowFactor*told[most/2].recent {
		most++
	}
	usual, slow := told[most/2].recent, told[most:]
	if slow[0].recent < slowFactor*usual || told[most-1].recent > suddenly*usual {
		return nil
	}
	found := &Finding{Kind: SlowerThanOthers, Quiet: true, others: most, factor: slow[0].recent / usual}
	found.Lines = []logline.Line{slow[len(slow)-1].last.line, told[most/2].last.line}
	found.about(slow, func(one pacer) logline.Line { return one.last.line })
	return found
}
