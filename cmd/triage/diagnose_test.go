package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/gpu-triage/triage/matcher/report"
)

// endless is a log that does not end: then is called each time that more of it is asked for.
type endless struct{ then func() []byte }

func (e endless) Read(b []byte) (int, error) { return copy(b, e.then()), nil }

const failure = "Traceback (most recent call last):\n  File \"/job/train.py\", line 3, in <module>\n    main()\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free.\n"

// Ctrl-C ends the reading of a long log, and what was found so far is told as incomplete.
func TestInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	more := []byte(strings.Repeat("some line\n", 1000))
	left := 4000 // many times what a reader has in its buffers
	log := io.MultiReader(strings.NewReader(failure), endless{func() []byte {
		if left--; left < 0 {
			interrupt()
		}
		return more
	}})
	var out, errs bytes.Buffer
	status := run(ctx, []string{"--live", "off", "--format", "json"}, streams{in: log, out: &out, err: &errs, env: func(string) string { return "" }})
	var report report.Report
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatalf("status %d, %v: %s", status, err, errs.String())
	}
	if !report.Stats.Incomplete || report.Stats.Bytes < 5_000_000 || len(report.Diagnoses) == 0 {
		t.Errorf("%d diagnoses, %+v", len(report.Diagnoses), report.Stats)
	}
}

// Someone who waits at a terminal sees how far the reading is; nothing of that stays, and nothing of it is in the answer.
func TestProgressOnATerminal(t *testing.T) {
	screen, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer screen.Close()
	start := time.Now()
	log := io.MultiReader(strings.NewReader(failure), io.LimitReader(endless{func() []byte {
		time.Sleep(time.Millisecond)
		return bytes.Repeat([]byte("x\n"), 16<<10)
	}}, 40<<20))
	var out bytes.Buffer
	run(t.Context(), []string{"--live", "off"}, streams{in: log, out: &out, err: terminal, env: os.Getenv})
	if took := time.Since(start); took < progressFrom {
		t.Fatalf("the log was read in %s: too fast for anything to be shown", took)
	}
	terminal.Close()
	shown, _ := io.ReadAll(screen) // a closed terminal ends with an error
	if text := string(shown); !strings.Contains(text, " GB, ") || !strings.HasSuffix(text, "\r\x1b[K") {
		t.Errorf("shown: %q", text)
	}
	if strings.Contains(out.String(), " GB, ") {
		t.Errorf("the answer: %s", out.String())
	}
}

// Where the size of all files is known, so is the time that is left.
func TestProgressOfFiles(t *testing.T) {
	var out bytes.Buffer
	p := &progress{out: &out, total: 4e9, done: 1e9, start: time.Now().Add(-10 * time.Second)}
	p.at(1e9)
	if !strings.Contains(out.String(), "2.0 of 4.0 GB, 200 MB/s, 10 s left") {
		t.Errorf("%q", out.String())
	}
	out.Reset()
	p.at(2e9)
	if out.Len() > 0 {
		t.Errorf("shown again at once: %q", out.String())
	}
}
