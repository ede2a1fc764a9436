package backend_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/backend"
	"github.com/gpu-triage/triage/rules/condition"
)

// TestExplorationBudget: an answer that hangs on two unknown facts and is the same for all of their values is found when the last
// situation whose facts are tried out is the 2999th that is looked at, and not when it is the 3000th.
func TestExplorationBudget(t *testing.T) {
	base, err := rules.Open()
	if err != nil {
		t.Fatal(err)
	}
	numbers := func(n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprint(i + 1)
		}
		return "[" + strings.Join(list, ", ") + "]"
	}
	for _, c := range []struct {
		outer, inner int // values of the facts: the last situation before the inner one is tried out is 2 + (outer-1)*(inner+1)
		want         string
	}{{1000, 2, backend.Allowed}, {1500, 1, backend.Unknown}} {
		library := "library: x\nversion: torch\nreleases: ['1.0']\nfilters: [f]\nbackends: [{name: A}]\nfacts:\n  torch: {}\n" +
			"  head_dim_qk: {values: " + numbers(c.outer) + "}\n  head_dim_v: {values: " + numbers(c.inner) + "}\n" +
			"rules: [{id: r, off: A, filter: f, when: 'not ((head_dim_qk < 5 or head_dim_qk >= 5) and (head_dim_v < 5 or head_dim_v >= 5))', because: b, source: s}]\n"
		libraries, err := backend.Load(base.Vocabulary, fstest.MapFS{"backends/x/library.yaml": {Data: []byte(library)}})
		if err != nil {
			t.Fatal(err)
		}
		torch, err := condition.ParseVersion("1.0")
		if err != nil {
			t.Fatal(err)
		}
		selection := libraries[0].Evaluate(map[string]condition.Value{"torch": condition.VersionValue(torch)})
		if got := selection.Backends[0].Verdict; got != c.want {
			t.Errorf("%d values and %d: %s, not %s", c.outer, c.inner, got, c.want)
		}
	}
}
