package web

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"sync"

	"github.com/gpu-triage/triage/bots"
	"github.com/gpu-triage/triage/bots/fetch"
	"github.com/gpu-triage/triage/matcher/diagnosis"
	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/matcher/render"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/backend"
)

// The page on which people ask.
var (
	//go:embed ask.tmpl
	askTemplates embed.FS
	askPage      = template.Must(template.ParseFS(askTemplates, "ask.tmpl"))
	//go:embed ask.js
	askScript string
	//go:embed ask.css
	askStyle string
)

// asking is that page, written once: the facts of every library stand in it.
type asking struct {
	once sync.Once
	page []byte
	err  error
}

// write writes the page.
func (a *asking) write(base *rules.Base, token bool) { a.page, a.err = AskPage(base, token, "") }

// AskPage is the page on which people ask. Token tells that the server wants one. Engine is a script that answers within the page what else
// the server is asked, "" where there is a server; the files that it loads stand beside the page.
func AskPage(base *rules.Base, token bool, engine string) ([]byte, error) {
	libraries, err := base.Libraries()
	if err != nil {
		return nil, err
	}
	style, script := render.Stylesheet+askStyle, render.CopyScript+askScript
	var page bytes.Buffer
	err = askPage.Execute(&page, struct {
		Libraries             []*backend.Library
		Token, Here           bool          // a token has to be given; the page answers itself
		Policy                string        // of a page that no server protects
		Style, Engine, Script template.HTML // ours
	}{
		libraries, token, engine != "",
		"default-src 'none'; style-src " + render.InlineHash(style) + "; script-src 'self' 'wasm-unsafe-eval' " + render.InlineHash(engine) + " " + render.InlineHash(script) +
			"; connect-src 'self'; base-uri 'none'; form-action 'none'",
		template.HTML("<style>" + style + "</style>"), template.HTML("<script>" + engine + "</script>"), template.HTML("<script>" + script + "</script>"),
	})
	return page.Bytes(), err
}

// ask shows the page on which a log is pasted or dropped, and the form for what other facts would change.
func (s *Server) ask(w http.ResponseWriter, _ *http.Request) {
	s.asking.once.Do(func() { s.asking.write(s.Engine.Matcher.Base(), s.DiagnoseToken != "") })
	if err := s.asking.err; err != nil {
		s.Log.Error("the page to ask on cannot be shown", "error", err)
		http.Error(w, "the page cannot be shown just now", http.StatusInternalServerError)
		return
	}
	protect(w, "default-src 'none'; style-src "+render.InlineHash(render.Stylesheet+askStyle)+"; script-src "+render.InlineHash(render.CopyScript+askScript)+
		"; connect-src 'self'; base-uri 'none'; form-action 'none'")
	send(w, htmlForm, s.asking.page)
}

// backends answers which backends a library has, by the facts given and those of a posted log, which may be empty.
func (s *Server) backends(w http.ResponseWriter, r *http.Request) {
	base := s.Engine.Matcher.Base()
	library, err := base.Library(strings.ReplaceAll(r.PathValue("library"), "-", "_"))
	if err != nil || library == nil {
		names, _ := base.LibraryNames()
		http.Error(w, fmt.Sprintf("no backend rules for %q; there are those of %s", r.PathValue("library"), strings.Join(names, ", ")), http.StatusNotFound)
		return
	}
	known, err := s.factsFor(library, r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	file, remove, ok := s.spool(w, r)
	if !ok {
		return
	}
	defer remove()
	choice, err := s.Engine.Choose(r.Context(), library, []fetch.Log{{Name: "-", Path: file}}, known)
	if err == nil {
		choice, err = withoutSecrets(choice)
	}
	if err != nil {
		s.refuse(w, err)
		return
	}
	writeChoice(w, choice, accepted(r, jsonForm))
}

// factsFor are the facts that a request gives, as a library reads them.
func (s *Server) factsFor(library *backend.Library, r *http.Request) ([]facts.Fact, error) {
	given, err := factsIn(r)
	if err != nil {
		return nil, err
	}
	return facts.Said(library.Vocabulary(s.Engine.Matcher.Base().Vocabulary), given, "said")
}

// withoutSecrets is a choice as bots.RedactReport leaves it: values of a log stand in its reasons.
func withoutSecrets(c diagnosis.Choice) (diagnosis.Choice, error) {
	said := report.Diagnosis{Backends: c.Backends, Missing: c.Missing, Fixes: c.Changes}
	clean, err := bots.RedactReport(report.Report{Diagnoses: []report.Diagnosis{said}, Notes: c.Notes})
	if err != nil {
		return diagnosis.Choice{}, err
	}
	said = clean.Diagnoses[0]
	c.Backends, c.Missing, c.Changes, c.Notes = said.Backends, said.Missing, said.Fixes, clean.Notes
	return c, nil
}

func writeChoice(w http.ResponseWriter, choice diagnosis.Choice, form string) {
	var data []byte
	var err error
	switch form {
	case htmlForm:
		protect(w, render.PagePolicy())
		data, err = render.BackendsHTML(choice)
	case jsonForm:
		data, err = json.Marshal(choice)
	default:
		form, data = textForm, []byte(render.Backends(choice, render.Style{}))
	}
	if err != nil {
		http.Error(w, "the answer cannot be written", http.StatusInternalServerError)
		return
	}
	send(w, form, data)
}
