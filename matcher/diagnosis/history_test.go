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

// A name that no release has is told from one that came or went, and from one that a release newer than the table may have.
func TestNameOfNoRelease(t *testing.T) {
	base, err := rules.Load(fstest.MapFS{
		"facts.yaml": {Data: []byte("facts: [{name: einops, type: version, about: einops, ask: echo, packages: [einops]}]\n")},
		"never.yaml": {Data: []byte(`id: never
title: never
keywords: ["has not the name "]
match: ['history.change == "never"']
capture: ['has not the name (?P<name>[\w.]+)']
history: ["{name}"]
cause: x
fixes: [{do: x}]
references: [x]
`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, installed string
		want            int
	}{
		{"einops.einops.fold_twice", "", 1},
		{"einops.einops.fold_twice", "0.6.0", 1},
		{"einops.einops.fold_twice", "99.0", 0}, // newer than the table
		{"einops.einops.rearrange", "", 0},      // all releases have it
		{"einops.pack", "", 0},                  // came with a release
		{"einops.no_such_place.fold", "", 0},    // the place is missing, and nothing is known of what would be in it
		{"nobody_covers_this.fold", "", 0},
		{"layers.fold_twice", "", 0}, // einops.layers may be meant, or anything else
	} {
		job := matcher.New(base).Begin()
		if err := job.Read(t.Context(), "log", strings.NewReader("the package has not the name "+c.name+"\n")); err != nil {
			t.Fatal(err)
		}
		var known []facts.Fact
		if c.installed != "" {
			v, err := condition.ParseVersion(c.installed)
			if err != nil {
				t.Fatal(err)
			}
			known = append(known, facts.Fact{Name: "einops", Value: condition.VersionValue(v), Source: facts.FromUser})
		}
		if got := len(job.Report(known...).Diagnoses); got != c.want {
			t.Errorf("%s with einops %q: %d diagnoses, want %d", c.name, c.installed, got, c.want)
		}
	}
}
