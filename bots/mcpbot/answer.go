package mcpbot

import "github.com/gpu-triage/triage/matcher/report"

// How much of a report a program gets with an answer. The rest is for `triage --format json`.
const (
	shownDiagnoses = 3
	shownEvidence  = 5
	shownFixes     = 4
	shownMissing   = 5
	shownRanks     = 64
	shownText      = 1200 // characters of one text
	shownCommand   = 600
)

// Answer is the essence of a report, the root cause first.
type Answer struct {
	Program   string      `json:"program" jsonschema:"the version of triage"`
	Knowledge string      `json:"knowledge" jsonschema:"the version of its rules"`
	Diagnoses []Diagnosis `json:"diagnoses" jsonschema:"the root cause first; empty when nothing failed"`
	Notes     []string    `json:"notes" jsonschema:"how the answer came about"`
	Lines     int64       `json:"lines" jsonschema:"how many lines were read"`
}

// Diagnosis is one thing that went wrong.
type Diagnosis struct {
	ID        string           `json:"id" jsonschema:"for the tool explain"`
	Title     string           `json:"title"`
	Cause     string           `json:"cause"`
	Certainty report.Certainty `json:"certainty" jsonschema:"confirmed, likely or unexplained"`
	Ranks     []int            `json:"ranks" jsonschema:"which ranks show it, the one that failed first before the others"`
	Evidence  []Evidence       `json:"evidence"`
	Missing   []Missing        `json:"missing" jsonschema:"facts that would decide, with the commands that tell them"`
	Fixes     []Fix            `json:"fixes" jsonschema:"the best first"`
}

// Evidence is a line of a log.
type Evidence struct {
	Source string `json:"source"`
	Line   int    `json:"line"`
	Text   string `json:"text"`
}

// Missing is a fact that would decide.
type Missing struct {
	Name string `json:"name"`
	Why  string `json:"why"`
	How  string `json:"how"`
}

// Fix is something to do.
type Fix struct {
	Do       string   `json:"do"`
	Run      []string `json:"run"`
	Verified bool     `json:"verified" jsonschema:"the library's own rules say yes after it"`
}

func answerOf(r report.Report) *Answer {
	a := &Answer{Program: r.Program, Knowledge: r.Knowledge, Lines: r.Stats.Lines, Diagnoses: []Diagnosis{}, Notes: []string{}}
	for _, d := range first(r.Diagnoses, shownDiagnoses) {
		a.Diagnoses = append(a.Diagnoses, diagnosisOf(d))
	}
	for _, note := range first(r.Notes, shownEvidence) {
		a.Notes = append(a.Notes, cut(note, shownText))
	}
	return a
}

func diagnosisOf(d report.Diagnosis) Diagnosis {
	said := Diagnosis{ID: d.ID, Title: cut(d.Title, shownText), Cause: cut(d.Cause, 2*shownText), Certainty: d.Certainty,
		Ranks: ranksOf(d), Evidence: []Evidence{}, Missing: []Missing{}, Fixes: []Fix{}}
	for _, e := range first(d.Evidence, shownEvidence) {
		said.Evidence = append(said.Evidence, Evidence{cut(e.Source, shownCommand), e.Line, cut(e.Text, shownText)})
	}
	for _, m := range first(d.Missing, shownMissing) {
		said.Missing = append(said.Missing, Missing{m.Name, cut(m.Why, shownCommand), cut(m.How, shownCommand)})
	}
	for _, f := range first(d.Fixes, shownFixes) {
		fix := Fix{Do: cut(f.Do, shownText), Run: []string{}, Verified: f.Verified}
		for _, command := range first(f.Run, shownFixes) {
			fix.Run = append(fix.Run, cut(command, shownCommand))
		}
		said.Fixes = append(said.Fixes, fix)
	}
	return said
}

// ranksOf lists the rank that failed first before the others.
func ranksOf(d report.Diagnosis) []int {
	ranks := []int{}
	if d.Rank != nil {
		ranks = append(ranks, *d.Rank)
	}
	for _, rank := range first(d.Ranks, shownRanks) {
		if d.Rank == nil || rank != *d.Rank {
			ranks = append(ranks, rank)
		}
	}
	return ranks
}

func first[T any](list []T, n int) []T { return list[:min(len(list), n)] }

func cut(text string, n int) string {
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n]) + "…"
	}
	return text
}
