package diagnosis_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/condition"
)

// What is known is not asked for, also where the line itself does not tell it.
func TestKnownIsNotAsked(t *testing.T) {
	base, err := rules.Load(fstest.MapFS{
		"facts.yaml": {Data: []byte("facts: [{name: rank, type: number, about: the rank, ask: echo}, {name: torch, type: version}]\n")},
		"full.yaml":  {Data: []byte("id: full\ntitle: full\nkeywords: [\"device is full\"]\nmatch: ['text contains \"device is full\"']\nconfirm: [rank == 3]\ncause: x\nfixes: [{do: x}]\nreferences: [x]\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	job := matcher.New(base).Begin()
	if err := job.Read(t.Context(), "log", strings.NewReader("the device is full\n")); err != nil {
		t.Fatal(err)
	}
	asked := func(known ...facts.Fact) int { return len(job.Report(known...).Diagnoses[0].Missing) }
	if got := asked(); got != 1 {
		t.Errorf("%d questions about what nobody knows", got)
	}
	if got := asked(facts.Fact{Name: "rank", Value: condition.NumberValue(3), Source: facts.FromUser}); got != 0 {
		t.Errorf("%d questions about what is known", got)
	}
}
