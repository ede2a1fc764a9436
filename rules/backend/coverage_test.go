package backend

import (
	"path/filepath"
	"testing"

	"github.com/gpu-triage/triage/rules/condition"
)

// TestEveryRule asks that every rule takes something out in some row of the sample, and lets something be in another.
func TestEveryRule(t *testing.T) {
	l := library(t, "transformer_engine")
	fired, silent := make(map[*rule]bool), make(map[*rule]bool)
	files, _ := filepath.Glob("../../testdata/oracle/te-*.jsonl.gz")
	for _, file := range files {
		for _, row := range readRows[oracleRow](t, file) {
			count(l, rowFacts(l, row), fired, silent)
		}
	}
	sdpa := library(t, "torch_sdpa")
	for _, row := range readRows[sdpaRow](t, "../../testdata/oracle/torch-sdpa-2.11.jsonl.gz") {
		count(sdpa, factsOf(t, sdpa, row.Facts), fired, silent)
	}
	libraries := []*Library{l, sdpa}
	for _, c := range choosers {
		l := library(t, c.library)
		libraries = append(libraries, l)
		files, _ := filepath.Glob("../../testdata/oracle/" + c.library + "-*.jsonl.gz")
		for _, file := range files {
			for _, row := range readRows[choiceRow](t, file) {
				count(l, factsOf(t, l, row.Facts), fired, silent)
			}
		}
	}
	for _, l := range libraries {
		for _, r := range l.rules {
			checkExamples(t, l, r, fired, silent)
			if !fired[r] || !silent[r] {
				t.Errorf("%s fires in some row: %v, and does not in some: %v", r.id, fired[r], silent[r])
			}
		}
	}
}

// checkExamples asks a rule about the facts that its file gives as an example and as a near miss.
func checkExamples(t *testing.T, l *Library, r *rule, fired, silent map[*rule]bool) {
	t.Helper()
	for _, example := range []struct {
		facts map[int]condition.Value
		want  verdict
		shown map[*rule]bool
	}{{r.example, on, fired}, {r.nearMiss, off, silent}} {
		if len(example.facts) == 0 {
			continue
		}
		facts := make(map[string]condition.Value)
		for i, v := range example.facts {
			facts[l.facts[i].Name] = v
		}
		s := l.situation(facts)
		candidates, _ := s.candidates()
		if len(candidates) != 1 {
			t.Errorf("the example of %s names no release", r.id)
			continue
		}
		s.setRelease(candidates[0])
		if got := s.fires(r); got != example.want {
			t.Errorf("the example of %s: %v, want %v", r.id, got, example.want)
		}
		example.shown[r] = true
	}
}

func count(l *Library, facts map[string]condition.Value, fired, silent map[*rule]bool) {
	s := l.situation(facts)
	candidates, _ := s.candidates()
	s.setRelease(candidates[0])
	for _, r := range l.releases[candidates[0]].rules {
		switch s.fires(r) {
		case on:
			fired[r] = true
		case off:
			silent[r] = true
		}
	}
}
