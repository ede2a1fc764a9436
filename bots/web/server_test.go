package web

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gpu-triage/triage/bots"
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
