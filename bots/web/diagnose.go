package web

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"syscall"

	"github.com/gpu-triage/triage/bots"
	"github.com/gpu-triage/triage/bots/fetch"
	"github.com/gpu-triage/triage/bots/queue"
	"github.com/gpu-triage/triage/matcher/report"
)

// diagnose answers a posted log with its report.
func (s *Server) diagnose(w http.ResponseWriter, r *http.Request) {
	facts, err := factsIn(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if _, complaints := s.Engine.Usable(facts); len(complaints) > 0 {
		http.Error(w, strings.Join(complaints, "\n"), http.StatusBadRequest)
		return
	}
	file, remove, ok := s.spool(w, r)
	if !ok {
		return
	}
	defer remove()
	answer, err := s.Engine.Answer(r.Context(), []fetch.Log{{Name: "-", Path: file}}, facts)
	if err != nil {
		s.refuse(w, err)
		return
	}
	s.Metrics.Answered("http", answer)
	if r.URL.Query().Get("keep") != "false" {
		s.keep(w, r, &answer)
	}
	writeReport(w, &answer, accepted(r, jsonForm))
}

// keep keeps an answer, and says in it how often its cause was seen. Without room, nobody is refused an answer.
func (s *Server) keep(w http.ResponseWriter, r *http.Request, answer *report.Report) {
	seen, err := s.Recurrence.Tell(r.Context(), bots.Place{Scope: "http", Question: rand.Text()}, answer)
	if err != nil {
		s.Log.Warn("what was seen before is not known", "error", err)
	}
	id, err := s.Reports.Save(r.Context(), "http", *answer)
	if err != nil {
		return
	}
	w.Header().Set("Link", "</reports/"+id+`>; rel="alternate"`)
	if err := s.Recurrence.Keep(r.Context(), seen, "/reports/"+id); err != nil {
		s.Log.Warn("a cause is not remembered", "error", err)
	}
}

// factsIn are the facts that a request gives.
func factsIn(r *http.Request) (map[string]string, error) {
	facts := map[string]string{}
	for _, pair := range r.URL.Query()["fact"] {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, fmt.Errorf("fact=%q: write fact=name=value", pair)
		}
		facts[name] = value
	}
	return facts, nil
}

// spool reads a posted log into a file, which the caller removes. A sender may be slow, so this is done before a processor is taken for it.
// When it cannot be read, the request is answered.
func (s *Server) spool(w http.ResponseWriter, r *http.Request) (file string, remove func(), ok bool) {
	if s.Store != nil { // a page alone has none
		if err := s.Store.Writable(); err != nil {
			s.refuse(w, err)
			return "", nil, false
		}
	}
	body, err := fetch.Decoded(http.MaxBytesReader(w, r.Body, maxPosted), r.Header.Get("Content-Encoding"), maxPosted)
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnsupportedMediaType)
		return "", nil, false
	}
	defer body.Close()
	spooled := s.Spooled.Reader(body)
	file, err = fetch.Spool(s.Data, spooled)
	if err != nil {
		_ = spooled.Close()
		s.refuse(w, err)
		return "", nil, false
	}
	return file, func() { _ = os.Remove(file); _ = spooled.Close() }, true
}

func (s *Server) refuse(w http.ResponseWriter, err error) {
	code, text := http.StatusInternalServerError, "the log could not be diagnosed"
	if errors.Is(err, bots.ErrBusy) || errors.Is(err, queue.ErrUnwritable) || errors.Is(err, syscall.ENOSPC) {
		code, text = http.StatusServiceUnavailable, "too much is being sent, or the disk is full: try again in a minute"
		w.Header().Set("Retry-After", "60")
	}
	if tooLarge := (&http.MaxBytesError{}); errors.As(err, &tooLarge) || errors.Is(err, fetch.ErrTooLarge) {
		code, text = http.StatusRequestEntityTooLarge, fmt.Sprintf("the log is larger than %d bytes: send its last part", maxPosted)
	}
	s.Log.Warn("diagnose failed", "error", err)
	http.Error(w, text, code)
}
