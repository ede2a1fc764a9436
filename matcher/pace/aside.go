package pace

import (
	"github.com/gpu-triage/triage/matcher/logline"
)

// aside is work other than steps, as a progress bar tells it.
type aside struct {
	name      string // as the bar names it; "" when there is none
	done, all float64
	line      logline.Line
}

func (a *aside) take(groups map[string]string) {
	if groups["work"] != "" {
		a.name, a.done, a.all = groups["work"], numberIn(groups["work_done"]), numberIn(groups["work_all"])
	}
}

// unfinished is the work that goes on where the marks end: no step comes after it, and its bar is not at its end. Its name is "" when there
// is none.
func unfinished(marks []mark) aside {
	var last aside
	for _, m := range marks {
		switch {
		case m.by != "":
			last = aside{}
		case m.aside.name != "":
			last = m.aside
			last.line = m.line
		}
	}
	if last.done >= last.all {
		return aside{}
	}
	return last
}

// AtWork tells which work other than steps goes on where the logs end, nil when none does. Whether others wait for it is for the caller to
// know.
func AtWork(paces []*Pace) *Finding {
	for _, p := range paces {
		if p.aside.name == "" {
			continue
		}
		found := &Finding{Kind: Working, Lines: []logline.Line{p.aside.line}, work: p.aside}
		if p.aside.line.Rank != logline.NoRank {
			found.About, found.names = found.Lines, []string{nameOf(p.aside.line)}
		}
		return found
	}
	return nil
}
