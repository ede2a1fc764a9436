package example_test

import (
	"hash/crc32"
	"os"
	"testing"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/example"
	"github.com/gpu-triage/triage/rules"
)

// A log keeps its diagnosis in whatever way it is shown: so many percent of all examples in each way, and in all ways together. Of a part of it
// fewer do: a signature that asks for frames rightly does not know the last line alone.
const (
	leastInWay  = 92
	leastInPart = 88
	leastInAll  = 97

	sample      = 16 // one of so many examples is shown, some eight hundred: `triage rules test --shown` shows all
	sampleShort = 64 // with -short
	lessInShort = 6  // percent: a few examples more or less
)

// least is how many percent keep their diagnosis in a way.
func least(way example.Way) float64 {
	percent := float64(leastInWay)
	if way.Part {
		percent = leastInPart
	}
	if testing.Short() {
		percent -= lessInShort
	}
	return percent
}

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
	of := uint32(sample)
	if testing.Short() {
		of = sampleShort
	}
	lost, tried := make(map[string]int), 0
	for _, e := range all {
		if crc32.ChecksumIEEE([]byte(e.Source))%of > 0 || !e.CanBeShown(engine) { // new examples leave the sample of the others as it is
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
	kept := func(lost, of int) float64 { return 100 - 100*float64(lost)/float64(of) }
	sum, ways := 0, 0
	for _, way := range example.Ways() {
		percent := kept(lost[way.Name], tried)
		t.Logf("%-16s %5.1f %% of %d examples", way.Name, percent, tried)
		if percent < least(way) {
			t.Errorf("shown as %q, %.1f %% of the examples keep their diagnosis, and %.0f %% must", way.Name, percent, least(way))
		}
		sum, ways = sum+lost[way.Name], ways+1
	}
	if percent := kept(sum, tried*ways); percent < leastInAll && !testing.Short() {
		t.Errorf("in all ways together %.1f %% of the examples keep their diagnosis, and %d %% must", percent, leastInAll)
	} else {
		t.Logf("in all ways together %.1f %% keep it", percent)
	}
}
