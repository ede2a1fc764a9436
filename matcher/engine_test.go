package matcher_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/rules"
)

// TestExamples diagnoses every log of testdata and compares the answer with the verdict that stands in it. Each signature must have
// a log in which it is the root cause and one in which it must not be.
func TestExamples(t *testing.T) {
	base, err := rules.Load()
	if err != nil {
		t.Fatal(err)
	}
	engine := matcher.New(base)
	positive, near := make(map[string]bool), make(map[string]bool)
	err = filepath.WalkDir("../testdata/logs", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".log" {
			return err
		}
		t.Run(strings.TrimPrefix(path, "../testdata/logs/"), func(t *testing.T) {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			example, err := matcher.ParseExample(path, content)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range example.Want {
				positive[want.ID] = true
			}
			for _, id := range example.Not {
				near[id] = true
			}
			for _, mistake := range engine.Try(context.Background(), example) {
				t.Error(mistake)
			}
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range base.Signatures {
		if !positive[s.ID] && s.Role != rules.Noise && s.Role != rules.Progress {
			t.Errorf("%s has no log in which it is the root cause", s.ID)
		}
		if !near[s.ID] {
			t.Errorf("%s has no near miss", s.ID)
		}
	}
}
