package render

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/gpu-triage/triage/matcher/report"
)

// Style says how Text may look.
type Style struct {
	Width int    // columns; 0 or less: 80
	Color bool   // ANSI colours
	Logs  string // the logs as the user named them, quoted for a shell; empty: they came through standard input
}

// How much of something long a screen gets; the JSON form has all of it.
const (
	shownConsequence = 8
	shownRules       = 4 // of one backend
	shownMissing     = 10
	valueWidth       = 36
)

// Text returns r as a terminal shows it: the root cause first, then the lines that show it, why, the facts that decided, what to do,
// and what was only a consequence. Prose is wrapped, commands are not, so that they can be copied.
func Text(r *report.Report, style Style) string {
	p := newPage(style)
	if len(r.Diagnoses) == 0 {
		p.silence(r)
	}
	for i, d := range r.Diagnoses {
		if i > 0 {
			p.line(0, "")
		}
		p.diagnosis(d)
		if i == 0 {
			p.ranks(r)
		}
	}
	for _, note := range remarks(r) {
		p.line(0, "")
		p.hanging(0, p.paint.note("note: "), note)
	}
	if earlier := Earlier(r); len(earlier) > 0 {
		p.hanging(0, "earlier: ", strings.Join(earlier, " "))
	}
	if by := made(r); by != "" {
		p.line(0, "")
		p.line(0, p.paint.faint(by))
	}
	if link := Complaint(r); link != "" {
		p.hanging(0, "wrong? ", "This opens an issue, which you see before it is sent.")
		p.line(0, link)
	}
	return p.out.String()
}

func (p *page) diagnosis(d report.Diagnosis) {
	p.headline(d)
	p.evidence(d.Evidence)
	if who := spread(d); len(d.Ranks) > 1 || d.Count > 1 { // else the evidence says it
		for _, row := range wrap(who, p.width-2) {
			p.line(2, p.paint.faint(row))
		}
	}
	if d.Cause != "" {
		p.line(0, "")
		p.prose(2, d.Cause)
	}
	p.facts(d)
	p.missing(d.Missing)
	p.backends(d.Backends)
	p.fixes(d.Fixes)
	p.consequences(d.Consequences)
	p.references(d.References)
	if d.Certainty == report.Unexplained {
		p.section("next", 1)
		p.hanging(4, "", unexplained)
		p.command(8, draft)
	}
}

// verdict is how sure a diagnosis is, with its id, up to its title.
func (p *page) verdict(d report.Diagnosis) string {
	colour := map[report.Certainty]func(string) string{report.Confirmed: p.paint.confirmed, report.Likely: p.paint.likely}[d.Certainty]
	if colour == nil {
		colour = p.paint.note
	}
	label := colour(string(d.Certainty))
	if d.Certainty != report.Unexplained { // its id says less than its title
		label += p.paint.faint("[" + Line(d.ID) + "]")
	}
	return label + ": "
}

func (p *page) headline(d report.Diagnosis) {
	label := p.verdict(d)
	for i, row := range wrap(Line(d.Title), p.width-ansi.StringWidth(label)) {
		if i > 0 {
			label = strings.Repeat(" ", ansi.StringWidth(label))
		}
		p.line(0, label+p.paint.strong(row))
	}
}

// evidence quotes lines beside their numbers; neighbours of one file and rank share the line that names it.
func (p *page) evidence(quotes []report.Evidence) {
	gutter := 0
	for _, e := range quotes {
		gutter = max(gutter, len(strconv.Itoa(e.Line)))
	}
	bar := p.paint.gutter(strings.Repeat(" ", gutter) + " |")
	for i, e := range quotes {
		if i == 0 || !samePlace(quotes[i-1], e) {
			p.line(0, strings.Repeat(" ", gutter)+p.paint.gutter("--> ")+place(e))
			p.line(0, bar)
		}
		rows := quoted(e.Text, p.width-gutter-3)
		for j, row := range rows {
			edge := bar
			if j == 0 && e.Line > 0 {
				edge = p.paint.gutter(fmt.Sprintf("%*d |", gutter, e.Line))
			}
			if i == 0 {
				row = p.paint.strong(row)
			}
			p.line(0, edge+" "+row)
		}
	}
	if len(quotes) > 0 {
		p.line(0, bar)
	}
}

func samePlace(a, b report.Evidence) bool {
	if a.Source != b.Source || (a.Rank == nil) != (b.Rank == nil) {
		return false
	}
	return a.Rank == nil || *a.Rank == *b.Rank
}

func (p *page) facts(d report.Diagnosis) {
	p.section("decided by", len(d.Facts))
	var rows [][]string
	for _, f := range d.Facts {
		if line, same := strings.CutPrefix(f.Where, logOf(d)+":"); same {
			f.Where = "line " + line
		}
		rows = append(rows, []string{Line(f.Name), cut(Value(f.Value), valueWidth), p.paint.faint(origin(f))})
	}
	p.table(rows)
}

// logOf is the log that a diagnosis is about, which need not be named again and again.
func logOf(d report.Diagnosis) string {
	if len(d.Evidence) == 0 {
		return ""
	}
	return d.Evidence[0].Source
}

func (p *page) missing(missing []report.Missing) {
	p.section("not known, and it would decide", len(missing))
	for i, m := range missing {
		if i == shownMissing {
			p.line(4, p.paint.faint(fmt.Sprintf("and %d more", len(missing)-i)))
			break
		}
		p.hanging(4, p.paint.strong(Line(m.Name))+"  ", Line(m.Why))
		p.command(8, m.How)
	}
}

// unknown is the verdict about a backend that some rules rule out in some of the cases that the facts leave open.
const unknown = "unknown"

func (p *page) backends(backends []report.Backend) {
	p.section("backends", len(backends))
	verdict := map[string]func(string) string{"allowed": p.paint.good, "disabled": p.paint.confirmed}
	name := 0
	for _, b := range backends {
		name = max(name, len(b.Name))
	}
	for _, b := range backends {
		colour := verdict[b.Verdict]
		if colour == nil {
			colour = p.paint.likely
		}
		label := fmt.Sprintf("%-*s  ", name, Line(b.Name)) + colour(Line(b.Verdict))
		if len(b.Rules) == 0 && len(b.Missing) == 0 {
			p.line(4, label)
			continue
		}
		label += strings.Repeat(" ", max(10-len(b.Verdict), 1))
		if b.Verdict == unknown && len(b.Rules) > 0 {
			p.hanging(4, label, "these may rule it out:")
			label = strings.Repeat(" ", ansi.StringWidth(label))
		}
		for i, rule := range b.Rules {
			if i == shownRules {
				p.hanging(4, label, p.paint.faint(fmt.Sprintf("and %d more rules; the JSON form has them all", len(b.Rules)-i)))
				break
			}
			p.hanging(4, label, sentence(rule.Because)+p.ruleName(rule))
			label = strings.Repeat(" ", ansi.StringWidth(label))
		}
		if len(b.Missing) > 0 {
			p.hanging(4, label, "depends on "+Line(strings.Join(b.Missing, ", ")))
		}
	}
}

// ruleName is a rule's name behind its reason; the log's own words have none.
func (p *page) ruleName(rule report.BackendRule) string {
	if rule.ID == "" {
		return ""
	}
	return " " + p.paint.faint("["+Line(rule.ID)+"]")
}

func (p *page) fixes(fixes []report.Fix) {
	p.section("fix", len(fixes))
	for i, f := range fixes {
		number := strconv.Itoa(i+1) + ". "
		p.hanging(4, p.paint.good(number), Line(f.Do))
		for _, c := range f.Commands() {
			p.commands(4+len(number)+2, c)
		}
		if said := Outcome(f); said != "" {
			p.hanging(4, strings.Repeat(" ", len(number)), said)
		}
	}
}

// commands writes commands of one kind. What is Python says so, for it looks like a shell's line.
func (p *page) commands(indent int, c report.Commands) {
	for _, command := range c.Run {
		switch c.Kind {
		case "python":
			p.command(indent, "python: "+command)
		case "text":
			p.hanging(indent, "", Line(command))
		default:
			p.command(indent, command)
		}
	}
}

func (p *page) consequences(all []report.Consequence) {
	p.section("only a consequence", len(all))
	for i, c := range all {
		if i == shownConsequence {
			p.line(4, p.paint.faint(fmt.Sprintf("and %d more", len(all)-i)))
			break
		}
		where := fmt.Sprintf("line %d", c.Line)
		if len(c.Ranks) > 0 {
			where += " [" + rankList(c.Ranks) + "]"
		}
		p.hanging(4, p.paint.faint(where)+"  ", Line(c.Title))
	}
}

func (p *page) references(references []string) {
	p.section("see", len(references))
	for _, reference := range references {
		p.line(4, p.paint.link(Line(reference)))
	}
}

// silence writes what stands in the place of a diagnosis when there is none.
func (p *page) silence(r *report.Report) {
	p.line(0, silence(r))
	if next := afterSilence(r); next != "" {
		p.hanging(0, p.paint.note("next: "), next)
	}
}
