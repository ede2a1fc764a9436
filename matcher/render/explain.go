package render

import (
	"strings"

	"github.com/gpu-triage/triage/matcher/catalogue"
	"github.com/gpu-triage/triage/rules/backend"
)

// How much of a page of the catalogue a screen gets; the JSON form has all of it.
const (
	shownSamples = 1
	shownAlike   = 8
)

// Explain returns what is known of a failure as a terminal shows it.
func Explain(known *catalogue.Page, style Style) string {
	p := newPage(style)
	p.hanging(0, p.paint.note(Line(known.ID))+": ", Line(known.Title))
	if known.Note != "" {
		p.line(0, "")
		p.prose(2, known.Note)
	}
	p.samples(known.Samples)
	p.section("lines with", len(known.Words))
	for _, words := range known.Words[:min(len(known.Words), shownAlike)] {
		p.line(4, Line(words))
	}
	p.why(known)
	p.needs(known.Needs)
	p.fixes(known.Fixes)
	p.alike(known.Apart)
	p.references(known.Sources)
	return p.out.String()
}

func (p *page) samples(samples []catalogue.Sample) {
	samples = samples[:min(len(samples), shownSamples)]
	p.section("what it looks like", len(samples))
	for _, sample := range samples {
		for line := range strings.SplitSeq(sample.Log, "\n") {
			for _, row := range quoted(line, p.width-6) {
				if strings.TrimSpace(line) == sample.Shows {
					row = p.paint.strong(row)
				}
				p.line(4, p.paint.gutter("| ")+row)
			}
		}
	}
}

func (p *page) why(known *catalogue.Page) {
	p.section("why", len(known.Why))
	for _, text := range known.Why {
		p.prose(4, text)
	}
	if known.Filled && len(known.Why) > 0 {
		p.prose(4, p.paint.faint("(Names and numbers are those of the example.)"))
	}
	p.section("in other cases", len(known.Elsewhere))
	for _, text := range known.Elsewhere {
		p.hanging(4, "- ", Line(text))
	}
}

func (p *page) needs(needs []catalogue.Need) {
	p.section("what makes it sure", len(needs))
	for _, n := range needs {
		p.hanging(4, p.paint.strong(Line(n.Name))+"  ", Line(needed(n)))
		if n.How != "" {
			p.command(8, n.How)
		}
	}
}

// needed is what a fact is, and what it must be.
func needed(n catalogue.Need) string {
	switch {
	case n.Is == "":
		return n.About
	case n.About == "":
		return "is " + n.Is
	}
	return n.About + ": is " + n.Is
}

func (p *page) alike(others []catalogue.Alike) {
	p.section("what it is not", len(others))
	for _, other := range others[:min(len(others), shownAlike)] {
		name := ""
		if other.ID != "" {
			name = p.paint.strong(Line(other.ID)) + ": "
		}
		p.hanging(4, "- ", name+sentence(other.Title)+" "+other.Order)
		if other.Shows != "" {
			p.line(8, p.paint.gutter("| ")+cut(Line(other.Shows), p.width-10))
		}
	}
}

// ExplainRule returns what is known of a backend rule as a terminal shows it.
func ExplainRule(rule backend.Rule, library *backend.Library, style Style) string {
	p := newPage(style)
	p.hanging(0, p.paint.note(Line(rule.ID))+": ", sentence(rule.Because))
	p.line(0, "")
	p.prose(2, "A rule by which "+library.Title+" takes a backend out.")
	if rule.Message != "" {
		p.section("what it looks like", 1)
		p.hanging(4, "", rule.Message)
	}
	p.section("what would have to hold", len(rule.Needs))
	for _, need := range rule.Needs {
		p.line(4, Line(need))
	}
	p.references([]string{rule.Source})
	return p.out.String()
}
