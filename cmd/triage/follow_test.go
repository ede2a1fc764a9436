package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules"
)

// TestFollow: each failure that is added to a log is told once, and the end of following is the end of a diagnosis.
func TestFollow(t *testing.T) {
	base, err := rules.Load()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "train.log")
	add := func(text string) {
		file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = file.WriteString(text)
		}
		if err != nil {
			t.Error(err)
		}
		file.Close()
	}
	add("step 1\nstep")
	ctx, cancel := context.WithCancel(t.Context())
	reading := matcher.New(base).Begin()
	answers := make(chan report.Report)
	ended := make(chan error, 1)
	go func() {
		ended <- follow(ctx, name, reading, func() report.Report { return reading.Report() }, func(report report.Report) error {
			answers <- report
			return nil
		})
	}()
	add(" 2\nTraceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nmymodel.OddError: no weights\n")
	if report := <-answers; report.Diagnoses[0].Evidence[0].Line != 5 || report.Stats.Lines != 5 {
		t.Errorf("the first answer is about line %d of %d, not 5", report.Diagnoses[0].Evidence[0].Line, report.Stats.Lines)
	}
	cancel()
	if err := <-ended; !errors.Is(err, exitStatus(exitNothing)) { // no cause was named
		t.Errorf("following ended with %v", err)
	}
}
