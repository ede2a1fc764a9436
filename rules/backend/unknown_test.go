package backend

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/gpu-triage/triage/rules/condition"
)

// TestMissingFacts takes facts away from the sample's rows. What is still said must be what the whole row says, and with one fact
// missing it must be said whenever every value of the fact that other rows have leads to it.
func TestMissingFacts(t *testing.T) {
	skipShort(t)
	l := library(t, "transformer_engine")
	files, err := filepath.Glob("../../testdata/oracle/te-*.jsonl.gz")
	if err != nil || len(files) == 0 {
		t.Fatal("no sample")
	}
	random := rand.New(rand.NewPCG(3, 4))
	asked, certain, silent := 0, 0, 0
	for _, file := range files {
		rows := readRows[oracleRow](t, file)
		for n := 0; n < len(rows); n += 3 {
			facts := rowFacts(l, rows[n])
			whole := l.Evaluate(facts)
			name := l.facts[random.IntN(len(l.facts))].Name
			value, given := facts[name]
			if !given {
				continue
			}
			delete(facts, name)
			part := l.Evaluate(facts)
			checkPart(t, rows[n].ID, name, whole, part)
			for i, b := range part.Backends {
				if asked++; b.Verdict != Unknown {
					certain++
				} else if l.everyValueSays(facts, name, rows, whole, i) {
					silent++
					if testing.Verbose() {
						t.Logf("%s: without %s %s is unknown, but every value says %s", rows[n].ID, name, b.Name, whole.Backends[i].Verdict)
					}
				}
			}
			facts[name] = value
			for range 3 {
				delete(facts, l.facts[random.IntN(len(l.facts))].Name)
			}
			checkPart(t, rows[n].ID, "several facts", whole, l.Evaluate(facts))
		}
	}
	t.Logf("%d of %d verdicts are certain with a fact missing; %d more could be", certain, asked, silent)
	if silent*100 > asked {
		t.Errorf("%d of %d verdicts could be certain and are not", silent, asked)
	}
}

func checkPart(t *testing.T, id, missing string, whole, part Selection) {
	t.Helper()
	for i, b := range part.Backends {
		if b.Verdict != Unknown && b.Verdict != whole.Backends[i].Verdict {
			t.Errorf("%s: without %s %s is %s, but with it %s", id, missing, b.Name, b.Verdict, whole.Backends[i].Verdict)
		}
		if b.Verdict == Unknown && len(part.Missing) == 0 {
			t.Errorf("%s: without %s %s is unknown and nothing is asked", id, missing, b.Name)
		}
	}
	if part.Decided && part.Selected != whole.Selected {
		t.Errorf("%s: without %s %q is selected, but with it %q", id, missing, part.Selected, whole.Selected)
	}
	for name, v := range part.Reports {
		if part.Decided && v.Known() && !v.Equal(whole.Reports[name]) {
			t.Errorf("%s: without %s %s is %s, but with it %s", id, missing, name, v, whole.Reports[name])
		}
	}
}

// everyValueSays tells whether a backend's verdict is the same under every value that the rows have for a fact.
func (l *Library) everyValueSays(facts map[string]condition.Value, name string, rows []oracleRow, whole Selection, backend int) bool {
	tried := make(map[string]bool)
	defer delete(facts, name)
	for _, row := range rows {
		value, ok := rowFacts(l, row)[name]
		if !ok || tried[value.String()] {
			continue
		}
		tried[value.String()] = true
		facts[name] = value
		if l.Evaluate(facts).Backends[backend].Verdict != whole.Backends[backend].Verdict {
			return false
		}
	}
	return len(tried) > 1
}
