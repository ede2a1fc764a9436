package backend

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
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
