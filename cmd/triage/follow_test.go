package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/pace"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules"
)

// followed is a log that is followed while a test writes it.
type followed struct {
	t       *testing.T
	name    string
	waits   chan bool
	answers chan report.Report
	stands  chan report.Report
	ended   chan error
	end     context.CancelFunc
}

func followLog(t *testing.T, name string, stall string) *followed {
	t.Helper()
	base, err := rules.Load()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	engine := matcher.New(base)
	job := engine.Begin()
	f := &followed{t, name, make(chan bool, 1), make(chan report.Report), make(chan report.Report, 1), make(chan error, 1), cancel}
	one := &follower{
		name: name, job: job, watch: engine.Watch(), limit: stallFlag{stall},
		answer: func() report.Report { return job.Report() },
		show: func(report report.Report) error {
			f.answers <- report
			return nil
		},
		stands: func(still pace.Standstill) (report.Report, error) {
			answer, err := standing(ctx, engine, name, still, nil)
			f.stands <- answer
			return answer, err
		},
		waits: func() { f.waits <- true },
	}
	go func() { f.ended <- one.follow(ctx) }()
	return f
}

func (f *followed) add(text string) {
	f.t.Helper()
	file, err := os.OpenFile(f.name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = file.WriteString(text)
	}
	if err != nil {
		f.t.Fatal(err)
	}
	file.Close()
}

// next is the root and its line in the next answer.
func (f *followed) next() (id string, line int) {
	f.t.Helper()
	select {
	case answer := <-f.answers:
		return answer.Diagnoses[0].ID, answer.Diagnoses[0].Evidence[0].Line
	case err := <-f.ended:
		f.t.Fatalf("following ended: %v", err)
	}
	return "", 0
}

const (
	oddError = "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nmymodel.OddError: no weights\n"
	outOfGPU = "Traceback (most recent call last):\n  File \"/job/train.py\", line 3, in <module>\n    main()\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free.\n"
)

// TestFollow: each failure that is added to a log is told once, and the end of following is the end of a diagnosis.
func TestFollow(t *testing.T) {
	t.Parallel()
	f := followLog(t, filepath.Join(t.TempDir(), "train.log"), "off")
	<-f.waits // the log comes later than triage
	f.add("step 1\nstep")
	f.add(" 2\n" + oddError)
	if _, line := f.next(); line != 5 {
		t.Errorf("the first answer is about line %d, not 5", line)
	}
	f.end()
	if err := <-f.ended; !errors.Is(err, exitStatus(exitNothing)) { // no cause was named
		t.Errorf("following ended with %v", err)
	}
}

// What was told stays told, whatever lines follow.
func TestFollowKeepsItsAnswer(t *testing.T) {
	t.Parallel()
	f := followLog(t, filepath.Join(t.TempDir(), "train.log"), "off")
	f.add("step 1 loss 2.5\n" + outOfGPU)
	if id, _ := f.next(); !strings.HasPrefix(id, "cuda-oom") {
		t.Errorf("%s", id)
	}
	f.add(strings.Repeat("step 2 loss 2.4\n", 40)) // as if it had been survived
	time.Sleep(2 * followQuiet)                    // long enough for another answer
	f.end()
	select {
	case answer := <-f.answers:
		t.Errorf("another answer: %+v", answer.Diagnoses)
	case err := <-f.ended:
		if err != nil {
			t.Errorf("following ended with %v", err)
		}
	}
}

// A log that is moved away and begun anew is followed in the new file, and so is one that is cut.
func TestFollowRotation(t *testing.T) {
	t.Parallel()
	for name, anew := range map[string]func(log string) error{
		"renamed":   func(log string) error { return os.Rename(log, log+".1") },
		"truncated": func(log string) error { return os.Truncate(log, 0) },
		"replaced": func(log string) error {
			return errors.Join(os.WriteFile(log+".new", []byte("step 1\n"), 0o600), os.Rename(log+".new", log))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := followLog(t, filepath.Join(t.TempDir(), "train.log"), "off")
			f.add(strings.Repeat("a line of the first file\n", 100) + oddError)
			if _, line := f.next(); line != 103 {
				t.Errorf("line %d", line)
			}
			if err := anew(f.name); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * followEvery) // a cut is seen as long as the log is shorter
			f.add(outOfGPU)
			if id, line := f.next(); !strings.HasPrefix(id, "cuda-oom") || line > 5 {
				t.Errorf("%s, line %d", id, line)
			}
			f.end()
		})
	}
}

// A job that stands still is told of, and with it the rank that is behind.
func TestFollowStandstill(t *testing.T) {
	t.Parallel()
	f := followLog(t, filepath.Join(t.TempDir(), "train.log"), "300ms")
	for i := 1; i <= 10; i++ {
		f.add(strings.ReplaceAll("[rank0]: step N loss 2.5\n[rank1]: step N loss 2.5\n", "N", string(rune('0'+i%10))))
	}
	f.add("[rank0]: step 10 loss 2.5\n[rank0]: step 11 loss 2.5\n")
	answer := <-f.stands
	if d := answer.Diagnoses[0]; len(d.Evidence) < 2 {
		t.Errorf("%+v", d)
	}
	f.end()
	if err := <-f.ended; err != nil {
		t.Errorf("following ended with %v", err)
	}
}
