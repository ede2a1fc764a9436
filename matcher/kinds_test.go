package matcher_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules"
)

// TestNoLogs: texts that only speak of errors, and runs that handled theirs, have no diagnosis; those beside them that tell of a failure
// keep theirs.
func TestNoLogs(t *testing.T) {
	base, err := rules.Load()
	if err != nil {
		t.Fatal(err)
	}
	engine := matcher.New(base)
	files, err := filepath.Glob(filepath.Join("..", "testdata", "kinds", "*", "*"))
	if err != nil || len(files) < 40 {
		t.Fatalf("%d texts: %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		folder := filepath.Base(filepath.Dir(file))
		got := read(t, engine, file, data)
		if failed := folder == "log"; failed != (len(got.Diagnoses) > 0) {
			t.Errorf("%s: %d diagnoses", file, len(got.Diagnoses))
		}
		said := strings.Contains(strings.Join(got.Notes, "\n"), "looks like")
		if silent := folder != "log" && folder != "survived"; silent != said {
			t.Errorf("%s: notes %q", file, got.Notes)
		}
	}
}

// TestEachFile: the files of a folder are judged each for itself.
func TestEachFile(t *testing.T) {
	base, err := rules.Load()
	if err != nil {
		t.Fatal(err)
	}
	job := matcher.New(base).Begin()
	for _, name := range []string{"source/errors.py", "log/line.txt", "document/runbook.md"} {
		data, err := os.ReadFile(filepath.Join("..", "testdata", "kinds", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := job.Read(context.Background(), name, bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
	}
	got := job.Report()
	if len(got.Diagnoses) == 0 || got.Diagnoses[0].Evidence[0].Source != "log/line.txt" || len(got.Notes) < 2 {
		t.Errorf("%+v, %q", got.Diagnoses, got.Notes)
	}
}

func read(t *testing.T, engine *matcher.Engine, name string, data []byte) report.Report {
	t.Helper()
	job := engine.Begin()
	if err := job.Read(context.Background(), name, bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	return job.Report()
}
