package rules_test

import (
	"sync"
	"testing"

	"github.com/gpu-triage/triage/rules"
)

// TestSignaturesReadAtOnce: several diagnoses read the files of signatures in the midst of their work, also at the same time. The race detector
// is the judge.
func TestSignaturesReadAtOnce(t *testing.T) {
	base, err := rules.Open()
	if err != nil {
		t.Fatal(err)
	}
	var readers sync.WaitGroup
	for first := range 2 {
		readers.Go(func() {
			for i := first; i < len(base.Entries); i += 2 {
				if s := base.Entries[i].Signature(); s.ID != base.Entries[i].ID {
					t.Errorf("the file of %s is that of %s", base.Entries[i].ID, s.ID)
				}
			}
		})
	}
	readers.Wait()
}
