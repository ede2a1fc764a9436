package matcher_test

import (
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/rules"
)

// TestMessageAlone: a program that caught an exception prints its message and ends. A signature that asks for the exception knows it all the
// same, and is not sure where neither its type is printed nor the message is one of Python's own; what no signature knows is not told. Words
// of trying, attempts and skipping mean that the program went on where it says them of itself, and not in the message.
func TestMessageAlone(t *testing.T) {
	base, err := rules.Open()
	if err != nil {
		t.Fatal(err)
	}
	engine := matcher.New(base)
	const failed = "2026-01-01 10:00:00,123 - ERROR - Training failed: "
	for log, want := range map[string]string{
		"Error during training: No module named 'apex'":                                                                  "module-missing confirmed",
		"2026-01-01 10:00:00,123 - ERROR - train - No module named 'apex'":                                               "module-missing confirmed",
		"'Net' object has no attribute 'y'":                                                                              "python-attribute-error unexplained",
		"'Net' object has no attribute 'y'\nstep 1 loss 2.0":                                                             "",
		"Error during training: No module named 'apex'\nstep 1 loss 2.0\nstep 2 loss 1.9":                                "",
		"Failed to fetch the picture of the day: there is none":                                                          "",
		"Failed to import: No module named 'apex', falling back to torch":                                                "",
		"Failed to import: ModuleNotFoundError: No module named 'apex', skipping it":                                     "",
		"Retry after a failed import: No module named 'apex'":                                                            "",
		"No module named 'apex'":                                                                                         "module-missing confirmed", // pasted without more, and Python's own
		"No module named 'apex', skipping it":                                                                            "",
		"step 1 loss 2.0\nstep 2 loss 1.9\nNo module named 'apex'":                                                       "",
		failed + "No module named 'apex'\nstep 1 loss 2.0":                                                               "",
		failed + "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 2304 bytes.":    "jax-out-of-memory confirmed",
		failed + "jax.errors.TracerBoolConversionError: Attempted boolean conversion of traced array with shape bool[].": "jax-tracer-conversion confirmed",
		failed + "ValueError: the shard has 3 rows, skipping it":                                                         "",
		failed + "RuntimeError: the server gave no answer, will retry in 5 s":                                            "",
	} {
		job := engine.Begin()
		if err := job.Read(t.Context(), "train.log", strings.NewReader(log+"\n")); err != nil {
			t.Fatal(err)
		}
		got := ""
		if found := job.Report().Diagnoses; len(found) > 0 {
			got = found[0].ID + " " + string(found[0].Certainty)
		}
		if got != want {
			t.Errorf("%q: %q instead of %q", log, got, want)
		}
	}
}
