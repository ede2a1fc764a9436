package render

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/gpu-triage/triage/matcher/report"
)

// details are what a reader wants only to check the answer.
func (m *markdown) details(d report.Diagnosis) {
	m.factTable("What decided", d.Facts)
	m.backendTable(d.Backends)
	m.list("Only a consequence", len(d.Consequences), func(i int) string {
		c := d.Consequences[i]
		where := fmt.Sprintf(" (line %d", c.Line)
		if len(c.Ranks) > 0 {
			where += ", " + rankList(c.Ranks)
		}
		return inline(cut(Line(c.Title), m.extent.line)) + where + ")"
	})
	m.list("See", len(d.References), func(i int) string { return reference(d.References[i]) })
}

func (m *markdown) everyFact(facts []report.FactValue) {
	if len(facts) == 0 {
		return
	}
	m.block("<details><summary>All facts</summary>")
	m.factTable("", facts)
	m.block("</details>")
}

func (m *markdown) factTable(title string, facts []report.FactValue) {
	if len(facts) == 0 {
		return
	}
	if title != "" {
		m.block("**" + title + "**")
	}
	rows := []string{"| fact | value | from |", "| --- | --- | --- |"}
	for _, f := range facts {
		rows = append(rows, fmt.Sprintf("| %s | %s | %s |", codeCell(cut(Line(f.Name), 100)), codeCell(cut(Value(f.Value), 200)),
			cell(cut(origin(f), 200))))
	}
	m.block(strings.Join(rows, "\n"))
}

func (m *markdown) backendTable(backends []report.Backend) {
	if len(backends) == 0 {
		return
	}
	m.block("**Backends**")
	rows := []string{"| backend | verdict | because |", "| --- | --- | --- |"}
	for _, b := range backends {
		var because []string
		for _, rule := range b.Rules {
			because = append(because, cell(cut(sentence(rule.Because), m.extent.line))+" "+codeCell(cut(Line(rule.ID), 100)))
		}
		if b.Verdict == unknown && len(because) > 0 {
			because = append([]string{"these may rule it out:"}, because...)
		}
		if len(b.Missing) > 0 {
			because = append(because, "depends on "+codeCell(cut(Line(strings.Join(b.Missing, ", ")), 300)))
		}
		rows = append(rows, fmt.Sprintf("| %s | %s | %s |", codeCell(cut(Line(b.Name), 100)), cell(cut(Line(b.Verdict), 100)), strings.Join(because, "<br>")))
	}
	m.block(strings.Join(rows, "\n"))
}

func (m *markdown) list(title string, n int, item func(int) string) {
	if n == 0 {
		return
	}
	m.block("**" + title + "**")
	var items []string
	for i := range min(n, m.extent.lines) {
		items = append(items, "- "+item(i))
	}
	if n > m.extent.lines {
		items = append(items, fmt.Sprintf("- and %d more", n-m.extent.lines))
	}
	m.block(strings.Join(items, "\n"))
}

// reference links a web address and quotes anything else. GitHub's own pages are linked through its redirector, which keeps a
// comment from leaving a back-reference in the issue that it points at.
func reference(text string) string {
	text = cut(Line(text), 300)
	address, err := url.Parse(text)
	if err != nil || address.Scheme != "https" || !strings.Contains(address.Host, ".") || address.User != nil || strings.ContainsAny(text, " <>`\"'()[]{}|\\^@…") {
		return code(text)
	}
	if address.Host == "github.com" {
		address.Host = "redirect.github.com"
	}
	return "<" + address.String() + ">"
}
