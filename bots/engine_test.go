package bots

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpu-triage/triage/bots/fetch"
	"github.com/gpu-triage/triage/rules"
)

func engine(t testing.TB) Engine {
	t.Helper()
	e, err := NewEngine(rules.Shipped())
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestLeadingFacts(t *testing.T) {
	e := engine(t)
	for text, want := range map[string]struct {
		facts map[string]string
		rest  string
	}{
		"transformer_engine=1.12.0 sm=90\nError: x": {map[string]string{"transformer_engine": "1.12.0", "sm": "90"}, "Error: x"},
		`gpu="NVIDIA A100" log`:                     {map[string]string{"gpu": "NVIDIA A100"}, "log"},
		"lr=0.1 loss=2.3 sm=90":                     {map[string]string{}, "lr=0.1 loss=2.3 sm=90"},
		"":                                          {map[string]string{}, ""},
	} {
		facts, rest := e.LeadingFacts(text)
		if diff := cmp.Diff(want.facts, facts); diff != "" || rest != want.rest {
			t.Errorf("%q: %s, rest %q", text, diff, rest)
		}
	}
	usable, complaints := e.Usable(map[string]string{"sm": "90", "nonsense": "1", "flash_attn": "not a version"})
	if len(usable) != 1 || len(complaints) != 2 {
		t.Errorf("usable %v, complaints %q", usable, complaints)
	}
}

func TestAnswerNotesWhatItCannotRead(t *testing.T) {
	e := engine(t)
	report, err := e.Answer(context.Background(), []fetch.Log{
		{Name: "gone.log", Path: "/does/not/exist"},
		{Name: "broken.gz", Text: []byte("\x1f\x8b\x08garbage")},
		{Name: "model.bin", Text: make([]byte, 5000)},
		{Name: "a.log", Text: []byte("Traceback (most recent call last):\n  File \"/w/a.py\", line 1, in <module>\n    f()\nZeroDivisionError: division by zero\n")},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Diagnoses) == 0 || report.Diagnoses[0].Evidence[0].Source != "a.log" {
		t.Errorf("the readable log is not diagnosed: %+v", report.Diagnoses)
	}
	notes := strings.Join(report.Notes, "\n")
	if !strings.Contains(notes, "gone.log") || !strings.Contains(notes, "broken.gz") {
		t.Errorf("notes: %s", notes)
	}
}

// Who waits in one pool does not wait for those who use another, nor does an engine with further signatures get turns of its own.
func TestPoolsAreApart(t *testing.T) {
	e := engine(t)
	posted, slack := e.Apart(1, AnswerTime), e.Apart(1, AnswerTime)
	more, err := posted.With(fstest.MapFS{})
	if err != nil {
		t.Fatal(err)
	}
	posted.turns <- struct{}{} // somebody's log is being read
	log := []fetch.Log{{Name: "log", Text: []byte("nothing\n")}}
	if _, err := slack.Answer(t.Context(), log, nil); err != nil {
		t.Errorf("another pool: %v", err)
	}
	soon, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	for _, waits := range []Engine{posted, more} {
		if _, err := waits.Answer(soon, log, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the same pool: %v", err)
		}
	}
}
