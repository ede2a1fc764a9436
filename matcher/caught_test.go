package matcher_test

import (
	"context"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/rules"
)

// TestMessageAlone: a program that caught an exception prints its message and ends. A signature that asks for the exception knows it all the
// same, and is not sure; what no signature knows is not told.
func TestMessageAlone(t *testing.T) {
	base, err := rules.Open()
	if err != nil {
		t.Fatal(err)
	}
	for log, want := range map[string]string{
		"Error during training: No module named 'apex'\n":                                   "likely",
		"2026-01-01 10:00:00,123 - ERROR - train - No module named 'apex'\n":                "likely",
		"Error during training: No module named 'apex'\nstep 1 loss 2.0\nstep 2 loss 1.9\n": "",
		"Failed to fetch the picture of the day: there is none\n":                           "",
		"Failed to import: No module named 'apex', falling back to torch\n":                 "",
	} {
		job := matcher.New(base).Begin()
		if err := job.Read(context.Background(), "train.log", strings.NewReader(log)); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, d := range job.Report().Diagnoses {
			if d.ID != "module-missing" && want != "" {
				t.Errorf("%q is %s", log, d.ID)
			}
			got = string(d.Certainty)
		}
		if got != want {
			t.Errorf("%q: %q instead of %q", log, got, want)
		}
	}
}
