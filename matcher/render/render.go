// Package render shows a matcher.Report to a terminal, to a program, to a page of Markdown and to a browser. What a report quotes is a
// stranger's text: no control sequence of it reaches a terminal, and no markup of it comes alive in Markdown or HTML. All functions are pure.
package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"github.com/gpu-triage/triage/matcher/report"
)

// JSON returns r in the form that matcher.Schema names, indented and with a newline at its end. Lists are never null. It fails only
// when a fact holds a value that JSON has no form for.
func JSON(r *report.Report) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(withoutNulls(*r)); err != nil {
		return nil, fmt.Errorf("report as JSON: %w", err)
	}
	return out.Bytes(), nil
}

// withoutNulls returns r with an empty list wherever there was none.
func withoutNulls(r report.Report) report.Report {
	if r.Schema == "" {
		r.Schema = report.Schema
	}
	r.Facts = orEmpty(r.Facts)
	r.Diagnoses = append([]report.Diagnosis{}, r.Diagnoses...)
	for i := range r.Diagnoses {
		d := &r.Diagnoses[i]
		d.Ranks, d.Evidence, d.Facts, d.Missing = orEmpty(d.Ranks), orEmpty(d.Evidence), orEmpty(d.Facts), orEmpty(d.Missing)
		d.References = orEmpty(d.References)
		d.Fixes = append([]report.Fix{}, d.Fixes...)
		for i := range d.Fixes {
			d.Fixes[i].Run = orEmpty(d.Fixes[i].Run)
		}
		d.Consequences = append([]report.Consequence{}, d.Consequences...)
		for i := range d.Consequences {
			d.Consequences[i].Ranks = orEmpty(d.Consequences[i].Ranks)
		}
		d.Backends = append([]report.Backend(nil), d.Backends...)
		for i := range d.Backends {
			d.Backends[i].Rules = orEmpty(d.Backends[i].Rules)
		}
	}
	return r
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// clean drops what a terminal or a browser would obey rather than show: escape sequences, control characters, and the marks that
// turn the direction of text around.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069', r == '\u200e', r == '\u200f', r == '\u2028', r == '\u2029':
			return -1
		}
		return r
	}, ansi.Strip(strings.ToValidUTF8(text, "\uFFFD")))
}

// Line returns text on one line, with nothing in it that a terminal would obey: the name of a file in an archive may hold anything.
func Line(text string) string { return strings.Join(strings.Fields(clean(text)), " ") }

// cut shortens text to at most n characters and says so with an ellipsis.
func cut(text string, n int) string {
	if runes := []rune(text); len(runes) > n {
		return string(runes[:max(n-1, 0)]) + "…"
	}
	return text
}

// Value is a fact's value as people write it; a fact known to be absent has none.
func Value(value any) string {
	switch v := value.(type) {
	case nil:
		return "none"
	case string:
		return Line(v)
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return Line(fmt.Sprint(value))
	}
	var text string
	if json.Unmarshal(encoded, &text) == nil {
		return Line(text)
	}
	return Line(string(encoded))
}

// origin tells where a fact is from.
func origin(f report.FactValue) string {
	from := map[string]string{"user": "given", "log": "log", "live": "this machine"}[f.Source]
	if from == "" {
		from = Line(f.Source)
	}
	if f.Where == "" {
		return from
	}
	return from + ", " + Line(f.Where)
}

// place names a line as editors and compilers do.
func place(e report.Evidence) string {
	where := Line(e.Source)
	if e.Line > 0 { // else it is no line of a file
		where += ":" + strconv.Itoa(e.Line)
	}
	if e.Rank != nil {
		where += fmt.Sprintf(" [rank %d]", *e.Rank)
	}
	return where
}

// spread tells who failed: "rank 3 first, then ranks 0-2, 4-7; seen 24 times". It is empty when the log names no rank and the
// failure was seen once.
func spread(d report.Diagnosis) string {
	var parts []string
	var others []int
	for _, rank := range d.Ranks {
		if d.Rank == nil || rank != *d.Rank {
			others = append(others, rank)
		}
	}
	switch {
	case d.Rank != nil && len(others) > 0:
		parts = append(parts, fmt.Sprintf("rank %d first, also %s", *d.Rank, rankList(others)))
	case d.Rank != nil:
		parts = append(parts, fmt.Sprintf("rank %d", *d.Rank))
	case len(others) > 0:
		parts = append(parts, rankList(others))
	}
	if d.Count > 1 {
		parts = append(parts, fmt.Sprintf("seen %d times", d.Count))
	}
	return strings.Join(parts, "; ")
}

// rankList writes ascending ranks with runs folded: "ranks 0-2, 5".
func rankList(ranks []int) string {
	var runs []string
	for start := 0; start < len(ranks); {
		end := start
		for end+1 < len(ranks) && ranks[end+1] == ranks[end]+1 {
			end++
		}
		run := strconv.Itoa(ranks[start])
		if end > start {
			run += "-" + strconv.Itoa(ranks[end])
		}
		runs = append(runs, run)
		start = end + 1
	}
	word := "ranks "
	if len(ranks) == 1 {
		word = "rank "
	}
	return word + strings.Join(runs, ", ")
}

// Outcome tells what a fix was proved to do and what it takes away.
func Outcome(f report.Fix) string {
	var parts []string
	switch effect := sentence(f.Effect); {
	case f.Verified && effect == "":
		parts = append(parts, "Verified by the backend rules.")
	case f.Verified:
		parts = append(parts, "Verified: "+effect)
	case effect != "":
		parts = append(parts, effect)
	}
	if loses := sentence(f.Loses); loses != "" {
		parts = append(parts, "Lost by it: "+loses)
	}
	return strings.Join(parts, " ")
}

// sentence is text on one line with a full stop.
func sentence(text string) string {
	text = Line(text)
	if text == "" || strings.HasSuffix(text, ".") {
		return text
	}
	return text + "."
}

// remarks are the notes of r, and what its figures say about how it was read.
func remarks(r *report.Report) []string {
	var notes []string
	for _, note := range r.Notes {
		notes = append(notes, Line(note))
	}
	if n := r.Stats.TruncatedLines; n > 0 {
		notes = append(notes, fmt.Sprintf("%d overlong line(s) were read shortened.", n))
	}
	if r.Stats.Incomplete {
		notes = append(notes, "Not all of it was read, or looked at closely; this is what was found.")
	}
	return notes
}

// placeOfAnswer is what a link to an earlier answer may be: the number of an issue, or an address without a character that ends a link.
var placeOfAnswer = regexp.MustCompile(`^(?:#\d{1,9}|/reports/[0-9a-f]{40}|https?://[\w.:\-/]{1,300})$`)

// Earlier are the links to earlier answers with the same cause that can be shown as they are.
func Earlier(r *report.Report) (links []string) {
	for _, link := range r.Earlier {
		if placeOfAnswer.MatchString(link) {
			links = append(links, link)
		}
	}
	return links
}

// silence is what stands in the place of a diagnosis when there is none.
func silence(r *report.Report) string {
	if r.Stats.Lines == 1 {
		return "No failure found in 1 line."
	}
	return fmt.Sprintf("No failure found in %d lines.", r.Stats.Lines)
}

// afterSilence is what to look at when the job did fail, though its log does not say so. An empty log needs no advice.
func afterSilence(r *report.Report) string {
	if r.Stats.Lines == 0 {
		return ""
	}
	const still = "Does it stand still? py-spy dump --pid PID shows where. Did it end without a word? "
	if onWindows(r) {
		return still + "The Event Viewer names the module that crashed (Windows Logs, Application), and echo %ERRORLEVEL% the code."
	}
	return still + "dmesg -T | grep -i oom, and ask the scheduler."
}

// windowsShell is the fact of rules/facts.yaml that a log gives where it shows a shell of Windows.
const windowsShell = "shell"

func onWindows(r *report.Report) bool {
	return slices.ContainsFunc(r.Facts, func(f report.FactValue) bool { return f.Name == windowsShell })
}

// made tells which program and knowledge made the answer, or nothing when the report does not say.
func made(r *report.Report) string {
	if r.Program == "" {
		return ""
	}
	return "triage " + Line(r.Program) + ", knowledge " + Line(r.Knowledge)
}

// Complaint is where to say that the answer is wrong, or "": a report that somebody sends may have any address there.
func Complaint(r *report.Report) string {
	ours := strings.HasPrefix(r.Wrong, report.IssuePage+"?") || strings.HasPrefix(r.Wrong, "/reports/")
	if !ours || strings.ContainsAny(r.Wrong, " \t\n\"'<>()[]\\") {
		return ""
	}
	return r.Wrong
}

// What an answer that names no cause ends with.
const (
	unexplained = "No known failure fits. If you find the cause, a signature makes it known the next time; this drafts one from the log."
	draft       = "triage rules new LOG"
)
