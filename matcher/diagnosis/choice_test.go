package diagnosis

import (
	"fmt"
	"testing"

	"github.com/gpu-triage/triage/matcher/report"
)

// TestBackendBounds: a diagnosis shows the first six questions, and of each backend four reasons and six facts that are missing.
func TestBackendBounds(t *testing.T) {
	for n := 3; n <= 7; n++ {
		c, b := &asked{}, report.Backend{}
		for i := range n {
			name := fmt.Sprint("fact ", i)
			c.Missing = append(c.Missing, report.Missing{Name: name})
			b.Missing = append(b.Missing, name)
			b.Rules = append(b.Rules, report.BackendRule{ID: name})
		}
		c.Backends = []report.Backend{b}
		var d report.Diagnosis
		c.addTo(&d)
		c.addTo(&d) // the same questions are asked once
		if got := [...]int{len(d.Missing), len(d.Backends[0].Missing), len(d.Backends[0].Rules)}; got != [...]int{min(n, 6), min(n, 6), min(n, 4)} {
			t.Errorf("of %d: %v", n, got)
		}
	}
}
