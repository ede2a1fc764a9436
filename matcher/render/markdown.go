package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/matcher/report"
)

// GitHubLimit is how many characters a comment on GitHub may have.
const GitHubLimit = 65536

// An extent says how much of a report is written.
type extent struct {
	diagnoses, fixes, lines int // at most so many
	line, prose             int // characters of each at most
	details                 bool
}

// extents are tried in order until the text fits. The last is a few thousand characters, whatever the report holds.
var extents = []extent{
	{diagnoses: 20, fixes: 20, lines: 60, line: 1500, prose: 8000, details: true},
	{diagnoses: 3, fixes: 5, lines: 20, line: 500, prose: 2000, details: true},
	{diagnoses: 1, fixes: 3, lines: 8, line: 300, prose: 1000},
	{diagnoses: 1, fixes: 1, lines: 2, line: 160, prose: 400},
}

// Markdown returns r as GitHub's Markdown, in at most limit characters (0: no limit but that of a comment) when it can be said in
// so few: the longest parts go first. Everything that may come from a log is fenced or escaped: it mentions nobody, links nothing
// and holds no markup.
func Markdown(r *report.Report, limit int) string {
	if limit <= 0 {
		limit = GitHubLimit
	}
	var text string
	for _, e := range extents {
		m := &markdown{extent: e}
		m.report(r)
		text = m.out.String()
		if len(text) <= limit {
			break
		}
	}
	return text
}

type markdown struct {
	out    strings.Builder
	extent extent
}

func (m *markdown) report(r *report.Report) {
	if len(r.Diagnoses) == 0 {
		m.block(silence(r))
	}
	for i, d := range r.Diagnoses[:min(len(r.Diagnoses), m.extent.diagnoses)] {
		switch i {
		case 0:
			m.first(d)
		case 1:
			m.block("<details><summary>Also found</summary>")
			fallthrough
		default:
			m.further(d)
		}
	}
	if min(len(r.Diagnoses), m.extent.diagnoses) > 1 {
		m.block("</details>")
	}
	if left := len(r.Diagnoses) - m.extent.diagnoses; left > 0 && len(r.Diagnoses) > 0 {
		m.block(fmt.Sprintf("%d further diagnoses are not shown.", left))
	}
	for i, note := range remarks(r) {
		if i == m.extent.lines {
			break
		}
		m.block("> " + inline(cut(note, m.extent.prose)))
	}
	if earlier := Earlier(r); len(earlier) > 0 {
		m.block("> Earlier: " + strings.Join(earlier, ", "))
	}
	if m.extent.details && len(r.Diagnoses) > 0 {
		m.everyFact(r.Facts)
	}
	if by := inline(made(r)); by != "" {
		if wrong := Complaint(r); wrong != "" {
			by += " · [Wrong?](" + wrong + ")"
		}
		m.block(by)
	}
}

// What the first screen of a comment shows of the root cause, in rows of about a hundred characters: with the title, how sure it is and the
// fix, some fifteen.
const (
	screenWidth  = 100
	screenTitle  = 160
	screenCause  = 3
	screenQuotes = 2
	screenQuote  = 2 * screenWidth
)

// first writes the root cause: what to know and to do first, and the rest folded.
func (m *markdown) first(d report.Diagnosis) {
	var more markdown
	more.extent = m.extent
	m.block("### " + inline(cut(Line(d.Title), min(m.extent.prose, screenTitle))))
	m.block(standing(d))
	brief := strings.Join(firstSentences(clean(d.Cause), screenWidth, screenCause), " ")
	m.block(inline(brief))
	if brief != Line(d.Cause) {
		more.block("**Why**")
		more.paragraphs(d.Cause)
	}
	missing := d.Missing
	if d.Certainty != report.Confirmed && len(missing) > 0 {
		m.question(missing[0], d.Certainty)
		missing = missing[1:]
	}
	if len(d.Fixes) > 0 {
		m.block("**Fix** " + m.fix(d.Fixes[0]))
	}
	quotes := deciding(d.Evidence)
	m.block(fence("text", strings.Join(m.quotes(quotes, min(m.extent.line, screenQuote)), "\n")))
	if d.Certainty == report.Unexplained {
		m.block("**Next**")
		m.block(inline(unexplained) + "\n\n" + commands(draft, m.extent.prose))
	}
	if len(d.Evidence) > len(quotes) || slices.ContainsFunc(quotes, func(e report.Evidence) bool { return len(e.Text) > screenQuote }) {
		more.block("**In the log**")
		more.block(fence("text", strings.Join(more.quotes(d.Evidence, more.extent.line), "\n")))
	}
	if len(d.Fixes) > 1 {
		more.fixes("**Other fixes**", d.Fixes[1:])
	}
	more.missing(missing)
	if m.extent.details {
		more.details(d)
	}
	m.fold("Details", &more)
}

// further writes what else was found.
func (m *markdown) further(d report.Diagnosis) {
	m.block("#### " + inline(cut(Line(d.Title), m.extent.prose)))
	m.block(standing(d))
	m.paragraphs(d.Cause)
	m.block(fence("text", strings.Join(m.quotes(d.Evidence, m.extent.line), "\n")))
	m.fixes("**Fix**", d.Fixes)
	m.missing(d.Missing)
	if m.extent.details {
		more := markdown{extent: m.extent}
		more.details(d)
		m.fold("Details", &more)
	}
}

// fold writes a part that is closed until somebody opens it; nothing for an empty one.
func (m *markdown) fold(title string, part *markdown) {
	if part.out.Len() == 0 {
		return
	}
	m.block("<details><summary>" + title + "</summary>")
	m.block(strings.TrimSpace(part.out.String()))
	m.block("</details>")
}

func (m *markdown) paragraphs(text string) {
	for _, paragraph := range strings.Split(strings.TrimSpace(clean(cut(text, m.extent.prose))), "\n\n") {
		m.block(inline(Line(paragraph)))
	}
}

// deciding are the line that decides and the frame in the user's own code.
func deciding(evidence []report.Evidence) []report.Evidence {
	if len(evidence) == 0 {
		return nil
	}
	first := evidence[0]
	quotes := []report.Evidence{first}
	i := slices.IndexFunc(evidence[1:], func(e report.Evidence) bool { return frameLine.MatchString(e.Text) && samePlace(e, first) })
	if i >= 0 && len(quotes) < screenQuotes {
		quotes = append(quotes, evidence[1+i])
	}
	return quotes
}

// question asks for the one thing that would decide.
func (m *markdown) question(asked report.Missing, certainty report.Certainty) {
	why := inline(cut(Line(asked.Why), min(m.extent.prose, 2*screenWidth)))
	opening := "**One answer settles this:**"
	if certainty == report.Unexplained {
		opening = "**This would tell more:**"
	}
	text := opening + " what is " + code(cut(Line(asked.Name), 100)) + "? (" + why + ")"
	if asked.Name == "log" {
		text = "**A longer log would tell:** " + why
	}
	if asked.How != "" {
		text += "\n\n" + commands(asked.How, m.extent.prose)
	}
	m.block(text)
}

func standing(d report.Diagnosis) string {
	certainty := map[report.Certainty]string{
		report.Confirmed: "**Confirmed**", report.Likely: "**Likely**, not certain", report.Unexplained: "**Unexplained**: no known cause fits",
	}
	parts := []string{certainty[d.Certainty]}
	if who := spread(d); who != "" {
		parts = append(parts, cut(who, 200))
	}
	return strings.Join(append(parts, code(d.ID)), " · ")
}

func (m *markdown) quotes(quotes []report.Evidence, width int) []string {
	var lines []string
	for i, e := range quotes {
		if i == m.extent.lines {
			return append(lines, "…")
		}
		if i == 0 || !samePlace(quotes[i-1], e) || quotes[i-1].Line+1 != e.Line {
			lines = append(lines, cut(place(e), width))
		}
		lines = append(lines, "  "+strings.ReplaceAll(cut(clean(e.Text), width), "\n", "\n  "))
	}
	return lines
}

func (m *markdown) fixes(title string, fixes []report.Fix) {
	if len(fixes) == 0 {
		return
	}
	m.block(title)
	for i, f := range fixes[:min(len(fixes), m.extent.fixes)] {
		number := fmt.Sprintf("%d. ", i+1)
		m.block(number + indented(m.fix(f), len(number)))
	}
}

func (m *markdown) fix(f report.Fix) string {
	parts := []string{inline(cut(Line(f.Do), m.extent.prose))}
	parts = append(parts, toCopy(f, m.extent.prose)...)
	if said := Outcome(f); said != "" {
		parts = append(parts, inline(cut(said, m.extent.prose)))
	}
	return strings.Join(parts, "\n\n")
}

func (m *markdown) missing(missing []report.Missing) {
	if len(missing) == 0 {
		return
	}
	m.block("**Not known, and it would decide**")
	for i, one := range missing {
		if i == m.extent.fixes {
			break
		}
		item := code(cut(Line(one.Name), 100))
		if one.Why != "" {
			item += ": " + inline(cut(Line(one.Why), m.extent.prose))
		}
		if one.How != "" {
			item += "\n\n" + commands(one.How, m.extent.prose)
		}
		m.block("- " + indented(item, 2))
	}
}

// block writes a block with the blank line that parts it from the next; nothing for an empty one.
func (m *markdown) block(text string) {
	if text == "" {
		return
	}
	if m.out.Len() > 0 {
		m.out.WriteByte('\n')
	}
	m.out.WriteString(text)
	m.out.WriteByte('\n')
}

func indented(text string, by int) string {
	var out strings.Builder
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			out.WriteByte('\n')
			if line != "" {
				out.WriteString(strings.Repeat(" ", by))
			}
		}
		out.WriteString(line)
	}
	return out.String()
}
