package rules

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
)

func TestReadKnowledge(t *testing.T) {
	if k, err := ReadKnowledge(Shipped()); err != nil || k.Format != Format {
		t.Errorf("what is shipped is %+v, %v", k, err)
	}
	for content, want := range map[string]string{
		"version: 2027.01.02\nformat: 1\n":                  "",
		"version: 2027.01.02.1\nformat: 1\n":                "",
		"version: 2027.01.02\nformat: 99\n":                 "install a newer triage",
		"version: 2027.01.02\nformat: 99\nflavour: [new]\n": "install a newer triage",
		"version: 2027.01.02\nformat: 1\nflavour: [new]\n":  "flavour",
		"version: tomorrow\nformat: 1\n":                    "a day as",
		"version: ../../2027\nformat: 1\n":                  "a day as",
		"version: 2027.01.02\n":                             "a number from 1",
	} {
		_, err := ReadKnowledge(fstest.MapFS{KnowledgeFile: {Data: []byte(content)}})
		switch {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v, not %q", content, err, want)
		case errors.Is(err, ErrTooNew) != strings.Contains(content, "99"):
			t.Errorf("%q: too new is not told apart: %v", content, err)
		}
	}
}

func TestVersionTellsOfOwnRules(t *testing.T) {
	base, err := Open(Shipped(), fstest.MapFS{})
	if err != nil {
		t.Fatal(err)
	}
	if v := base.Version(); !strings.HasSuffix(v, "+own") {
		t.Errorf("the version is %s", v)
	}
}
