package backend

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/rules/condition"
)

// oracleRow is one configuration with what TransformerEngine's own code decided about it.
type oracleRow struct {
	ID     string         `json:"id"`
	Facts  map[string]any `json:"facts"`
	Expect struct {
		Available    []string `json:"available"`
		Selected     *string  `json:"selected"`
		SubBackend   *float64 `json:"sub_backend"`
		FlashVersion *string  `json:"flash_version"`
	} `json:"expect"`
	Disabling []string `json:"disabling"`
	Config    string   `json:"config_line"`
	release   int
}

// TestSample compares the rules with TransformerEngine's decisions over the sample in testdata.
func TestSample(t *testing.T) { compareWithOracle(t, "../../testdata/oracle") }

// TestOracle does so over all of the decisions, where they are at hand: TRIAGE_ORACLE names the folder.
func TestOracle(t *testing.T) {
	skipShort(t)
	folder := os.Getenv("TRIAGE_ORACLE")
	if folder == "" {
		folder = "../../../shared/oracle"
	}
	if _, err := os.Stat(folder); err != nil {
		t.Skip("TRIAGE_ORACLE names no folder with the full tables")
	}
	compareWithOracle(t, folder)
}

func compareWithOracle(t *testing.T, folder string) {
	t.Helper()
	l := library(t, "transformer_engine")
	files, err := filepath.Glob(filepath.Join(folder, "te-*.jsonl.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no te-*.jsonl.gz in %s", folder)
	}
	sort.Slice(files, func(i, j int) bool {
		return len(files[i]) < len(files[j]) || len(files[i]) == len(files[j]) && files[i] < files[j]
	})
	for _, file := range files {
		rows := readRows[oracleRow](t, file)
		agree, reasons, off, shown := 0, 0, 0, 0
		for _, row := range rows {
			difference, named, count := compareRow(l, row)
			if difference == "" {
				agree++
			} else if shown++; shown < 4 {
				t.Errorf("%s: %s", row.ID, difference)
			}
			reasons, off = reasons+named, off+count
		}
		if agree != len(rows) {
			t.Errorf("%s: %d of %d rows agree", filepath.Base(file), agree, len(rows))
		}
		if reasons*1000 < off*995 {
			t.Errorf("%s: %d of %d first reasons are named", filepath.Base(file), reasons, off)
		}
		t.Logf("%s: %d of %d rows agree, %d of %d first reasons named", filepath.Base(file), agree, len(rows), reasons, off)
	}
}

// compareRow says how a selection differs from the oracle's, and for how many of the disabled backends with a message the rule with that
// message is named.
func compareRow(l *Library, row oracleRow) (difference string, named, count int) {
	s := l.situation(rowFacts(l, row))
	selection := evaluate(s).selection()
	row.release = s.release
	var got []string
	got = append(got, fmt.Sprint(selection.Available()), selection.Selected, fmt.Sprint(selection.Reports["sub_backend"].JSON()), fmt.Sprint(selection.Reports["flash_version"].JSON()))
	want := []string{fmt.Sprint(row.Expect.Available), text(row.Expect.Selected), fmt.Sprint(plainNumber(row.Expect.SubBackend)), fmt.Sprint(plainText(row.Expect.FlashVersion))}
	if !slices.Equal(got, want) {
		difference = fmt.Sprintf("got %q, want %q\n%v\n%v", got, want, row.Facts, row.Disabling)
	}
	for _, b := range selection.Backends {
		if b.Verdict != Disabled {
			continue
		}
		first := firstMessage(row.Disabling, b.Name)
		if first == "" {
			continue
		}
		count++
		if names(l, row.release, b.Rules, first) {
			named++
		} else if os.Getenv("TRIAGE_REASONS") != "" {
			fmt.Println(row.ID, first, b.Rules)
		}
	}
	return difference, named, count
}

// firstMessage is the first line about a backend.
func firstMessage(lines []string, backend string) string {
	for _, line := range lines {
		if strings.HasPrefix(line, "Disabling "+backend) || strings.HasPrefix(line, "Disabling all backends") {
			return line
		}
	}
	return ""
}

// names tells whether a rule with the message is among the rules.
func names(l *Library, at int, rules []Rule, message string) bool {
	for _, m := range l.selectionLog.messages {
		if m.releases[at] && m.matches(message) &&
			slices.ContainsFunc(rules, func(r Rule) bool { return r.ID == m.rule.id }) {
			return true
		}
	}
	return false
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func plainText(s *string) any {
	if s == nil {
		return nil
	}
	return *s
}

func plainNumber(n *float64) any {
	if n == nil {
		return nil
	}
	return *n
}

func rowFacts(l *Library, row oracleRow) map[string]condition.Value {
	facts := make(map[string]condition.Value, len(row.Facts))
	for name, decoded := range row.Facts {
		if i, ok := l.byName[name]; ok {
			value, err := condition.FromJSON(decoded, l.facts[i].Type)
			if err != nil {
				panic(err)
			}
			facts[name] = value
		}
	}
	return facts
}

// readRows reads a compressed file of JSON Lines.
func readRows[Row any](t testing.TB, file string) []Row {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var rows []Row
	lines := bufio.NewScanner(unzipped)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var row Row
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}
