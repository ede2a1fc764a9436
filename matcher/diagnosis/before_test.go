package diagnosis_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/rules"
)

// TestGroupsBefore: a group of before: is what the same process printed before, and is not found when that says nothing.
func TestGroupsBefore(t *testing.T) {
	base, err := rules.Load(fstest.MapFS{
		"facts.yaml": {Data: []byte("facts: [{name: torch, type: version}]\n")},
		"lost.yaml": {Data: []byte(`id: lost
title: It is lost
keywords: [is lost now]
match: ['text contains "is lost now"']
before: ['(?:^|\n)no (?P<what>\w+) here\s*$']
cause: 'It is {what|something}.'
fixes: [{do: 'Look for it.'}]
references: [x]
`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	for log, want := range map[string]string{
		"no map here\nit is lost now\n":                             "It is map.",
		"no map here\nanother line\nit is lost now\n":               "It is something.",
		"it is lost now\n":                                          "It is something.",
		"[rank1]: no map here\n[rank0]: it is lost now\n":           "It is something.",
		"[rank0]: no map here\n[rank1]: x\n[rank0]: it is lost now": "It is map.",
	} {
		reading := matcher.New(base).Begin()
		if err := reading.Read(context.Background(), "train.log", strings.NewReader(log)); err != nil {
			t.Fatal(err)
		}
		if got := reading.Report().Diagnoses[0].Cause; got != want {
			t.Errorf("%q: %q instead of %q", log, got, want)
		}
	}
}
