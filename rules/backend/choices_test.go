package backend

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// choiceRow is a request with what a library's own code made of it.
type choiceRow struct {
	ID     string         `json:"id"`
	Facts  map[string]any `json:"facts"`
	Expect struct {
		Available []string `json:"available"` // nil where the library does not tell
		Selected  *string  `json:"selected"`
	} `json:"expect"`
	Reasons map[string][]string `json:"reasons"`
	Error   string              `json:"error"`
	Line    string              `json:"line"`
}

// choosers are the libraries that take requests, with the folders of what their own code decided.
var choosers = []struct{ library, folder string }{
	{"vllm", "oracle-vllm"},
	{"transformers", "oracle-transformers"},
}

// TestChoiceSample compares the rules with the libraries' decisions over the sample in testdata.
func TestChoiceSample(t *testing.T) {
	for _, c := range choosers {
		compareChoices(t, c.library, "../../testdata/oracle")
	}
}

// TestChoices does so over all of the decisions, where they are at hand: TRIAGE_SHARED names the folder above them.
func TestChoices(t *testing.T) {
	skipShort(t)
	shared := cmp.Or(os.Getenv("TRIAGE_SHARED"), "../../../shared")
	for _, c := range choosers {
		folder := filepath.Join(shared, c.folder)
		if _, err := os.Stat(folder); err == nil {
			compareChoices(t, c.library, folder)
		}
	}
}

func compareChoices(t *testing.T, name, folder string) {
	t.Helper()
	l := library(t, name)
	files, err := filepath.Glob(filepath.Join(folder, name+"-*.jsonl.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no %s-*.jsonl.gz in %s", name, folder)
	}
	for _, file := range files {
		rows := readRows[choiceRow](t, file)
		agree := 0
		for _, row := range rows {
			difference := compareChoice(t, l, row)
			if difference == "" {
				agree++
			} else if len(rows)-agree < 2000 {
				t.Errorf("%s: %s", row.ID, difference)
			}
		}
		t.Logf("%s: %d of %d rows agree", filepath.Base(file), agree, len(rows))
	}
}

// compareChoice says how a selection differs from what the library did.
func compareChoice(t *testing.T, l *Library, row choiceRow) string {
	t.Helper()
	selection := l.Evaluate(factsOf(t, l, row.Facts))
	var wrong []string
	if want := row.Expect.Available; want != nil {
		got := selection.Available()
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			wrong = append(wrong, fmt.Sprintf("%v is available, not %v", got, want))
		}
	}
	if want := text(row.Expect.Selected); selection.Selected != want {
		wrong = append(wrong, fmt.Sprintf("%q is selected, not %q", selection.Selected, want))
	}
	wrong = append(wrong, unexplained(l, row)...)
	if len(wrong) == 0 {
		return ""
	}
	return fmt.Sprintf("%s\n%v\n%v %s", strings.Join(wrong, "; "), row.Facts, row.Reasons, row.Error)
}

// unexplained are the differences between the reasons that the library gives for a backend and the messages of the rules that take it out.
// A reason that no message has was given by a part of the library that was not there when it was run.
func unexplained(l *Library, row choiceRow) (differences []string) {
	s := l.situation(rowFacts(l, oracleRow{Facts: row.Facts}))
	candidates, _ := s.candidates()
	s.setRelease(candidates[0])
	lastFilter := l.rules[len(l.rules)-1].filter
	for name, reasons := range row.Reasons {
		all := strings.Join(reasons, "\n")
		backend := l.backendNamed(name)
		hasEnded := slices.ContainsFunc(l.rules, func(r *rule) bool { return r.ends && r.canTakeOutOf(l, backend) && s.fires(r) == on })
		for _, m := range l.selectionLog.messages {
			off, _ := m.rule.off.at(s.release)
			if !m.releases[s.release] || len(l.variantsOf(backend, off.variants)) == 0 {
				continue
			}
			fired := s.fires(m.rule) == on
			given := m.standsIn(all)
			if fired && !given && (hasEnded || l.rules[m.rule.index].filter == lastFilter) {
				continue // of the last stage only the first reason is given
			}
			if fired != given && !sharesMessage(l, s, m, backend) {
				differences = append(differences, fmt.Sprintf("%s: %s fires: %v, its reason is given: %v", name, m.rule.id, fired, given))
			}
		}
	}
	return differences
}

// sharesMessage tells whether another rule about the backend that fires has the same message.
func sharesMessage(l *Library, s *situation, message logMessage, backend int) bool {
	return slices.ContainsFunc(l.selectionLog.messages, func(m logMessage) bool {
		off, _ := m.rule.off.at(s.release)
		return m.rule != message.rule && m.releases[s.release] && slices.Equal(m.parts, message.parts) &&
			len(l.variantsOf(backend, off.variants)) > 0 && s.fires(m.rule) == on
	})
}
