package rules

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/fact"
	"github.com/gpu-triage/triage/rules/rulefile"
)

func TestShippedBaseLoads(t *testing.T) {
	if _, err := Load(); err != nil {
		t.Fatal(err)
	}
}

// TestRefusedFiles loads each file of a folder of mistakes; its "#=want=" lines are the problems that must be reported, all of them.
func TestRefusedFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("each file is read with all that are shipped")
	}
	files, err := filepath.Glob("../testdata/rules/refused/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Load(Shipped(), fstest.MapFS{filepath.Base(file): {Data: content}})
			var problems rulefile.Problems
			if !errors.As(err, &problems) {
				t.Fatalf("got %v, want problems", err)
			}
			wanted := 0
			for line := range bytes.Lines(content) {
				rest, ok := strings.CutPrefix(string(line), "#=want= ")
				if !ok {
					continue
				}
				wanted++
				place, message, _ := strings.Cut(strings.TrimSpace(rest), ": ")
				if !strings.Contains(err.Error(), filepath.Base(file)+":"+place+": ") || !strings.Contains(err.Error(), message) {
					t.Errorf("no problem at %s with %q", place, message)
				}
			}
			if len(problems) != wanted || t.Failed() {
				t.Errorf("%d problems, want %d:\n%v", len(problems), wanted, err)
			}
		})
	}
}

func TestLaterLayerReplaces(t *testing.T) {
	mine := `
id: flash-attn-softcap-missing
title: mine
keywords: [softcap]
match: ['text contains "softcap"']
cause: mine
fixes: [{do: nothing}]
references: [none]
`
	b, err := Load(Shipped(), fstest.MapFS{"flash-attn-softcap-missing.yaml": {Data: []byte(mine)}})
	if err != nil {
		t.Fatal(err)
	}
	if got := b.Signature("flash-attn-softcap-missing").Title; got != "mine" {
		t.Errorf("the title is %q, want the later layer's", got)
	}
}

func TestSameIDTwice(t *testing.T) {
	one := []byte("id: x\ntitle: x\nkeywords: [softcap]\nmatch: ['text contains \"softcap\"']\ncause: x\nfixes: [{do: x}]\nreferences: [x]\n")
	_, err := Load(Shipped(), fstest.MapFS{"a/x.yaml": {Data: one}, "b/x.yaml": {Data: one}})
	if err == nil || !strings.Contains(err.Error(), `b/x.yaml:1:5: the id "x" stands in a/x.yaml too`) {
		t.Errorf("got %v", err)
	}
}

func FuzzLoad(f *testing.F) {
	files, _ := filepath.Glob("../testdata/rules/refused/*.yaml")
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	facts, err := fs.ReadFile(Shipped(), fact.FileName)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		// Any content loads or is refused with problems; nothing else may happen.
		_, err := Load(fstest.MapFS{fact.FileName: {Data: facts}, "x.yaml": {Data: content}})
		var problems rulefile.Problems
		if err != nil && !errors.As(err, &problems) {
			t.Errorf("an error without a place: %v", err)
		}
	})
}

// TestVariableOfASentence: a sentence names an environment variable that no condition asks for, also where the file is read later.
func TestVariableOfASentence(t *testing.T) {
	base, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	s := base.Scope.NewSituation()
	s.Set("dev", condition.StringValue("7"))
	s.Set("env.NCCL_GRAPH_FILE", condition.StringValue("/opt/cloud/graph.xml"))
	if got := base.Signature("nccl-graph-file").Cause.Fill(s); !strings.Contains(got, "(/opt/cloud/graph.xml)") {
		t.Errorf("the path is not in %q", got)
	}
}
