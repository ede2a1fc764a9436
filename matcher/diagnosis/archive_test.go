package diagnosis

import (
	"testing"

	"github.com/gpu-triage/triage/rules/history"
)

// TestAliased asks for calls by another name of a package: only a rest that one package has tells which is meant.
func TestAliased(t *testing.T) {
	for call, want := range map[string]string{
		"te.pytorch.LayerNorm": "transformer_engine.pytorch.LayerNorm",
		"te.pytorch.NoSuch":    "", // no package has it
		"te.LayerNorm":         "", // one word: many packages have it
		"LayerNorm":            "",
	} {
		a := &archive{opened: map[string]*history.Package{}}
		got := a.aliased(call, "normalized_shape")
		if want == "" && len(got) == 0 {
			continue
		}
		if len(got) != 1 || got[0].Dotted != want || got[0].Parameter != "normalized_shape" {
			t.Errorf("%s: got %v, want %q", call, got, want)
		}
	}
}

// TestBefore asks for the newest release without a name.
func TestBefore(t *testing.T) {
	span := func(p history.Presence, last string) history.Range {
		return history.Range{Presence: p, Last: history.Release{Version: last}}
	}
	added := []history.Range{span(history.Absent, "1.2"), span(history.Unknown, "1.3"), span(history.Present, "2.0")}
	removed := []history.Range{span(history.Present, "1.2"), span(history.Absent, "2.0")}
	if got := before(added); got != "1.2" {
		t.Errorf("added: got %q, want 1.2", got)
	}
	if got := before(removed); got != "" {
		t.Errorf("removed: got %q, want none", got)
	}
}
