package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCommandsOfSeveralKinds(t *testing.T) {
	var f Fix
	f.Add("sh", "ls")
	f.Add("sh", "pwd")
	if f.Kind != "sh" || f.Kinds != nil {
		t.Errorf("two commands for a shell are %q %v", f.Kind, f.Kinds)
	}
	f.Add("python", "import torch")
	f.Add("sh", "id")
	if f.Kind != "text" {
		t.Errorf("commands of two kinds are %q", f.Kind)
	}
	want := []Commands{{"sh", []string{"ls", "pwd"}}, {"python", []string{"import torch"}}, {"sh", []string{"id"}}}
	if diff := cmp.Diff(want, f.Commands()); diff != "" {
		t.Error(diff)
	}
	old := Fix{Run: []string{"ls", "id"}}
	if diff := cmp.Diff([]Commands{{"", old.Run}}, old.Commands()); diff != "" {
		t.Errorf("a report without kinds: %s", diff)
	}
}

// TestSecretTakesItsCommandAlong: what is left of a command without its secret does something else.
func TestSecretTakesItsCommandAlong(t *testing.T) {
	f := Fix{}
	f.Add("sh", "ls /data")
	f.Add("python", "login('hf_abcdefghijklmnopqrstuvwxyzABCDEFGH')")
	r := Report{Diagnoses: []Diagnosis{{Fixes: []Fix{f}}}}
	r.Redact()
	if got := r.Diagnoses[0].Fixes[0]; len(got.Run) != 1 || got.Kind != "sh" || got.Kinds != nil {
		t.Errorf("left are %q, %s %v", got.Run, got.Kind, got.Kinds)
	}
}
