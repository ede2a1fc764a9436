package matcher_test

import (
	"context"
	"os"
	"testing"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/example"
	"github.com/gpu-triage/triage/rules"
)

// TestExamples diagnoses every example of a signature and every log of testdata, and compares the answer with the verdict. Each
// signature must have one in which it is the root cause and one in which it must not be.
func TestExamples(t *testing.T) {
	base, err := rules.Open() // as the program does
	if err != nil {
		t.Fatal(err)
	}
	engine := matcher.New(base)
	examples, err := example.Load(base, base.Signatures(), os.DirFS("../testdata/logs"))
	if err != nil {
		t.Fatal(err)
	}
	for i, one := range examples {
		if testing.Short() && i%8 != 0 { // nearly all logs take the same ways through the engine
			continue
		}
		t.Run(one.String(), func(t *testing.T) {
			t.Parallel()
			for _, mistake := range example.Try(context.Background(), engine, one) {
				t.Error(mistake)
			}
		})
	}
	for _, p := range example.Uncovered(base.Signatures(), examples) {
		t.Error(p)
	}
}
