package diagnosis_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher/matchertest"
	"github.com/gpu-triage/triage/matcher/report"
)

const (
	valueError = matchertest.ValueError
	oom        = matchertest.OOM
	step       = matchertest.Step
)

var prefixed = matchertest.Prefixed

func childFailed(rank int) string {
	return fmt.Sprintf(`Traceback (most recent call last):
  File "/usr/local/bin/torchrun", line 10, in <module>
    sys.exit(main())
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
main.py FAILED
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-11-20_14:44:24
  host      : localhost
  rank      : %[1]d (local_rank: %[1]d)
  exitcode  : 1 (pid: 4337)
  error_file: <N/A>
  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html
============================================================
`, rank)
}

func TestRootCause(t *testing.T) {
	noRank := -1
	for name, c := range map[string]struct {
		logs []string
		want string // "id line rank" of the root cause, "" for none
		rank int
	}{
		"nothing failed":                   {[]string{step + step}, "", noRank},
		"survived":                         {[]string{valueError + step}, "", noRank},
		"survived, then failed":            {[]string{valueError + step + oom}, "oom", noRank},
		"survived, then on another rank":   {[]string{prefixed(2, oom+step) + prefixed(5, oom) + prefixed(0, "Watchdog caught timeout\n")}, "oom", 5},
		"survived in a later file only":    {[]string{step + oom, oom + step + "Watchdog caught timeout\n"}, "oom", noRank},
		"survived in every file":           {[]string{oom + step, oom + step}, "", noRank},
		"nan to the end":                   {[]string{step + "iteration 2/100 loss nan\niteration 3/100 loss nan\n"}, "nan", noRank},
		"nan, and finite again":            {[]string{step + "iteration 2/100 loss nan\n" + step}, "", noRank},
		"known to be harmless":             {[]string{"ImportError: libfoo is missing\n"}, "", noRank},
		"unknown at the end":               {[]string{step + valueError}, "any", noRank},
		"a traceback cut off":              {[]string{strings.TrimSuffix(valueError, "ValueError: bad shard\n") + "Frontend error\n"}, "line", noRank},
		"only a traceback cut off":         {[]string{strings.TrimSuffix(valueError, "ValueError: bad shard\n")}, "cut", noRank},
		"a lone last line":                 {[]string{step + "ValueError: bad shard\n"}, "any", noRank},
		"long ago and unknown":             {[]string{valueError + strings.Repeat("serving\n", 1000)}, "", noRank},
		"long ago and known":               {[]string{"CUDA out of memory\n" + strings.Repeat("waiting\n", 1000)}, "oom", noRank},
		"watchdogs before their cause":     {[]string{prefixed(0, "Watchdog caught timeout\n") + prefixed(3, valueError)}, "any", 3},
		"a C++ exception without a word":   {[]string{"Watchdog caught timeout\nterminate called after throwing an instance of 'std::runtime_error'\n"}, "watchdog", noRank},
		"only a consequence":               {[]string{prefixed(0, "Watchdog caught timeout\n")}, "watchdog", 0},
		"the launcher knows who":           {[]string{prefixed(1, valueError) + prefixed(2, strings.Replace(valueError, "shard", "token", 1)) + childFailed(2)}, "any", 2},
		"others print a step after it":     {[]string{valueError + step + childFailed(1)}, "any", 1},
		"without a prefix":                 {[]string{step + valueError + childFailed(6)}, "any", 6},
		"unknown first, on another rank":   {[]string{prefixed(4, valueError) + prefixed(5, "RuntimeError: CUDA out of memory\n")}, "any", 4},
		"known later, on the same rank":    {[]string{prefixed(4, valueError) + prefixed(4, "RuntimeError: CUDA out of memory\n")}, "oom", 4},
		"a file for each rank":             {[]string{"Watchdog caught timeout\n", valueError}, "any", noRank},
		"the cause of a chain":             {[]string{strings.Replace(valueError, "bad shard", "CUDA out of memory", 1) + "\nThe above exception was the direct cause of the following exception:\n\n" + valueError}, "oom", noRank},
		"a chain that explains at its end": {[]string{valueError + "\nDuring handling of the above exception, another exception occurred:\n\n" + strings.Replace(valueError, "bad shard", "CUDA out of memory", 1)}, "oom", noRank},
	} {
		t.Run(name, func(t *testing.T) {
			reading := matchertest.Story(t).Begin()
			for i, log := range c.logs {
				if err := reading.Read(context.Background(), fmt.Sprintf("%d.log", i), strings.NewReader(log)); err != nil {
					t.Fatal(err)
				}
			}
			report := reading.Report()
			got, rank := "", noRank
			if len(report.Diagnoses) > 0 {
				got = report.Diagnoses[0].ID
				if r := report.Diagnoses[0].Rank; r != nil {
					rank = *r
				}
			}
			if got != c.want || rank != c.rank {
				t.Errorf("got %q on rank %d, want %q on rank %d", got, rank, c.want, c.rank)
			}
		})
	}
}

// firstOf is the first diagnosis of a log.
func firstOf(t *testing.T, log string) report.Diagnosis {
	t.Helper()
	reading := matchertest.Story(t).Begin()
	if err := reading.Read(context.Background(), "train.log", strings.NewReader(log)); err != nil {
		t.Fatal(err)
	}
	diagnoses := reading.Report().Diagnoses
	if len(diagnoses) == 0 {
		t.Fatalf("nothing is diagnosed in %q", log)
	}
	return diagnoses[0]
}

// TestLastAttempt: of attempts that the job went on after, but for the last one, that one is told.
func TestLastAttempt(t *testing.T) {
	attempt := func(gib int) string { return strings.Replace(oom, "2.00", fmt.Sprintf("%d.00", gib), 1) }
	log := attempt(1) + step + attempt(2) + step + attempt(3) + "Watchdog caught timeout\n"
	d := firstOf(t, log)
	if at := d.Evidence[0]; d.ID != "oom" || at.Line != 5 || !strings.Contains(at.Text, "3.00 GiB") || d.Count != 1 {
		t.Errorf("%s at line %d, %d times: %s", d.ID, at.Line, d.Count, at.Text)
	}
}

// TestToldInTitle: where the title of a post repeats the last line of a traceback that follows, the traceback is shown and asked.
func TestToldInTitle(t *testing.T) {
	lines := strings.Split(strings.TrimRight(valueError, "\n"), "\n")
	post := lines[len(lines)-1] + "\n\nthe error when I run it\n" + valueError
	d := firstOf(t, post)
	if at := d.Evidence[0]; at.Line != len(lines)+3 || d.Count != 2 {
		t.Errorf("%s, %d times, is shown by %+v", d.ID, d.Count, d.Evidence)
	}
}

// TestTitleWithoutClass: a title finishes a traceback that is cut off also without the class of the exception, where a signature knows its message.
func TestTitleWithoutClass(t *testing.T) {
	engine := knowing(t, `id: cold
title: cold
keywords: ["the pot is cold"]
match: ['error.message matches "^the pot is cold"', 'any(error.frames, .file contains "pot.py")']
cause: x
fixes: [{do: x}]
references: [x]
`)
	for title, want := range map[string]int{"the pot is cold": 1, "the pan is cold": 0} {
		log := title + "\n\nI run it\n\nTraceback (most recent call last):\n  File \"/opt/env/pot.py\", line 28, in boil\n    x = y.boil()\n"
		if got := len(answer(t, engine, log).Diagnoses); got != want {
			t.Errorf("%q above a traceback without its last line: %d diagnoses, want %d", title, got, want)
		}
	}
}

// TestToldInFull: where a title has the words of a failure and a line below has them with more around, that line is told.
func TestToldInFull(t *testing.T) {
	for post, want := range map[string]int{
		"CUDA out of memory\n\nI get this when I run it\n\nRuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n":                       5,
		"RuntimeError: CUDA out of memory. Tri...\n\nI get this when I run it\n\nRuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n": 5,
		"RuntimeError: CUDA out of memory 1\n\nI get this when I run it\n\nRuntimeError: CUDA out of memory 12\n":                                1,
	} {
		d := firstOf(t, post)
		if d.Evidence[0].Line != want {
			t.Errorf("%q is diagnosed as %+v, want line %d", post, d, want)
		}
	}
}
