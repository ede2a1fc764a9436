package matcher_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/prefilter"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/signature"
)

// mentions are ways to write of a failure that did not happen.
var mentions = []string{
	"2026-03-01 10:00:00 health: %s counter is 0",
	"2026-03-01 10:00:01 checks: no %s in the last 10 minutes",
	"2026-03-01 10:00:02 memory: all is well, no %s so far",
	"waiting: %s was seen 0 times in 155 calls",
	"doctor: %s errors: 0, warnings: 2",
	"see the FAQ entry about %s",
	"hint: See also our troubleshooting guide on %s",
	"2026-03-01 10:00:03 INFO monitor: ready for %s",
	"[2026-03-01 10:00:04,512] [INFO] [retry.py:12:setup] retrying after %s",
	"2026-03-01 10:00:05,101 - trainer - DEBUG - %s is handled",
	"2026-03-01 10:00:06.120 | INFO     | trainer:setup:41 - watching for %s",
	"  --retry-on ...................................... %s",
	"/opt/venv/lib/python3.12/site-packages/trainer/mod.py:12: UserWarning: %s is possible with these settings",
}

// saysSo are the signatures whose words are all that a program writes of the failure: a trainer tells its loss in records of level
// INFO, and "loss: nan" in one of them is that loss.
var saysSo = []string{"loss-nan", "validation-loss-nan"}

// TestMentions: a line that names a failure which did not happen is diagnosed as none, whatever signature knows its words.
func TestMentions(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	base, err := rules.Load()
	if err != nil {
		t.Fatal(err)
	}
	engine := matcher.New(base)
	for _, e := range base.Entries {
		if e.Role == signature.Noise || e.Role == signature.Progress {
			continue
		}
		for _, words := range said(e) {
			var log strings.Builder
			for _, mention := range mentions {
				fmt.Fprintf(&log, mention+"\nloading the model\n", words)
			}
			for _, d := range diagnosed(t, engine, log.String()) {
				if slices.Contains(saysSo, d.ID) {
					continue
				}
				t.Errorf("%s is %s because of %q", d.ID, d.Certainty, d.Evidence[0].Text)
			}
		}
	}
}

// TestBareMentions: a word or two, in the midst of a sentence that neither counts nor denies nor describes them, are no proof of what
// they name. Longer keywords are sentences, which nobody writes but the library that failed.
func TestBareMentions(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	base, err := rules.Load()
	if err != nil {
		t.Fatal(err)
	}
	engine := matcher.New(base)
	for _, e := range base.Entries {
		for _, words := range slices.Concat(e.Keywords, e.Last) {
			if len(strings.Fields(words)) > 3 || strings.Contains(words, "\n") {
				continue
			}
			for _, mention := range []string{"the retry policy covers %s and timeouts", "known cases of %s are handled"} {
				for _, d := range diagnosed(t, engine, fmt.Sprintf("loading\n"+mention+"\nstarting\n", words)) {
					if d.Certainty == report.Confirmed && !slices.Contains(saysSo, d.ID) {
						t.Errorf("%s is %s because of %q", d.ID, d.Certainty, d.Evidence[0].Text)
					}
				}
			}
		}
	}
}

// said are the words by which a signature knows its lines: its keywords, and what its patterns ask for.
func said(e *signature.Entry) []string {
	words := slices.Concat(e.Keywords, e.Last)
	for _, pattern := range e.Requires {
		for _, l := range prefilter.Required(pattern) {
			if !l.Fold {
				words = append(words, l.Text)
			}
		}
	}
	slices.Sort(words)
	return slices.DeleteFunc(slices.Compact(words), func(w string) bool { return strings.Contains(w, "\n") })
}

func diagnosed(t *testing.T, engine *matcher.Engine, log string) []report.Diagnosis {
	t.Helper()
	reading := engine.Begin()
	if err := reading.Read(context.Background(), "a.log", strings.NewReader(log)); err != nil {
		t.Fatal(err)
	}
	return reading.Report().Diagnoses
}
