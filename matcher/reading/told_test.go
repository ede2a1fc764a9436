package reading_test

import (
	"testing"

	"github.com/gpu-triage/triage/matcher/matchertest"
)

// TestTold: of a post in which nothing was printed counts what its author says that failed, and nothing of one that tells more.
func TestTold(t *testing.T) {
	const hello = "# A cold pot of tea\n\nHi, I brew tea and it fails.\n"
	for name, c := range map[string]struct{ log, want string }{
		"the class left out": {hello + "The error is\n`the lid does not fit this pot`\n", "lid"},
		"the title":          {"# the lid does not fit this pot\n\nI brew tea and it fails.\n", "lid"},
		"nothing failed":     {"# A warm pot of tea\n\nThe pot is warm.\n", ""},
		"not announced":      {hello + "I brewed some.\nthe lid does not fit this pot\n", ""},
		"a log":              {"brewing\nthe error is\nthe lid does not fit this pot\nthe pot is warm\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			engine := matchertest.Story(t)
			got := ""
			if found := read(t, engine, c.log).Report().Diagnoses; len(found) > 0 {
				got = found[0].ID
			}
			if got != c.want {
				t.Errorf("the answer is %q, not %q", got, c.want)
			}
		})
	}
}
