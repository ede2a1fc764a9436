package diagnosis_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/rules"
)

// TestRankStates: of real logs, which rank failed, who waited, who did not come, and whom no line names.
func TestRankStates(t *testing.T) {
	base, err := rules.Load()
	if err != nil {
		t.Fatal(err)
	}
	engine := matcher.New(base)
	for name, want := range map[string][]string{
		"h200-timeout.log":        {"waited", "missing"},
		"h200-gloo-rank-dies.log": {"silent", "silent", "silent", "after", "after", "failed", "after", "after"},
	} {
		log, err := os.Open("../../testdata/logs/nccl/" + name)
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		job := engine.Begin()
		if err := job.Read(t.Context(), name, log); err != nil {
			t.Fatal(err)
		}
		var got []string
		for i, one := range job.Report().Ranks {
			if one.Rank != i || (one.Sign == nil) != (one.State == "silent") {
				t.Errorf("%s: %+v", name, one)
			}
			got = append(got, one.State)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}
