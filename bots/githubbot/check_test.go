package githubbot

import (
	"strings"
	"testing"

	"github.com/gpu-triage/triage/bots/fetch"
	"github.com/gpu-triage/triage/matcher/report"
)

func TestFilesOfTheRepository(t *testing.T) {
	files := map[string]bool{"train.py": true, "nano/train.py": true, "a/b/c.py": true}
	for _, c := range []struct{ file, inTree, inCheckout string }{
		{"/home/runner/work/r/r/nano/train.py", "nano/train.py", "nano/train.py"},
		{"/__w/r/r/train.py", "train.py", "train.py"},
		{`D:\a\r\r\nano\train.py`, "nano/train.py", "nano/train.py"},
		{"/workspace/a/b/c.py", "a/b/c.py", "a/b/c.py"},
		{"./nano/train.py", "nano/train.py", "nano/train.py"},
		{"/venv/lib/python3.11/site-packages/nano/train.py", "", ""},
		{"/usr/lib/python3/dist-packages/train.py", "", ""},
		{"/srv/other.py", "", ""},
		{"../other.py", "", ""},
		{"<string>", "", ""},
	} {
		if got, _ := inTree(c.file, files); got != c.inTree {
			t.Errorf("%s in the tree: %q", c.file, got)
		}
		if got, ok := inCheckout(c.file, "r"); ok != (c.inCheckout != "") || ok && got != c.inCheckout {
			t.Errorf("%s in a checkout: %q, %v", c.file, got, ok)
		}
	}
}

// However long its lines and however many its frames, an account of pytest is read within bounds.
func TestPlacesAreBounded(t *testing.T) {
	log := strings.Repeat("x", 1<<20) + "\n" + strings.Repeat("a.py:1: in f\n", 1000) + "b.py:2: in g\nE   ValueError: x\n"
	answer := report.Report{Diagnoses: []report.Diagnosis{{Evidence: []report.Evidence{{Source: "job", Line: 1003}}}, {}, {Evidence: []report.Evidence{{Source: "none", Line: 1}}}}}
	placed := withPytest(answer, []fetch.Log{{Name: "job", Text: []byte(log)}})
	if n := len(placed.Diagnoses[0].Evidence); n != 1+placesKept || placed.Diagnoses[0].Evidence[1].Line != 1002 || len(answer.Diagnoses[0].Evidence) != 1 {
		t.Errorf("%d pieces of evidence, and the answer has %d", n, len(answer.Diagnoses[0].Evidence))
	}
}
