package prefilter

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gpu-triage/triage/matcher/scan"
	"github.com/gpu-triage/triage/rules"
)

// TestRare: text that ordinary logs have is looked for in the first lines only, as is text that is too short.
func TestRare(t *testing.T) {
	for text, want := range map[string]bool{"watchdog": true, "watchdo": false, "UserWarning": false, "checkpoint": false, "": false} {
		if got := rare([]scan.Literal{{Text: text}}); got != want {
			t.Errorf("rare(%q) = %v", text, got)
		}
		if rare([]scan.Literal{{Text: "watchdog"}, {Text: text}}) != want {
			t.Errorf("rare of watchdog and %q is not %v", text, want)
		}
	}
	if rare(nil) {
		t.Error("no literal at all cannot be looked for")
	}
}

// TestCommonWords: a signature is remarked on when more than ten lines of a megabyte have its words.
func TestCommonWords(t *testing.T) {
	base, err := rules.Load(fstest.MapFS{
		"facts.yaml": {Data: []byte("facts: [{name: torch, type: version}]\n")},
		"dog.yaml": {Data: []byte("id: dog\ntitle: dog\nrole: cause\nkeywords: [watchdog fired]\nmatch: ['text contains \"watchdog fired\"']\n" +
			"cause: x\nfixes: [{do: x}]\nreferences: [x]\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	filter := New(base)
	for lines, want := range map[int]int{10: 0, 11: 1} {
		log := strings.Repeat("watchdog fired\n", lines)
		log += strings.Repeat(".", 1_000_000-len(log))
		remarks := filter.Remarks([]byte(log))
		if len(remarks) != want {
			t.Errorf("%d lines of a megabyte: %v", lines, remarks)
		}
		for _, r := range remarks {
			if r.Signature != "dog" || !strings.Contains(r.Message, "11 lines of each MB") {
				t.Errorf("%q is said about %q", r.Message, r.Signature)
			}
		}
	}
}
