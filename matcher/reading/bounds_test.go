package reading_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/matchertest"
	"github.com/gpu-triage/triage/rules"
)

// words are n words without digits, each another: lines that differ in numbers only are one event.
func words(n int) []string {
	all := make([]string, n)
	for i := range all {
		for left := i; len(all[i]) < 4; left /= 26 {
			all[i] += string(rune('a' + left%26))
		}
	}
	return all
}

// first is the root cause of a log, "" when there is none.
func first(t *testing.T, engine *matcher.Engine, log string) string {
	t.Helper()
	d := read(t, engine, log).Report().Diagnoses
	if len(d) == 0 {
		return ""
	}
	return d[0].ID
}

// TestEnoughSteps: a failure counts as survived when another process has shown progress twenty times since.
func TestEnoughSteps(t *testing.T) {
	engine := matchertest.Story(t)
	failed := prefixed(2, "CUDA out of memory\n")
	for steps, want := range map[int]string{19: "oom", 20: ""} {
		if got := first(t, engine, failed+prefixed(1, strings.Repeat(step, steps))); got != want {
			t.Errorf("after %d steps the root cause is %q, not %q", steps, got, want)
		}
	}
	some := prefixed(1, strings.Repeat(step, 19))
	if got := first(t, engine, failed+some+prefixed(2, "loss nan\n")+some); got != "oom" {
		t.Errorf("steps before the last failure count for it: the root cause is %q", got)
	}
}

// TestHeadLines: what is stated in common words is read in the first 5,000 lines.
func TestHeadLines(t *testing.T) {
	base, err := rules.Load(fstest.MapFS{"facts.yaml": {Data: []byte(
		"facts: [{name: torch, type: version, read: [{pattern: 'torch (?P<value>2\\.\\d+)', keywords: [torch], head: true}]}]\n")}})
	if err != nil {
		t.Fatal(err)
	}
	engine := matcher.New(base)
	for before, want := range map[int]bool{4999: true, 5000: false} {
		log := strings.Repeat("nothing\n", before) + "torch 2.3\n"
		if _, got := read(t, engine, log).Origin().Facts["torch"]; got != want {
			t.Errorf("in line %d it is %v that torch is known", before+1, got)
		}
		judged(t, engine, []byte(log))
	}
}

// TestProseLines: what people write is read in the first 500 lines.
func TestProseLines(t *testing.T) {
	base, err := rules.Load(fstest.MapFS{"facts.yaml": {Data: []byte(
		"facts: [{name: torch, type: version, read: [{pattern: 'torch (?P<value>2\\.\\d+)', keywords: [torch], said: true}]}]\n")}})
	if err != nil {
		t.Fatal(err)
	}
	engine := matcher.New(base)
	for before, want := range map[int]bool{499: true, 500: false} {
		log := strings.Repeat("nothing\n", before) + "I use torch 2.3 here\n"
		if _, got := read(t, engine, log).Origin().Facts["torch"]; got != want {
			t.Errorf("in line %d it is %v that torch is known", before+1, got)
		}
	}
}

// TestMostEvents: of more than 4,000 different events the rest is not kept, and the answer says so.
func TestMostEvents(t *testing.T) {
	engine := matchertest.Story(t)
	for others, kept := range map[int]bool{3999: true, 4000: false} {
		var log strings.Builder
		for _, word := range words(others) {
			fmt.Fprintln(&log, "Frontend error of", word)
		}
		log.WriteString("CUDA out of memory\n")
		answer := read(t, engine, log.String()).Report()
		if got := answer.Diagnoses[0].ID == "oom"; got != kept || answer.Stats.Incomplete == kept {
			t.Errorf("after %d others: %s, incomplete: %v", others, answer.Diagnoses[0].ID, answer.Stats.Incomplete)
		}
	}
}

// TestSameEvent: events are the same when the first 400 bytes of their texts are, but for numbers.
func TestSameEvent(t *testing.T) {
	engine := matchertest.Story(t)
	for _, c := range []struct{ length, count int }{{400, 2}, {399, 1}} {
		line := "CUDA out of memory"
		line += strings.Repeat(".", c.length-len(line))
		d := read(t, engine, line+"here\n"+line+"there\n").Report().Diagnoses
		if d[0].Count != c.count {
			t.Errorf("two lines with %d bytes in common are one event %d times", c.length, d[0].Count)
		}
	}
}

// TestLinesBefore: conditions about the lines before an event see the last 12 of its writer, 400 bytes of each, and no farther back than
// the 31 lines before it.
func TestLinesBefore(t *testing.T) {
	base, err := rules.Load(fstest.MapFS{
		"facts.yaml": {Data: []byte("facts: [{name: torch, type: version}]\n")},
		"after.yaml": eventSignature("after", "cause", "keywords: [\"job failed\"]\nmatch: ['text contains \"job failed\"', 'before contains \"bad disk\"']"),
	})
	if err != nil {
		t.Fatal(err)
	}
	engine := matcher.New(base)
	bye := func(n int) string { return strings.Repeat("bye\n", n) }
	for name, c := range map[string]struct {
		log  string
		want bool
	}{
		"12 lines before":                     {"bad disk\n" + bye(11) + "job failed\n", true},
		"13 lines before":                     {"bad disk\n" + bye(12) + "job failed\n", false},
		"31 lines before, most of others":     {prefixed(1, "bad disk\n") + prefixed(2, bye(30)) + prefixed(1, "job failed\n"), true},
		"32 lines before, most of others":     {prefixed(1, "bad disk\n") + prefixed(2, bye(31)) + prefixed(1, "job failed\n"), false},
		"at the end of the first 400 bytes":   {strings.Repeat(".", 392) + "bad disk\njob failed\n", true},
		"behind the first 399 bytes":          {strings.Repeat(".", 393) + "bad disk\njob failed\n", false},
		"another's":                           {prefixed(2, "bad disk\n") + prefixed(1, "job failed\n"), false},
		"12 lines before, in a line read raw": {strings.Repeat("nothing\n", 6000) + "bad disk\n" + bye(11) + "job failed\n", true},
	} {
		if got := first(t, engine, c.log) == "after"; got != c.want {
			t.Errorf("%s: %v", name, got)
		}
		judged(t, engine, []byte(c.log))
	}
}

// TestShortestKeyword: a keyword of 8 bytes is looked for in every line, a shorter one in the last 32 only.
func TestShortestKeyword(t *testing.T) {
	base, err := rules.Load(fstest.MapFS{
		"facts.yaml": {Data: []byte("facts: [{name: torch, type: version}]\n")},
		"long.yaml":  eventSignature("long", "cause", "keywords: [bad disk]\nmatch: ['text contains \"bad disk\"']"),
		"short.yaml": eventSignature("short", "cause", "keywords: [bad net]\nmatch: ['text contains \"bad net\"']"),
	})
	if err != nil {
		t.Fatal(err)
	}
	engine := matcher.New(base)
	for line, want := range map[string]string{"bad disk\n": "long", "bad net\n": ""} {
		if got := first(t, engine, line+strings.Repeat("bye\n", 32)); got != want {
			t.Errorf("%q gives %q, not %q", line, got, want)
		}
	}
	if got := first(t, engine, "bad net\n"+strings.Repeat("bye\n", 31)); got != "short" {
		t.Errorf("in the last lines it gives %q", got)
	}
}

// TestMostWords: a line with keywords of more than a hundred failures is a list of them.
func TestMostWords(t *testing.T) {
	files := fstest.MapFS{"facts.yaml": {Data: []byte("facts: [{name: torch, type: version}]\n")}}
	var keywords []string
	for _, word := range words(101) {
		id := "failure-" + word
		keywords = append(keywords, id)
		files[id+".yaml"] = &fstest.MapFile{Data: []byte(fmt.Sprintf("id: %[1]s\ntitle: x\nkeywords: [%[1]s]\nmatch: [text contains %[1]q]\ncause: x\nfixes: [{do: x}]\nreferences: [x]\n", id))}
	}
	base, err := rules.Load(files)
	if err != nil {
		t.Fatal(err)
	}
	engine := matcher.New(base)
	for n, want := range map[int]bool{100: true, 101: false} {
		if got := first(t, engine, strings.Join(keywords[:n], " ")+"\n"); got != "" != want {
			t.Errorf("of a line with %d keywords the root cause is %q", n, got)
		}
	}
}
