package reading_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/rules"
)

// read takes in one log.
func read(t *testing.T, engine *matcher.Engine, log string) *matcher.Job {
	t.Helper()
	reading := engine.Begin()
	if err := reading.Read(t.Context(), "log", strings.NewReader(log)); err != nil {
		t.Fatal(err)
	}
	return reading
}

// TestOrigin: when a log was written is known even when its last lines do not say so, and where by any of its first lines.
func TestOrigin(t *testing.T) {
	engine, _ := known(t)
	at := func(minute string) string { return "2026-03-01 10:" + minute + ":00,000 - trainer - INFO - nothing\n" }
	host := "node-7:4711:4712 [3] NCCL INFO nothing\nnode-8:11:12 [3] NCCL INFO nothing\n"
	for name, c := range map[string]struct{ log, last string }{
		"at the end":     {at("01") + host + at("02"), "10:02"},
		"long before it": {at("01") + host + at("59") + strings.Repeat("no time\n", 100), "10:59"},
		"in a long log":  {host + strings.Repeat(at("03"), 50_000) + strings.Repeat("no time\n", 100), "10:03"},
		"nowhere":        {host + "no time\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			origin, want := read(t, engine, c.log).Origin(), time.Time{}
			if c.last != "" {
				want, _ = time.Parse(time.DateTime, "2026-03-01 "+c.last+":00")
			}
			if !origin.Last.Equal(want) {
				t.Errorf("it ends at %v, not %v", origin.Last, want)
			}
			if !slices.Equal(origin.Hosts, []string{"node-7", "node-8"}) {
				t.Errorf("its hosts are %q", origin.Hosts)
			}
		})
	}
}

// TestStatements: a statement outweighs what a list of packages says, and the first of equals counts.
func TestStatements(t *testing.T) {
	base, err := rules.Load(fstest.MapFS{"facts.yaml": {Data: []byte(`
facts: [{name: torch, type: version, packages: [torch], read: [{pattern: 'torch (?P<value>2\.\d+)', keywords: [torch], head: true}]}]
packages: [{pattern: '^(?P<name>\w+)==(?P<value>[\d.]+)$', keywords: ["=="], head: true}]
`)}})
	if err != nil {
		t.Fatal(err)
	}
	for log, want := range map[string]string{
		"torch==2.1\ntorch 2.3\n":           "2.3",
		"torch 2.3\ntorch==2.1\n":           "2.3",
		"torch 2.3\ntorch 2.4\n":            "2.3",
		"torch==2.1\ntorch==2.2\n":          "2.1",
		"torch 1.9\ntorch 2.4\ntorch 2.5\n": "2.4",
	} {
		if got := read(t, matcher.New(base), log).Origin().Facts["torch"].Value.JSON(); got != want {
			t.Errorf("%q says %v, not %s", log, got, want)
		}
	}
}
