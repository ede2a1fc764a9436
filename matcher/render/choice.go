package render

import (
	"slices"
	"strings"

	"github.com/gpu-triage/triage/matcher/diagnosis"
	"github.com/gpu-triage/triage/matcher/report"
)

// Backends returns a choice as Text shows the backends of a diagnosis.
func Backends(c diagnosis.Choice, style Style) string {
	p := newPage(style)
	p.hanging(0, "", p.paint.strong(Line(strings.TrimSpace(c.Library+" "+c.Release)+": "+outcomeOf(c))))
	for _, note := range c.Notes {
		p.hanging(0, p.paint.note("note: "), Line(note))
	}
	p.backends(c.Backends)
	p.missing(c.Missing)
	p.fixes(c.Changes)
	return p.out.String()
}

func outcomeOf(c diagnosis.Choice) string {
	switch {
	case c.Selected != nil:
		return *c.Selected + " is used"
	case len(c.Available) > 0:
		return "available: " + strings.Join(c.Available, ", ")
	case slices.ContainsFunc(c.Backends, func(b report.Backend) bool { return b.Verdict == unknown }):
		return "not decided"
	}
	return "no backend is available"
}
