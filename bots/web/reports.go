package web

import (
	"errors"
	"net/http"

	"github.com/gpu-triage/triage/bots"
	"github.com/gpu-triage/triage/matcher/render"
)

func (s *Server) report(w http.ResponseWriter, r *http.Request) {
	report, err := s.Reports.Get(r.Context(), r.PathValue("id"))
	if errors.Is(err, bots.ErrNoReport) {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	if err != nil {
		s.Log.Error("a report cannot be shown", "error", err)
		http.Error(w, "the report cannot be shown just now", http.StatusInternalServerError)
		return
	}
	report.Wrong = "/reports/" + r.PathValue("id") + "/wrong" // where it is counted
	w.Header().Set("Cache-Control", "private, no-store")
	writeReport(w, &report, accepted(r, htmlForm))
}

// wrong counts that somebody found a report wrong, and leads to the issue in which to say so.
func (s *Server) wrong(w http.ResponseWriter, r *http.Request) {
	report, err := s.Reports.Get(r.Context(), r.PathValue("id"))
	link := render.Complaint(&report)
	switch {
	case errors.Is(err, bots.ErrNoReport), err == nil && link == "":
		http.Error(w, bots.ErrNoReport.Error(), http.StatusNotFound)
		return
	case err != nil:
		s.Log.Error("a report cannot be found", "error", err)
		http.Error(w, "the report cannot be found just now", http.StatusInternalServerError)
		return
	}
	signature := "none"
	if len(report.Diagnoses) > 0 {
		signature = report.Diagnoses[0].ID
	}
	s.Metrics.Feedback("web", signature, "wrong", 1)
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, link, http.StatusSeeOther)
}

func (s *Server) deleteReport(w http.ResponseWriter, r *http.Request) {
	err := s.Reports.Delete(r.Context(), r.PathValue("id"))
	switch {
	case errors.Is(err, bots.ErrNoReport):
		http.Error(w, err.Error(), http.StatusNotFound)
	case err != nil:
		s.Log.Error("a report cannot be deleted", "error", err)
		http.Error(w, "the report cannot be deleted just now", http.StatusServiceUnavailable)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}
