package web

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gpu-triage/triage/bots"
	"github.com/gpu-triage/triage/bots/queue"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules"
)

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// at asks a handler for a path.
func at(handler http.Handler, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w
}

func TestMetricsApart(t *testing.T) {
	s := &Server{Metrics: bots.NewMetrics(), Log: quiet()}
	if w := at(s.Handler(), "/metrics"); w.Code != http.StatusOK {
		t.Errorf("together: %d", w.Code)
	}
	s.MetricsApart = true
	if w := at(s.Handler(), "/metrics"); w.Code != http.StatusNotFound {
		t.Errorf("the public address shows metrics: %d", w.Code)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.ServeMetrics(ctx, listener, time.Second) }()
	for path, want := range map[string]int{"/metrics": http.StatusOK, "/dead": http.StatusNotFound} {
		response, err := http.Get("http://" + listener.Addr().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if response.StatusCode != want || want == http.StatusOK && !strings.Contains(string(text), "go_goroutines") {
			t.Errorf("%s on the address for metrics: %d %.200s", path, response.StatusCode, text)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// ask posts a log and returns the status.
func ask(handler http.Handler, from, token string, body io.Reader) int {
	r := httptest.NewRequest(http.MethodPost, "/v1/diagnose", body)
	r.RemoteAddr = from + ":1234"
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w.Code
}

// newServer returns a server that can diagnose.
func newServer(t *testing.T) *Server {
	t.Helper()
	engine, err := bots.NewEngine(rules.Shipped())
	if err != nil {
		t.Fatal(err)
	}
	store, err := queue.Open(t.Context(), queue.Options{Dir: t.TempDir(), Log: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return &Server{Engine: engine.Apart(1, time.Minute), Metrics: bots.NewMetrics(), Store: store, Reports: bots.Reports{Store: store}, Log: quiet(),
		Data: t.TempDir(), Spooled: bots.NewBudget(1 << 20), Bodies: bots.NewBudget(1 << 20)}
}

func TestWhoMayAskForADiagnosis(t *testing.T) {
	s := newServer(t)
	for _, c := range []struct {
		set   string
		local bool
		given string
		want  int
	}{
		{"", true, "", http.StatusOK},
		{"", false, "", http.StatusForbidden},
		{"", false, "guess", http.StatusForbidden},
		{"right", true, "", http.StatusUnauthorized},
		{"right", false, "wrong", http.StatusUnauthorized},
		{"right", false, "right", http.StatusOK},
	} {
		s.DiagnoseToken, s.Local = c.set, c.local
		if code := ask(s.Handler(), "192.0.2.1", c.given, strings.NewReader("nothing\n")); code != c.want {
			t.Errorf("token %q, local %v, given %q: %d, want %d", c.set, c.local, c.given, code, c.want)
		}
	}
}

func TestOneCallerDoesNotShutOutOthers(t *testing.T) {
	s := newServer(t)
	s.Local, s.Callers = true, bots.NewLimits(2, time.Minute, 2)
	handler := s.Handler()
	for i, want := range []int{http.StatusOK, http.StatusOK, http.StatusTooManyRequests} {
		if code := ask(handler, "192.0.2.1", "", strings.NewReader("nothing\n")); code != want {
			t.Errorf("request %d: %d, want %d", i+1, code, want)
		}
	}
	if code := ask(handler, "192.0.2.2", "", strings.NewReader("nothing\n")); code != http.StatusOK {
		t.Errorf("another caller: %d", code)
	}
}

// Posted logs together take no more of the disk than they may, and give it back.
func TestSpoolIsBounded(t *testing.T) {
	s := newServer(t)
	s.Local = true
	handler := s.Handler()
	log := strings.Repeat("nothing\n", 100_000) // 0.8 of 1 MiB
	begun, sender := io.Pipe()
	first := make(chan int)
	go func() { first <- ask(handler, "192.0.2.1", "", begun) }()
	_, _ = io.WriteString(sender, log)
	_, _ = io.WriteString(sender, "") // is taken when all before it is charged
	if code := ask(handler, "192.0.2.2", "", strings.NewReader(log)); code != http.StatusServiceUnavailable {
		t.Errorf("beside one that is being sent: %d", code)
	}
	sender.Close()
	if code := <-first; code != http.StatusOK {
		t.Errorf("the one that was there first: %d", code)
	}
	if code := ask(handler, "192.0.2.2", "", strings.NewReader(log)); code != http.StatusOK {
		t.Errorf("after it: %d", code)
	}
	if left, err := os.ReadDir(s.Data); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// Requests that are not checked yet hold no more memory than they may together, and one that is sent slowly holds only what has come.
func TestUncheckedBodiesAreBounded(t *testing.T) {
	s := newServer(t)
	reached := make(chan error, 8)
	s.Handlers = map[string]http.Handler{"POST /hook": http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(r.Body)
		reached <- err
	})}
	handler := s.Handler()
	send := func(body io.Reader) {
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/hook", body))
	}
	slow, sender := io.Pipe()
	go send(slow)
	_, _ = io.WriteString(sender, strings.Repeat("x", 700<<10))
	_, _ = io.WriteString(sender, "") // is taken when all before it is charged
	send(strings.NewReader(strings.Repeat("x", 700<<10)))
	if err := <-reached; !errors.Is(err, bots.ErrBusy) {
		t.Errorf("more than all may hold: %v", err)
	}
	send(strings.NewReader("small"))
	if err := <-reached; err != nil {
		t.Errorf("a small one beside a slow one: %v", err)
	}
	sender.Close()
	if err := <-reached; err != nil {
		t.Errorf("the slow one: %v", err)
	}
}

// Only the operator deletes a report, and then it is gone.
func TestDeleteReport(t *testing.T) {
	s := newServer(t)
	s.AdminToken = "right"
	id, err := s.Reports.Save(t.Context(), "asked", report.Report{Schema: report.Schema})
	if err != nil {
		t.Fatal(err)
	}
	handler := s.Handler()
	for _, c := range []struct {
		token string
		want  int
	}{{"", http.StatusUnauthorized}, {"right", http.StatusNoContent}, {"right", http.StatusNotFound}} {
		r := httptest.NewRequest(http.MethodDelete, "/reports/"+id, nil)
		r.Header.Set("Authorization", "Bearer "+c.token)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("with token %q: %d, want %d", c.token, w.Code, c.want)
		}
	}
	if w := at(handler, "/reports/"+id); w.Code != http.StatusNotFound {
		t.Errorf("afterwards: %d", w.Code)
	}
}
