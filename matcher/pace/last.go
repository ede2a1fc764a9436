package pace

import (
	"time"

	"github.com/gpu-triage/triage/matcher/logline"
)

// LastStep is the last step that a process showed.
type LastStep struct {
	Number float64
	Line   logline.Line
	At     time.Time // of its line or the last before it; zero when there is none
}

// LastSteps are those of the ranks of a job whose lines name their rank, in the order of the ranks.
func LastSteps(paces []*Pace) []LastStep {
	processes := pacers(paces)
	all := make([]LastStep, 0, len(processes))
	for _, one := range processes {
		if one.last.line.Rank != logline.NoRank {
			all = append(all, LastStep{Number: one.last.number, Line: one.last.line, At: one.last.at})
		}
	}
	return all
}

// Reached is how far a source shows the steps of its processes, and how long one takes lately in seconds, 0 where it does not tell; not ok
// when it shows none that count.
func (p *Pace) Reached() (step, seconds float64, ok bool) {
	for _, s := range p.series {
		if !s.current {
			continue
		}
		if !ok || s.last.number > step {
			step, seconds = s.last.number, s.recent
		}
		ok = true
	}
	return step, seconds, ok
}
