package web

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/gpu-triage/triage/matcher/render"
	"github.com/gpu-triage/triage/matcher/report"
)

// The forms in which a report is sent.
const (
	jsonForm     = "application/json"
	htmlForm     = "text/html"
	textForm     = "text/plain"
	markdownForm = "text/markdown"
)

// accepted is the form that a request likes best by its Accept header, or usual where it likes all the same or none of them.
// https://www.rfc-editor.org/rfc/rfc9110#name-accept
func accepted(r *http.Request, usual string) string {
	best, most := usual, 0.0
	for _, header := range r.Header.Values("Accept") {
		for one := range strings.SplitSeq(header, ",") {
			form, parameters, _ := strings.Cut(one, ";")
			form = strings.ToLower(strings.TrimSpace(form))
			if form == "*/*" {
				form = usual
			}
			liked := likedBy(parameters)
			switch form {
			case jsonForm, htmlForm, textForm, markdownForm:
				if liked > most {
					best, most = form, liked
				}
			}
		}
	}
	return best
}

// likedBy is the weight q among the parameters of a form.
func likedBy(parameters string) float64 {
	for one := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(one), "=")
		if strings.EqualFold(name, "q") {
			weight, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return 0
			}
			return weight
		}
	}
	return 1
}

// writeReport sends a report in a form.
func writeReport(w http.ResponseWriter, report *report.Report, form string) {
	data, err := written(report, form)
	if err != nil {
		http.Error(w, "the report cannot be written", http.StatusInternalServerError)
		return
	}
	if form == htmlForm {
		protect(w, render.PagePolicy())
	}
	send(w, form, data)
}

func written(report *report.Report, form string) ([]byte, error) {
	switch form {
	case htmlForm:
		return render.HTML(report)
	case textForm:
		return []byte(render.Text(report, render.Style{})), nil
	case markdownForm:
		return []byte(render.Markdown(report, 0)), nil
	}
	return render.JSON(report)
}

// protect says what a browser may do with a page.
func protect(w http.ResponseWriter, policy string) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy+"; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Robots-Tag", "noindex")
}

// send writes data of a form, which no browser is to guess.
func send(w http.ResponseWriter, form string, data []byte) {
	if form != jsonForm {
		form += "; charset=utf-8"
	}
	w.Header().Set("Content-Type", form)
	w.Header().Add("Vary", "Accept")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(data) // whoever asked may be gone
}
