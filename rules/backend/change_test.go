package backend

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpu-triage/triage/rules/condition"
)

// TestChanges pulls the levers of every proposal for the sample's failing rows and asks the rules again; no proper part may do.
func TestChanges(t *testing.T) {
	skipShort(t)
	l := library(t, "transformer_engine")
	folder := os.Getenv("TRIAGE_ORACLE")
	if folder == "" {
		folder = "../../testdata/oracle"
	}
	files, _ := filepath.Glob(folder + "/te-*.jsonl.gz")
	var took []time.Duration
	failing, helped := 0, 0
	for _, file := range files {
		for i, row := range readRows[oracleRow](t, file) {
			if len(row.Expect.Available) > 0 || i%5 != 0 {
				continue
			}
			failing++
			facts := rowFacts(l, row)
			start := time.Now()
			changes := l.Changes(facts, 3)
			took = append(took, time.Since(start))
			if len(changes) > 0 {
				helped++
			} else if os.Getenv("TRIAGE_REASONS") != "" {
				t.Log(row.ID, row.Facts)
			}
			for _, c := range changes {
				checkChange(t, l, row.ID, facts, c)
			}
		}
	}
	if failing == 0 || helped*100 < failing*95 {
		t.Errorf("only %d of %d failing rows have a proposal", helped, failing)
	}
	slices.Sort(took)
	t.Logf("%d of %d failing rows have a proposal; median %v, slowest %v", helped, failing, took[len(took)/2], took[len(took)-1])
}

func checkChange(t *testing.T, l *Library, id string, facts map[string]condition.Value, c Change) {
	t.Helper()
	after := l.Evaluate(with(l, facts, c.Set, c.Implies))
	if len(after.Raises) > 0 {
		t.Errorf("%s: after %v the library raises: %v", id, c.Set, after.Raises)
	}
	if len(after.Available()) == 0 || after.Selected != c.Selected {
		t.Errorf("%s: after %v %v is available and %s selected, not %s", id, c.Set, after.Available(), after.Selected, c.Selected)
	}
	if literal := l.Evaluate(with(l, facts, c.Set)); len(literal.Available()) == 0 {
		t.Errorf("%s: %v alone gives no backend", id, c.Set)
	}
	if len(c.Set) == 1 {
		return
	}
	for left := range c.Set {
		part := make(map[string]condition.Value)
		for name, v := range c.Set {
			if name != left {
				part[name] = v
			}
		}
		if rest := l.Evaluate(with(l, facts, part)); len(rest.Available()) > 0 {
			t.Errorf("%s: %v works without %s", id, c.Set, left)
		}
	}
}

// TestChangedRows looks for what the oracle says of the situation after each proposal, where it has that very situation.
func TestChangedRows(t *testing.T) {
	skipShort(t)
	l := library(t, "transformer_engine")
	folder := cmp.Or(os.Getenv("TRIAGE_ORACLE"), "../../testdata/oracle")
	files, _ := filepath.Glob(folder + "/te-*.jsonl.gz")
	found := 0
	for _, file := range files {
		rows := readRows[oracleRow](t, file)
		byFacts := make(map[string]oracleRow, len(rows))
		for _, row := range rows {
			byFacts[canonical(t, row.Facts)] = row
		}
		for _, row := range rows {
			if len(row.Expect.Available) > 0 {
				continue
			}
			for _, c := range l.Changes(rowFacts(l, row), 3) {
				after := maps.Clone(row.Facts)
				maps.Copy(after, asJSON(c.Set))
				maps.Copy(after, asJSON(c.Implies))
				there, ok := byFacts[canonical(t, after)]
				if !ok {
					continue
				}
				found++
				if len(there.Expect.Available) == 0 || text(there.Expect.Selected) != c.Selected {
					t.Errorf("%s: after %v the library selects %q of %v, not %s", row.ID, c.Set, text(there.Expect.Selected), there.Expect.Available, c.Selected)
				}
			}
		}
	}
	t.Logf("%d situations after a change are in the oracle", found)
}

// canonical are facts as one text.
func canonical(t *testing.T, facts map[string]any) string {
	t.Helper()
	text, err := json.Marshal(facts)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestRaises: a recipe that a release refuses is no backend, and is told as a raise.
func TestRaises(t *testing.T) {
	l := library(t, "transformer_engine")
	facts := func(release, recipe string) map[string]condition.Value {
		return factsOf(t, l, map[string]any{
			"transformer_engine": release, "fp8": true, "env.NVTE_UnfusedDPA_Emulate_FP8": "1",
			"fp8_meta": map[string]any{"recipe": map[string]any{"type": recipe, "fp8_dpa": true, "fp8_mha": false}},
		})
	}
	for _, recipe := range []string{"MXFP8BlockScaling", "Float8BlockScaling"} {
		for _, release := range []string{"2.8.0", "2.14.1"} {
			if s := l.Evaluate(facts(release, recipe)); len(s.Raises) != 1 || len(s.Available())+len(s.Unsure()) > 0 {
				t.Errorf("%s in %s: raises %v, available %v", recipe, release, s.Raises, s.Available())
			}
		}
		if s := l.Evaluate(facts("2.15.0", recipe)); len(s.Raises) > 0 {
			t.Errorf("%s in 2.15.0 raises %v", recipe, s.Raises)
		}
	}
	if s := l.Evaluate(facts("2.8.0", "DelayedScaling")); len(s.Raises) > 0 {
		t.Errorf("DelayedScaling raises %v", s.Raises)
	}
}

// TestBeyond: what the rules were not compared with is said.
func TestBeyond(t *testing.T) {
	for _, c := range []struct {
		library, want string
		facts         map[string]any
	}{
		{"transformer_engine", "up to cuDNN that is loaded at run time 9.26.0; this is 9.28.1", map[string]any{"transformer_engine": "2.18.0", "cudnn": "9.28.1.4"}},
		{"transformer_engine", "up to flash-attn 4 4.0.0b27; this is 4.0.0b36", map[string]any{"transformer_engine": "2.18.0", "flash_attn_4": "4.0.0b36"}},
		{"transformer_engine", "TransformerEngine 2.18.3 itself was not checked", map[string]any{"transformer_engine": "2.18.3+abc"}},
		{"transformer_engine", "2.20.0 were read from its code and not run", map[string]any{"transformer_engine": "2.20.2"}},
		{"transformer_engine", "", map[string]any{"transformer_engine": "2.17.1+abc", "cudnn": "9.26.0.51", "flash_attn": "2.8.3+cu13"}},
		{"torch_sdpa", "2.15.0 were read from its code and not run", map[string]any{"torch": "2.15.0"}},
		{"torch_sdpa", "", map[string]any{"torch": "2.11.0+cu130"}},
	} {
		l := library(t, c.library)
		told := strings.Join(l.Evaluate(factsOf(t, l, c.facts)).Beyond, " ")
		if !strings.Contains(told, c.want) || c.want == "" && told != "" {
			t.Errorf("%v: %q", c.facts, told)
		}
	}
}

// with is the facts after changes, with what a caller of another release then passes.
func with(l *Library, facts map[string]condition.Value, changes ...map[string]condition.Value) map[string]condition.Value {
	after := make(map[string]condition.Value)
	for name, v := range facts {
		after[name] = v
	}
	for _, change := range changes {
		for name, v := range change {
			after[name] = v
		}
	}
	s := l.situation(after)
	if version, ok := after[l.facts[l.version].Name].Version(); ok {
		if release, ok := l.releaseOf(version); ok {
			s.setRelease(release)
		}
	}
	for _, f := range l.facts {
		if _, given := after[f.Name]; !given && f.preset != nil {
			after[f.Name] = f.preset.Eval(s.Situation)
		}
	}
	return after
}

func BenchmarkChanges(b *testing.B) {
	l := library(b, "transformer_engine")
	var failing []map[string]condition.Value
	for _, row := range readRows[oracleRow](b, "../../testdata/oracle/te-2.10.jsonl.gz") {
		if len(row.Expect.Available) == 0 {
			failing = append(failing, rowFacts(l, row))
		}
	}
	for i := 0; b.Loop(); i++ {
		l.Changes(failing[i%len(failing)], 3)
	}
}

func BenchmarkEvaluate(b *testing.B) {
	l := library(b, "transformer_engine")
	var situations []*situation
	for _, row := range readRows[oracleRow](b, "../../testdata/oracle/te-2.14.jsonl.gz") {
		situations = append(situations, l.situation(rowFacts(l, row)))
	}
	release, _ := l.releaseOf(mustVersionOf(b, "2.14.0"))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s := situations[i%len(situations)]
		s.setRelease(release)
		s.decide()
	}
}

// BenchmarkBatch reports what one row of a batch costs, over rows of several releases.
func BenchmarkBatch(b *testing.B) {
	l, vocabulary := library(b, "transformer_engine"), vocabulary(b)
	var lines bytes.Buffer
	rows := 0
	for _, release := range []string{"1.9", "2.3", "2.10", "2.14", "2.19"} {
		for _, row := range readRows[oracleRow](b, "../../testdata/oracle/te-"+release+".jsonl.gz") {
			line, err := json.Marshal(map[string]any{"id": row.ID, "facts": row.Facts})
			if err != nil {
				b.Fatal(err)
			}
			lines.Write(append(line, '\n'))
			rows++
		}
	}
	for b.Loop() {
		if err := l.Batch(vocabulary, bytes.NewReader(lines.Bytes()), io.Discard, BatchOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*rows), "µs/row")
}

func mustVersionOf(b *testing.B, text string) condition.Version {
	b.Helper()
	v, err := condition.ParseVersion(text)
	if err != nil {
		b.Fatal(err)
	}
	return v
}
