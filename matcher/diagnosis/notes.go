package diagnosis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules/signature"
)

// Bounds of what is told beside the cause.
const (
	maxConsequences = 12  // later failures, and notes of a kind
	maxNoted        = 160 // bytes of a line in a note
)

// consequences are the later failures that the root explains.
func (c conclusion) consequences() []report.Consequence {
	list := []report.Consequence{}
	for _, f := range c.findings {
		if f == c.root || f.Handled || f.machine || c.root.leaves(f) || len(list) == maxConsequences {
			continue
		}
		list = append(list, report.Consequence{Title: f.headline(), Line: f.First.Line.Number, Ranks: f.Ranks()})
	}
	return list
}

// before are sentences about the failures of earlier commands that the root leaves behind.
func (c conclusion) before() (notes []string) {
	told := make(map[string]bool) // several lines tell one thing, as the title of a post and its traceback
	if c.root != nil {
		told[c.root.headline()] = true
	}
	for _, f := range c.findings {
		if c.root != nil && c.root.leaves(f) && !told[f.headline()] && len(notes) < maxConsequences {
			told[f.headline()] = true
			notes = append(notes, fmt.Sprintf("An earlier command failed too, in line %d: %s. The answer is about the last one.", f.First.Line.Number, f.headline()))
		}
	}
	return notes
}

// lasting are sentences about what the job survived and something has to be done about all the same.
func (c conclusion) lasting() (notes []string) {
	for _, f := range c.findings {
		switch {
		case !f.Handled || !f.lasting() || len(notes) == maxConsequences:
		case f == c.root:
			notes = append(notes, fmt.Sprintf("The job went on after line %d. It is told because something has to be done about it.", f.First.Line.Number))
		default:
			notes = append(notes, fmt.Sprintf("The job went on after line %d, and yet something has to be done about it: %s.", f.First.Line.Number, f.headline()))
		}
	}
	return notes
}

// meanwhile are sentences about what the machine's messages tell and the answer does not, which these facts decided.
func (c conclusion) meanwhile(decided []report.FactValue) (notes []string) {
	told := make(map[string]bool) // several lines of the kernel tell one thing
	if c.root != nil {
		told[c.root.headline()] = true
	}
	for _, f := range c.findings {
		if f == c.root || !f.machine || f.role() != signature.Cause || told[f.headline()] || len(notes) == maxConsequences || toldBy(f, decided) {
			continue
		}
		told[f.headline()] = true
		line := clean(f.element.Line.Text, maxNoted)
		notes = append(notes, fmt.Sprintf("While the job ran: %s (%s: %s).", f.headline(), machineSource(f.First.Line), line))
	}
	return notes
}

// toldBy tells whether one of the facts is from the messages that show the finding.
func toldBy(f *finding, facts []report.FactValue) bool {
	return slices.ContainsFunc(facts, func(known report.FactValue) bool {
		return known.Source == "live" && strings.HasPrefix(known.Where, f.First.Line.Source) && known.Value != nil && known.Value != false
	})
}

// headline is the finding in a few words.
func (f *finding) headline() string {
	title := f.element.Text
	if !f.role().LastResort() {
		title = f.matches[0].signature.Headline.Fill(f.matches[0].situation)
	}
	title, _, _ = strings.Cut(title, "\n")
	return clean(title, maxTitle)
}
