// Package web is the HTTP side: health, metrics, stored reports, the work that was given up, and the diagnosing of a posted log.
package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gpu-triage/triage/bots"
	"github.com/gpu-triage/triage/bots/queue"
)

// Server is the HTTP side: health, metrics, reports and the diagnosing of a posted log. Slack and GitHub hang in their own handlers.
type Server struct {
	Store      *queue.Store
	Queue      *queue.Queue
	Reports    bots.Reports
	Recurrence bots.Recurrence
	Metrics    *bots.Metrics
	Engine     bots.Engine
	Log        *slog.Logger
	Data       string // folder for logs while they are read
	AdminToken string // opens /dead and /setup; "" leaves them shut
	Setup      Setup
	Handlers   map[string]http.Handler

	MetricsApart  bool         // /metrics is served elsewhere, by ServeMetrics
	DiagnoseToken string       // opens /v1/diagnose; "" opens it only when Local
	Local         bool         // none but this machine can reach the address
	Callers       *bots.Limits // how often each may post a log
	Spooled       *bots.Budget // bytes of posted logs that wait or are read
	Bodies        *bots.Budget // bytes of Slack's and GitHub's requests

	asking asking
}

const (
	maxPosted   = 256 << 20        // bytes of a log posted to /v1/diagnose, unpacked
	postedTime  = 10 * time.Minute // to send it in
	requestTime = 30 * time.Second // for every other request, of it
	bodyTime    = 10 * time.Second // for its body

	maxConnections = 4096 // open at once; fewer where the process may have few files
	maxScrapers    = 64   // the same where only metrics and health are served
)

// Handler returns every endpoint.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	add := func(pattern string, handler http.Handler) { mux.Handle(pattern, s.watched(pattern, handler)) }
	for pattern, handler := range s.Handlers {
		add(pattern, s.budgeted(handler))
	}
	add("POST /v1/diagnose", s.guarded(s.diagnose))
	add("POST /v1/backends/{library}", s.guarded(s.backends))
	add("GET /{$}", http.HandlerFunc(s.ask))
	add("GET /reports/{id}", http.HandlerFunc(s.report))
	add("DELETE /reports/{id}", s.admin(s.deleteReport))
	add("GET /reports/{id}/wrong", http.HandlerFunc(s.wrong))
	for pattern, handler := range s.setup() {
		add(pattern, handler)
	}
	add("GET /dead", s.admin(s.listDead))
	add("POST /dead/{sequence}", s.admin(s.revive))
	add("GET /healthz", http.HandlerFunc(alive))
	add("GET /readyz", http.HandlerFunc(s.ready))
	if !s.MetricsApart {
		mux.Handle("GET /metrics", s.Metrics.Handler())
	}
	return mux
}

// Serve answers on an address until the context ends, then finishes what has begun within grace.
func (s *Server) Serve(ctx context.Context, listener net.Listener, grace time.Duration) error {
	return s.listen(ctx, listener, s.Handler(), min(openFiles()*2/5, maxConnections), grace) // a posted log has a file beside its connection
}

// ServeMetrics answers /metrics, /healthz and /readyz alone, on an address that strangers cannot reach and so cannot keep busy.
func (s *Server) ServeMetrics(ctx context.Context, listener net.Listener, grace time.Duration) error {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", s.Metrics.Handler())
	mux.HandleFunc("GET /healthz", alive)
	mux.HandleFunc("GET /readyz", s.ready)
	return s.listen(ctx, listener, mux, maxScrapers, grace)
}

func (s *Server) listen(ctx context.Context, listener net.Listener, handler http.Handler, most int, grace time.Duration) error {
	open := newConnections(most)
	server := &http.Server{Handler: open.watch(handler), ConnState: open.changed, ConnContext: open.attach, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(s.Log.Handler(), slog.LevelWarn)}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	return server.Shutdown(stop)
}

// watched counts a handler's requests, bounds their time and survives their panics.
func (s *Server) watched(pattern string, handler http.Handler) http.Handler {
	_, endpoint, _ := strings.Cut(pattern, " ")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived := time.Now()
		read, limit := bodyTime, requestTime
		if strings.HasPrefix(endpoint, "/v1/") {
			read, limit = postedTime, postedTime
		}
		control := http.NewResponseController(w)
		_ = errors.Join(control.SetReadDeadline(arrived.Add(read)), control.SetWriteDeadline(arrived.Add(limit+bots.AnswerTime+requestTime)))
		answer := &status{ResponseWriter: w, code: http.StatusOK}
		s.serve(answer, r, endpoint, handler)
		s.Metrics.Acknowledged(endpoint, answer.code, time.Since(arrived))
	})
}

// serve turns a panic over one request into an answer, so that it fails alone.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, endpoint string, handler http.Handler) {
	defer func() {
		if p := recover(); p != nil {
			s.Log.Error("a request could not be served", "endpoint", endpoint, "panic", p)
			http.Error(w, "internal error", http.StatusInternalServerError)
		}
	}()
	handler.ServeHTTP(w, r)
}

type status struct {
	http.ResponseWriter
	code int
}

func (s *status) WriteHeader(code int) { s.code = code; s.ResponseWriter.WriteHeader(code) }

func (s *status) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func alive(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") }

func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	if err := s.Store.Ready(ctx); err != nil {
		http.Error(w, queue.ErrUnwritable.Error(), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ready")
}

// admin lets only the operator through.
func (s *Server) admin(handler http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !hasToken(r, s.AdminToken) {
			http.Error(w, "not for you: send Authorization: Bearer with the token in TRIAGE_ADMIN_TOKEN", http.StatusUnauthorized)
			return
		}
		handler(w, r)
	})
}

func (s *Server) listDead(w http.ResponseWriter, r *http.Request) {
	dead, err := s.Queue.Dead(r.Context(), 1000)
	if err != nil {
		http.Error(w, "the store cannot be read", http.StatusServiceUnavailable)
		return
	}
	type letter struct {
		Sequence uint64    `json:"sequence"`
		Kind     string    `json:"kind"`
		Delivery string    `json:"delivery"`
		About    string    `json:"about"`
		Reason   string    `json:"reason"`
		Failures int       `json:"failures"`
		Received time.Time `json:"received"`
		At       time.Time `json:"at"`
	}
	letters := make([]letter, len(dead))
	for i, d := range dead {
		letters[i] = letter{d.Sequence, d.Job.Kind, d.Job.ID, d.Job.Key, d.Reason, d.Failures, d.Job.Received, d.At}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(letters)
}

func (s *Server) revive(w http.ResponseWriter, r *http.Request) {
	sequence, err := strconv.ParseUint(r.PathValue("sequence"), 10, 64)
	if err == nil {
		err = s.Queue.Revive(r.Context(), sequence)
	}
	if err != nil {
		http.Error(w, fmt.Sprintf("cannot be tried again: %v", err), http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}
