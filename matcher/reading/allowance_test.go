package reading_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/reading"
	"github.com/gpu-triage/triage/rules"
)

// manySignatures is a knowledge base of so many failures, each with its words.
func manySignatures(t *testing.T, n int) *matcher.Engine {
	t.Helper()
	files := fstest.MapFS{"facts.yaml": {Data: []byte("facts: []\n")}}
	for i, word := range words(n) {
		id := fmt.Sprintf("failure-%d", i)
		files[id+".yaml"] = eventSignature(id, "cause", fmt.Sprintf("keywords: [\"failure of %[1]s\"]\nmatch: ['text matches `failure of %[1]s\\b`']", word))
	}
	base, err := rules.Load(files)
	if err != nil {
		t.Fatal(err)
	}
	return matcher.New(base)
}

// list is a log of so many long lines, each with the words of all failures and like no other.
func list(lines, failures int) string {
	rnd := rand.New(rand.NewPCG(7, 7))
	known := words(failures)
	var b strings.Builder
	for range lines {
		for _, one := range rnd.Perm(failures) {
			fmt.Fprintf(&b, "%s failure of %s ", strings.Repeat(words(1000)[rnd.IntN(1000)], 60), known[one])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// TestAllowance: of a log in which each line has the words of many failures, only some lines are matched, and the answer says that it is
// not complete. What it ends with is told all the same.
func TestAllowance(t *testing.T) {
	const failures = 20
	engine := manySignatures(t, failures+1)
	last := "failure of " + words(failures + 1)[failures]
	raised := "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nRuntimeError: " + last + "\n" + strings.Repeat("bye\n", 40)
	for lines, complete := range map[int]bool{20: true, 400: false} {
		for _, end := range []string{last + "\n", raised} {
			found := read(t, engine, list(lines, failures)+end).Result()
			if found.Stats.Incomplete == complete {
				t.Errorf("%d lines: incomplete is %v", lines, found.Stats.Incomplete)
			}
			if !slices.ContainsFunc(found.Events, func(e *reading.Event) bool {
				return strings.Contains(e.Chain.Head().Text, last) && len(e.Chain.Head().Matches) == 1
			}) {
				t.Errorf("%d lines: no event is %q", lines, end)
			}
		}
	}
}
