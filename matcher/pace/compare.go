package pace

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gpu-triage/triage/matcher/logline"
)

// contrast is something that no line states and a comparison of lines shows, in words that signatures can know.
type Finding struct {
	Text  string
	Lines []logline.Line // the one that shows where it began first
	About []logline.Line // a line of each process that it is about, when not about all
	Quiet bool           // nothing comes after it that could say more
}

// pacer is a process whose steps are compared with those of others.
type pacer struct {
	name string
	*series
}

// contrastsOf tells what the steps of all sources show together.
func Compare(paces []*Pace) []Finding {
	for _, p := range paces {
		if p.finished {
			return nil
		}
	}
	all := pacers(paces)
	if len(all) == 0 {
		return nil
	}
	if stopped := stopped(paces, all); stopped != nil {
		return []Finding{*stopped}
	}
	for _, find := range []func([]pacer) *Finding{slowed, slowest} {
		if found := find(all); found != nil {
			return []Finding{*found}
		}
	}
	return nil
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
		for _, one := range p.Series {
			if !one.current {
				continue
			}
			c := count{one.key.by, one.key.of}
			if groups[c] == nil {
				groups[c] = make(map[string]*series)
			}
			name := nameOf(one.last.Line)
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
		return cmp.Or(cmp.Compare(a.last.Line.Rank, b.last.Line.Rank), strings.Compare(a.name, b.name))
	})
	return all
}

// nameOf is what a process is called in a contrast.
func nameOf(line logline.Line) string {
	if line.Rank != logline.NoRank {
		return "rank " + strconv.Itoa(line.Rank)
	}
	return cmp.Or(line.Writer, path.Base(strings.ReplaceAll(line.Source, `\`, "/")))
}

// stopped tells that no process shows a step any more, and which were the first to stop.
func stopped(paces []*Pace, all []pacer) *Finding {
	for _, p := range paces {
		if p.paused {
			return nil
		}
	}
	first := slices.MaxFunc(all, func(a, b pacer) int { return cmp.Compare(a.last.number, b.last.number) })
	wait, end, quiet := waited(paces)
	var behind []pacer
	for _, one := range all {
		due := first.last.number - one.last.number
		if one.turn > 0 && due >= one.turn && due <= one.apart+fewTurns*one.turn && (wait > 0 || len(paces) == 1 && one.leftBehind(due)) {
			behind = append(behind, one)
		}
	}
	what := ""
	if wait > 0 {
		what = "; nothing new for " + spoken(wait)
	}
	switch {
	case len(behind) > 0 && 2*len(behind) <= len(all):
		stuck := behind[0]
		what = fmt.Sprintf("pace: %s without a step after %s; %d others reached %s%s", names(behind), decimal(stuck.last.number), len(all)-len(behind), decimal(first.last.number), what)
		found := &Finding{Text: what, Lines: []logline.Line{stuck.last.Line, first.last.Line}, Quiet: quiet}
		for _, one := range behind {
			found.About = append(found.About, one.last.Line)
		}
		return found.ending(wait, end)
	case wait > 0:
		found := &Finding{Text: fmt.Sprintf("pace: no step after %s%s", decimal(first.last.number), what), Lines: []logline.Line{first.last.Line}, Quiet: quiet}
		return found.ending(wait, end)
	}
	return nil
}

// ending quotes the line by whose timestamp the wait is known.
func (found *Finding) ending(wait time.Duration, end logline.Line) *Finding {
	if wait > 0 {
		found.Lines = append(found.Lines, end)
	}
	return found
}

// leftBehind tells without a clock that a process is farther behind than processes are while all go on.
func (one *series) leftBehind(due float64) bool {
	return one.turns >= enoughTurns && due > one.apart && due >= 2*one.turn
}

// waited is for how long no step has come, as far as timestamps prove it, the line that shows it, and whether nothing new came.
func waited(paces []*Pace) (wait time.Duration, end logline.Line, quiet bool) {
	var stepped, ended Mark
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
	if wait = ended.at.Sub(stepped.at); wait < longWait || wait < waitFactor*longest || !logline.SameClock(ended.at, stepped.at) {
		return 0, logline.Line{}, quiet
	}
	return wait, ended.Line, quiet
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
	began, who := slow[0].slow, "steps take"
	found := &Finding{Lines: []logline.Line{began.since.Line, began.before.Line}, Quiet: true}
	if tolerated*len(slow) < (tolerated-1)*told {
		who = names(slow) + " of " + strconv.Itoa(len(all)) + " with steps that take"
		for _, one := range slow {
			found.About = append(found.About, one.slow.since.Line)
		}
	}
	found.Text = fmt.Sprintf("pace: %s %.1f times as long since step %s", who, began.now/began.usual, decimal(began.since.number))
	if !began.since.rate {
		found.Text += fmt.Sprintf(": %s instead of %s", seconds(began.now), seconds(began.usual))
	}
	if began.waits > 0 {
		found.Text += fmt.Sprintf("; %.0f %% of it waits for data", 100*began.waits)
	}
	if len(found.About) == 0 && len(slow) > 2 && began.since.number < slow[1].slow.since.number {
		found.Text += "; seen first on " + slow[0].name
	}
	return found
}

// slowest tells which processes take several times as long for a step as the others.
func slowest(all []pacer) *Finding {
	var told []pacer
	for _, one := range all {
		if one.recent > 0 && one.turn == all[0].turn && one.turn > 0 {
			told = append(told, one)
		}
	}
	if len(told) < 3 {
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
	found := &Finding{Quiet: true, Lines: []logline.Line{slow[len(slow)-1].last.Line, told[most/2].last.Line}}
	for _, one := range slow {
		found.About = append(found.About, one.last.Line)
	}
	found.Text = fmt.Sprintf("pace: %s with steps that take %.1f times as long as those of the %d others", names(slow), slow[0].recent/usual, most)
	return found
}

const maxNamed = 8 // processes in one contrast

func names(all []pacer) string {
	var list []string
	for _, one := range all[:min(len(all), maxNamed)] {
		list = append(list, one.name)
	}
	text := strings.Join(list, ", ")
	if more := len(all) - maxNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func decimal(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

func seconds(n float64) string { return strconv.FormatFloat(n, 'g', 3, 64) + " s" }

func spoken(d time.Duration) string {
	if d < 2*time.Hour {
		return fmt.Sprintf("%.0f minutes", d.Minutes())
	}
	return fmt.Sprintf("%.1f hours", d.Hours())
}
