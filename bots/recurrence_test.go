package bots

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpu-triage/triage/bots/queue"
	"github.com/gpu-triage/triage/matcher/report"
)

// answerOn is the answer to a log of so many lines in which a cause shows on a node.
func answerOn(signature, node string, lines int64) *report.Report {
	answer := &report.Report{
		Stats:     report.Stats{Lines: lines},
		Diagnoses: []report.Diagnosis{{ID: signature, Certainty: report.Confirmed, Evidence: []report.Evidence{{Text: `File "train.py", line 3, in step: x()`}}}},
	}
	if node != "" {
		answer.Hosts = []string{node}
	}
	return answer
}

func recurrence(t *testing.T) Recurrence {
	t.Helper()
	store, err := queue.Open(t.Context(), queue.Options{Dir: t.TempDir(), Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return Recurrence{Store: store, Metrics: NewMetrics()}
}

// tell tells and keeps an answer, and returns what it says of those before it.
func (r Recurrence) tell(t *testing.T, scope, question, link string, answer *report.Report) []string {
	t.Helper()
	seen, err := r.Tell(t.Context(), Place{Scope: scope, Question: question}, answer)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Keep(t.Context(), seen, link); err != nil {
		t.Fatal(err)
	}
	return answer.Notes
}

// TestRecurrence: a cause that comes again is told with how many times, on which nodes, and where it was told; one that was shown again,
// asked again, or told to others is not.
func TestRecurrence(t *testing.T) {
	r := recurrence(t)
	for _, c := range []struct {
		name, scope, question, signature, node string
		lines                                  int64
		want                                   string // "" for no note
		links                                  []string
	}{
		{"the first", "here", "1", "xid-79", "gpu-17", 1, "", nil},
		{"asked again", "here", "1", "xid-79", "gpu-17", 1, "", nil},
		{"the same log in another question", "here", "2", "xid-79", "gpu-17", 1, "", nil},
		{"another cause", "here", "3", "cuda-oom", "gpu-2", 3, "", nil},
		{"another place", "there", "4", "xid-79", "gpu-17", 4, "", nil},
		{"again", "here", "5", "xid-79", "gpu-17", 5, "This is the 2nd time since DAY, each time on node gpu-17.", []string{"#1"}},
		{"elsewhere", "here", "6", "xid-79", "gpu-3", 6, "This is the 3rd time since DAY, 2 of them on node gpu-17.", []string{"#5", "#1"}},
		{"unnamed", "here", "7", "xid-79", "", 7, "This is the 4th time since DAY, 2 of them on node gpu-17.", []string{"#6", "#5", "#1"}},
	} {
		answer := answerOn(c.signature, c.node, c.lines)
		notes := r.tell(t, c.scope, c.question, "#"+c.question, answer)
		if !slices.Equal(answer.Earlier, c.links) {
			t.Errorf("%s: earlier %q, want %q", c.name, answer.Earlier, c.links)
		}
		want := []string{}
		if c.want != "" {
			want = append(want, c.want)
		}
		for i := range notes {
			before, rest, _ := strings.Cut(notes[i], " since ")
			notes[i] = before + " since DAY" + rest[strings.IndexAny(rest, ";,"):]
		}
		if !slices.Equal(notes, want) && len(notes)+len(want) > 0 {
			t.Errorf("%s: %q, want %q", c.name, notes, want)
		}
	}
	page := httptest.NewRecorder()
	r.Metrics.Handler().ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if line := `triage_causes_total{node="gpu-17",signature="xid-79"} 3`; !strings.Contains(page.Body.String(), line) {
		t.Errorf("%s is not counted", line)
	}
}

// TestUnexplainedIsNotRemembered: what nobody can explain has no cause that could come again.
func TestUnexplainedIsNotRemembered(t *testing.T) {
	r := recurrence(t)
	for lines := range int64(2) {
		answer := answerOn("python-error", "gpu-1", lines)
		answer.Diagnoses[0].Certainty = report.Unexplained
		if notes := r.tell(t, "here", string(rune('a'+lines)), "", answer); len(notes) > 0 {
			t.Error(notes)
		}
	}
}

// TestIll: a node that fails in several ways where the others do not is suspected.
func TestIll(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	at := func(days int, node, signature string) sighting {
		return sighting{Node: node, Signature: signature, Cause: signature, At: now.Add(-time.Duration(days) * 24 * time.Hour)}
	}
	for name, c := range map[string]struct {
		before []sighting
		want   bool
	}{
		"three, of two kinds":          {[]sighting{at(1, "a", "x"), at(2, "a", "y")}, true},
		"two":                          {[]sighting{at(1, "a", "y")}, false},
		"of one kind":                  {[]sighting{at(1, "a", "x"), at(2, "a", "x"), at(3, "a", "x")}, false},
		"another one as often":         {[]sighting{at(1, "a", "x"), at(2, "a", "y"), at(1, "b", "x"), at(2, "b", "x")}, false},
		"another one a third as often": {[]sighting{at(1, "a", "x"), at(2, "a", "y"), at(1, "b", "x")}, true},
		"long ago":                     {[]sighting{at(8, "a", "x"), at(9, "a", "y")}, false},
	} {
		if got := ill(c.before, at(0, "a", "x")); (got != "") != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := ill([]sighting{at(1, "a", "x"), at(2, "a", "y")}, at(0, "", "x")); got != "" {
		t.Errorf("no node: %q", got)
	}
}

func TestDay(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) // a Friday
	for hours, want := range map[int]string{1: "11:00 UTC", 13: "Thursday", 72: "Tuesday", 24 * 20: "31 October"} {
		if got := day(now.Add(-time.Duration(hours)*time.Hour), now); got != want {
			t.Errorf("%d hours ago: %q, want %q", hours, got, want)
		}
	}
}

// TestNodesAreBounded: whoever writes logs names the nodes, so that only so many are counted by name.
func TestNodesAreBounded(t *testing.T) {
	m := NewMetrics()
	for n := range 2 * maxNodes {
		m.Caused("xid-79", fmt.Sprint("gpu-", n))
		m.Caused("xid-79", "")
	}
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == "triage_causes_total" && len(family.GetMetric()) != maxNodes+2 {
			t.Errorf("%d nodes are counted, want %d, the others and those without a name", len(family.GetMetric()), maxNodes)
		}
	}
}
