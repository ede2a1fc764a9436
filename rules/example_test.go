package rules

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/gpu-triage/triage/rules/rulefile"
	"github.com/gpu-triage/triage/rules/signature"
)

const teaFile = `id: out-of-tea
title: The tea ran out
keywords: [tea is out]
match:
  - text contains "tea is out"
cause: |
  The pot is empty.
   examples: none
fixes:
  - do: Make some.
references: [https://example.org]
`

const teaExamples = `examples:
- source: a kitchen
  answer: likely
  rank: 1
  not: [cuda-oom]
  log: "tea\x1b is out\t\n\
    or so\n"
- source: another kitchen
  provenance: real
  facts: {torch: 2.10}
  answer: cuda-oom confirmed
  line: 1
  log: |2
      tea
    is out
`

// kitchen is the shipped base with the tea.
func kitchen(t *testing.T, file string) (*Base, error) {
	t.Helper()
	return Open(Shipped(), fstest.MapFS{"mine/out-of-tea.yaml": {Data: []byte(file)}})
}

// TestExamplesOfASignature reads examples, and knows where each says its answer.
func TestExamplesOfASignature(t *testing.T) {
	base, err := kitchen(t, teaFile+teaExamples)
	if err != nil {
		t.Fatal(err)
	}
	got, err := base.Examples([]*signature.Signature{base.Signature("out-of-tea")})
	if err != nil || len(got) != 2 {
		t.Fatal(len(got), err)
	}
	one, two := got[0], got[1]
	if one.Answer != (signature.Answer{ID: "out-of-tea", Certainty: "likely"}) || one.Line != 2 || *one.Rank != 1 || one.Log != "tea\x1b is out\t\nor so\n" || one.Provenance != "written" || !slices.Equal(one.Not, []string{"cuda-oom"}) {
		t.Errorf("%+v", one)
	}
	if two.Answer != (signature.Answer{ID: "cuda-oom", Certainty: "confirmed"}) || two.Line != 1 || two.Rank != nil || two.Log != "  tea\nis out\n" || two.Provenance != "real" || !slices.Equal(two.Not, []string{"out-of-tea"}) || two.Facts["torch"] != "2.10" {
		t.Errorf("%+v", two)
	}
	want := rulefile.Problem{File: "mine/out-of-tea.yaml", Line: strings.Count(teaFile, "\n") + 3, Column: 11}
	if diff := cmp.Diff(want, one.Place); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestWithAnswer changes the words of a verdict and nothing else, whatever else stands on their lines.
func TestWithAnswer(t *testing.T) {
	rank := 3
	for name, test := range map[string]struct{ file, want string }{
		"block":    {"examples:\n- answer: likely # so far\n  source: a\n  rank: 0\n  log: |\n    likely\n    b\n", "examples:\n- answer: confirmed # so far\n  line: 1\n  source: a\n  rank: 3\n  log: |\n    likely\n    b\n"},
		"quotes":   {"examples:\n  - source: a\n    answer: \"cuda-oom likely\"\n    line: 2\n    log: \"a\\nb\"\n", "examples:\n  - source: a\n    answer: \"confirmed\"\n    line: 1\n    log: \"a\\nb\"\n"},
		"brackets": {"examples:\n  - {source: café, answer: likely, line: 2, log: \"a\\nb\"}\n", "examples:\n  - {source: café, answer: confirmed, line: 1, log: \"a\\nb\"}\n"},
		"no room":  {"examples:\n  - {source: a, answer: likely, log: \"a\\nb\"}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			base, err := kitchen(t, teaFile+test.file)
			if err != nil {
				t.Fatal(err)
			}
			examples, err := base.Examples([]*signature.Signature{base.Signature("out-of-tea")})
			if err != nil {
				t.Fatal(err)
			}
			got, err := examples[0].WithAnswer(teaFile+test.file, signature.Answer{ID: "out-of-tea", Certainty: "confirmed"}, 1, &rank)
			if test.want == "" {
				if err == nil {
					t.Errorf("a line was added:\n%s", got)
				}
				return
			}
			if diff := cmp.Diff(teaFile+test.want, got); diff != "" || err != nil {
				t.Errorf("%v -want +got:\n%s", err, diff)
			}
			if _, err := examples[0].WithAnswer("# new\n"+teaFile+test.file, signature.Answer{ID: "out-of-tea", Certainty: "confirmed"}, 1, &rank); err == nil {
				t.Error("another file than was read is changed")
			}
		})
	}
}

// TestIndexLeavesExamplesOut: an example that was added makes the index no older, what was added before the examples does.
func TestIndexLeavesExamplesOut(t *testing.T) {
	x := &index{files: map[string]*indexed{}}
	known := func(file string) bool { return x.known(fstest.MapFS{"a.yaml": {Data: []byte(file)}}, "a.yaml") != nil }
	sum, err := x.sum(fstest.MapFS{"a.yaml": {Data: []byte(teaFile)}}, "a.yaml", int64(len(teaFile)))
	if err != nil {
		t.Fatal(err)
	}
	x.files["a.yaml"] = &indexed{File: "a.yaml", Sum: sum, Size: int64(len(teaFile))}
	for file, want := range map[string]bool{
		teaFile:                             true,
		teaFile + teaExamples:               true,
		teaFile + "ask: [torch]\n":          false,
		teaFile + "e":                       false,
		"# new\n" + teaFile:                 false,
		teaFile + "ask: []\n" + teaExamples: false,
	} {
		if known(file) != want {
			t.Errorf("known is %v for\n%s", !want, file)
		}
	}
}

// TestKeysAfterExamples are not lost in silence.
func TestKeysAfterExamples(t *testing.T) {
	for _, wrong := range []string{teaExamples + "confirm: [torch > \"2\"]\n", strings.Replace(teaExamples, "examples:", `"examples":`, 1)} {
		if _, err := kitchen(t, teaFile+wrong); err == nil || !strings.Contains(err.Error(), "examples:") {
			t.Errorf("%v for\n%s", err, wrong)
		}
	}
}
