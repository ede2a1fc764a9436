package example_test

import (
	"math/rand/v2"
	"os"
	"testing"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/example"
	"github.com/gpu-triage/triage/rules"
)

// A log keeps its diagnosis in whatever way it is shown: so many percent of all examples in each way, and in all ways together.
const (
	leastInWay = 92
	leastInAll = 97
)

// lower are the ways in which fewer keep it, with what they reach.
var lower = map[string]int{}

func TestShowing(t *testing.T) {
	base, err := rules.Load(rules.Shipped())
	if err != nil {
		t.Fatal(err)
	}
	engine := matcher.New(base)
	all, err := example.Load(base, base.Signatures(), os.DirFS("../../testdata/logs"))
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	lost, tried := make(map[string]int), 0
	for _, e := range all {
		if !e.CanBeShown(engine) || testing.Short() && random.IntN(10) > 0 {
			continue
		}
		showings, err := example.Show(t.Context(), engine, e, example.Ways())
		if err != nil {
			t.Fatal(err)
		}
		tried++
		for _, s := range showings {
			lost[s.Way]++
			t.Log(s)
		}
	}
	if tried == 0 {
		t.Fatal("no example was shown")
	}
	sum := 0
	for _, way := range example.Ways() {
		kept := 100 - 100*float64(lost[way.Name])/float64(tried)
		sum += lost[way.Name]
		least, isLower := lower[way.Name]
		if !isLower {
			least = leastInWay
		}
		t.Logf("%-16s %5.1f %% of %d examples", way.Name, kept, tried)
		if kept < float64(least) {
			t.Errorf("shown as %q, %.1f %% of the examples keep their diagnosis, and %d %% must", way.Name, kept, least)
		}
	}
	if kept := 100 - 100*float64(sum)/float64(tried*len(example.Ways())); kept < leastInAll {
		t.Errorf("in all ways together %.1f %% of the examples keep their diagnosis, and %d %% must", kept, leastInAll)
	}
}
