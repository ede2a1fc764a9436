package matcher

import (
	"testing"

	"github.com/gpu-triage/triage/matcher/scan"
	"github.com/gpu-triage/triage/rules"
)

// TestShippedKnowledgeIsScannable: one keyword that cannot be looked for in raw bytes would make every line of every log be read.
func TestShippedKnowledgeIsScannable(t *testing.T) {
	base, err := rules.Load()
	if err != nil {
		t.Fatal(err)
	}
	b := newEngine(base).build()
	for _, literals := range [][]scan.Literal{b.lines, b.progress} {
		if _, err := scan.New(literals); err != nil {
			t.Error(err)
		}
	}
}
