package backend

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSelectionLog reads the lines that TransformerEngine prints for the sample's rows. They must agree with the rules, and stand in for the
// facts that the line with the arguments does not hold.
func TestSelectionLog(t *testing.T) {
	skipShort(t)
	l := library(t, "transformer_engine")
	files, _ := filepath.Glob("../../testdata/oracle/te-*.jsonl.gz")
	rows := 0
	for _, file := range files {
		for _, row := range readRows[oracleRow](t, file) {
			facts := rowFacts(l, row)
			log, ok := l.ReadSelectionLog(logLines(row))
			if !ok || !log.complete {
				t.Fatalf("%s: its log is not read", row.ID)
			}
			if found := log.Contradictions(facts); len(found) > 0 {
				t.Errorf("%s: %s", row.ID, found)
			}
			for name := range facts {
				if strings.HasPrefix(name, "env.") {
					delete(facts, name)
				}
			}
			told := log.Facts(facts)
			for name, v := range told {
				if decoded, given := row.Facts[name]; given && (decoded == "0") != (v.String() == "0") && switchMatters(row, name) {
					t.Errorf("%s: %s is told to be %s, it is %v", row.ID, name, v, decoded)
				}
				facts[name] = v
			}
			selection := log.Evaluate(facts)
			if got := selection.Available(); !slices.Equal(got, row.Expect.Available) {
				t.Errorf("%s: %v is available by its log, not %v", row.ID, got, row.Expect.Available)
			}
			rows++
		}
	}
	if rows < 1000 {
		t.Errorf("only %d rows were read", rows)
	}
}

// switchMatters tells whether TransformerEngine says that a switch is off: it does so only for a flash-attn that is there.
func switchMatters(row oracleRow, name string) bool {
	return !strings.HasPrefix(name, "env.NVTE_FLASH_ATTN")
}

// logLines are the lines of a row as a log has them.
func logLines(row oracleRow) []string {
	const prefix = "[DEBUG    | DotProductAttention]: "
	lines := []string{prefix + "Running with config={'transformer_engine_version': '...'}"}
	available := map[string]string{"FlashAttention": "False", "FusedAttention": "False", "UnfusedDotProductAttention": "False"}
	for _, name := range row.Expect.Available {
		available[name] = "True"
	}
	preferred := false
	end := func() {
		lines = append(lines, fmt.Sprintf("%sAvailable backends = {FlashAttention=%s, FusedAttention=%s, UnfusedDotProductAttention=%s}",
			prefix, available["FlashAttention"], available["FusedAttention"], available["UnfusedDotProductAttention"]))
	}
	for _, line := range row.Disabling {
		if strings.Contains(line, "to give FusedAttention preference") && !preferred {
			preferred = true
			end()
		}
		lines = append(lines, prefix+line)
	}
	if !preferred {
		end()
	}
	return append(lines, prefix+"Selected backend = "+cmp.Or(text(row.Expect.Selected), "NoBackend"))
}

// TestContradictions changes one thing that a log says.
func TestContradictions(t *testing.T) {
	l := library(t, "transformer_engine")
	row := oracleRow{}
	for _, r := range readRows[oracleRow](t, "../../testdata/oracle/te-2.10.jsonl.gz") {
		if slices.Equal(r.Expect.Available, []string{"FlashAttention", "FusedAttention", "UnfusedDotProductAttention"}) {
			row = r
		}
	}
	facts := rowFacts(l, row)
	for _, change := range []struct{ line, want string }{
		{"Disabling UnfusedDotProductAttention for num_splits", "by the rules of transformer_engine 2.10.0 that does not hold here"},
		{"Available backends = {FlashAttention=False, FusedAttention=True (sub-backend 1), UnfusedDotProductAttention=True}", "it is allowed"},
		{"Selected backend = NoBackend", "select FusedAttention"},
	} {
		log, _ := l.ReadSelectionLog(append(logLines(row), change.line))
		found := log.Contradictions(facts)
		if len(found) != 1 || !strings.Contains(found[0], change.want) {
			t.Errorf("%q: %q", change.line, found)
		}
	}
}
