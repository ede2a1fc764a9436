package matcher_test

import (
	"context"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/rules"
)

// TestMessageAlone: a program that caught an exception prints its message and ends. A signature that asks for the exception knows it all the
// same, and is not sure; what no signature knows is not told. What the message itself tells of trying and skipping does not mean that the
// program went on.
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
		"Failed to import: ModuleNotFoundError: No module named 'apex', skipping it\n":      "",
		"No module named 'apex'\n":                                   "likely", // pasted without more
		"No module named 'apex', skipping it\n":                      "",
		"step 1 loss 2.0\nstep 2 loss 1.9\nNo module named 'apex'\n": "",
		"Retry after a failed import: No module named 'apex'\n":      "",
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

// TestCaughtMessageOfTrying: words of trying, attempts and skipping in a message are not those of a program that goes on.
func TestCaughtMessageOfTrying(t *testing.T) {
	base, err := rules.Open()
	if err != nil {
		t.Fatal(err)
	}
	for message, id := range map[string]string{
		"jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 2304 bytes.":    "jax-out-of-memory",
		"jax.errors.TracerBoolConversionError: Attempted boolean conversion of traced array with shape bool[].": "jax-tracer-conversion",
		"ValueError: the shard has 3 rows, skipping it":                                                         "",
		"RuntimeError: the server gave no answer, will retry in 5 s":                                            "",
	} {
		job := matcher.New(base).Begin()
		if err := job.Read(context.Background(), "train.log", strings.NewReader("2026-01-01 10:00:00,123 - ERROR - Training failed: "+message+"\n")); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, d := range job.Report().Diagnoses {
			got = d.ID
		}
		if got != id {
			t.Errorf("%q: %q instead of %q", message, got, id)
		}
	}
}
