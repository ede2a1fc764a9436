package githubbot

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/bots"
	"github.com/gpu-triage/triage/bots/fetch"
	"github.com/gpu-triage/triage/bots/queue"
	"github.com/gpu-triage/triage/matcher/report"
)

func TestFilesOfTheRepository(t *testing.T) {
	files := map[string]bool{"train.py": true, "nano/train.py": true, "a/b/c.py": true}
	for _, c := range []struct{ file, inTree, inCheckout string }{
		{"/home/runner/_work/r/r/nano/train.py", "nano/train.py", "nano/train.py"},
		{"/__w/r/r/train.py", "train.py", "train.py"},
		{`D:\a\r\r\nano\train.py`, "nano/train.py", "nano/train.py"},
		{"/workspace/a/b/c.py", "a/b/c.py", "a/b/c.py"},
		{"./nano/train.py", "nano/train.py", "nano/train.py"},
		{"/venv/lib/python3.11/site-packages/nano/train.py", "", ""},
		{"/usr/lib/python3/dist-packages/train.py", "", ""},
		{"/srv/other.py", "", ""},
		{"../other.py", "", ""},
		{"<string>", "", ""},
	} {
		if got, _ := inTree(c.file, files); got != c.inTree {
			t.Errorf("%s in the tree: %q", c.file, got)
		}
		if got, ok := inCheckout(c.file, "r"); ok != (c.inCheckout != "") || ok && got != c.inCheckout {
			t.Errorf("%s in a checkout: %q, %v", c.file, got, ok)
		}
	}
}

// However long its lines and however many its frames, an account of pytest is read within bounds.
func TestPlacesAreBounded(t *testing.T) {
	log := strings.Repeat("x", 1<<20) + "\n" + strings.Repeat("a.py:1: in f\n", 1000) + "b.py:2: in g\nE   ValueError: x\n"
	answer := report.Report{Diagnoses: []report.Diagnosis{{Evidence: []report.Evidence{{Source: "job", Line: 1003}}}, {}, {Evidence: []report.Evidence{{Source: "none", Line: 1}}}}}
	placed := withPytest(answer, []fetch.Log{{Name: "job", Text: []byte(log)}})
	if n := len(placed.Diagnoses[0].Evidence); n != 1+placesKept || placed.Diagnoses[0].Evidence[1].Line != 1002 || len(answer.Diagnoses[0].Evidence) != 1 {
		t.Errorf("%d pieces of evidence, and the answer has %d", n, len(answer.Diagnoses[0].Evidence))
	}
}

// GitHub takes fifty annotations at a time.
func TestManyAnnotations(t *testing.T) {
	var came []string
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		var in struct{ Output struct{ Annotations []any } }
		_ = json.NewDecoder(r.Body).Decode(&in)
		came = append(came, fmt.Sprint(r.Method, " ", len(in.Output.Annotations)))
		fmt.Fprint(w, `{"id": 7}`)
	}))
	defer api.Close()
	ctx, log := context.Background(), slog.New(slog.DiscardHandler)
	store, err := queue.Open(ctx, queue.Options{Dir: t.TempDir(), Bytes: 16 << 20, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	b, err := New(Config{APIURL: api.URL, Token: "x", Store: store, Log: log, Metrics: bots.NewMetrics()})
	if err != nil {
		t.Fatal(err)
	}
	var answer report.Report
	for line := range 120 {
		answer.Diagnoses = append(answer.Diagnoses, report.Diagnosis{ID: "x", Title: "It broke", Certainty: report.Likely,
			Evidence: []report.Evidence{{Source: "job", Line: 1, Text: fmt.Sprintf("File \"a.py\", line %d, in f", line+1)}}})
	}
	s := &snapshot{visit: visit{Repository: "o/r", Run: 1, Commit: strings.Repeat("ab", 20)}, owner: "o", repo: "r", client: b.client(0)}
	for range 2 { // the second time all is there
		if err := b.showCheck(ctx, s, answer); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"POST 50", "PATCH 50", "PATCH 20"}; !slices.Equal(came, want) {
		t.Errorf("%v, want %v", came, want)
	}
}
