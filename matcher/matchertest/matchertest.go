// Package matchertest has a small knowledge base and pieces of logs for tests that are about the story of a log and not about what is known.
package matchertest

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/rules"
)

// Story knows one failure of each role.
func Story(t *testing.T) *matcher.Engine {
	t.Helper()
	signature := func(id, role, keyword, match string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(fmt.Sprintf(
			"id: %[1]s\ntitle: %[1]s\nrole: %[2]s\nkeywords: [%[3]q]\nmatch: [%[4]q]\ncause: x\nfixes: [{do: x}]\nreferences: [x]\n", id, role, keyword, match))}
	}
	facts := "facts: [{name: torch, type: version}]\n"
	base, err := rules.Load(fstest.MapFS{
		"facts.yaml":    {Data: []byte(facts)},
		"oom.yaml":      signature("oom", "cause", "out of memory", `text contains "out of memory"`),
		"watchdog.yaml": signature("watchdog", "consequence", "Watchdog caught", `text contains "Watchdog caught"`),
		"wrapper.yaml":  signature("wrapper", "consequence", "ChildFailedError", `error.name == "ChildFailedError"`),
		"step.yaml":     signature("step", "progress", "iteration", `text contains "iteration"`),
		"any.yaml":      signature("any", "generic", "Error", `error.type != ""`),
		"nan.yaml":      signature("nan", "cause", "loss nan", `text contains "loss nan"`),
		"line.yaml":     signature("line", "generic", "Frontend error", `text contains "Frontend error"`),
		"cut.yaml":      signature("cut", "generic", "Traceback", `error.type == "" and any(error.frames, .line > 0)`),
		"chatter.yaml":  signature("chatter", "noise", "libfoo", `text contains "libfoo"`),
		"killed.yaml":   signature("killed", "cause", "Killed", `text contains "Killed"`),
		"lid.yaml":      signature("lid", "cause", "lid does not fit", `error.name == "ValueError" and error.message contains "lid does not fit"`),
	})
	if err != nil {
		t.Fatal(err)
	}
	return matcher.New(base)
}

// What a log of a job is made of: two failures, and progress.
const (
	ValueError = "Traceback (most recent call last):\n  File \"main.py\", line 3, in <module>\n    f()\nValueError: bad shard\n"
	OOM        = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
	Step       = "[2026-11-19 03:00:00] iteration 1/100 loss 2.0\n"
)

// Prefixed is a text as a rank prints it.
func Prefixed(rank int, text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		fmt.Fprintf(&b, "[rank%d]: %s", rank, line)
	}
	return b.String()
}
