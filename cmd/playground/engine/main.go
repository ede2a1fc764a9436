//go:build js && wasm

// The engine for a browser: it answers what the page of `triage serve` asks its server, and no log leaves the page.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/url"
	"path"
	"strings"
	"syscall/js"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/matcher/render"
	"github.com/gpu-triage/triage/matcher/source"
	"github.com/gpu-triage/triage/rules"
)

func main() {
	base, err := rules.Open()
	if err != nil {
		panic(err) // the rules come with the program
	}
	e := engine{base, matcher.New(base)}
	// triageAnswer(address, bytes) gives [page, ""] or ["", what is wrong].
	js.Global().Set("triageAnswer", js.FuncOf(func(_ js.Value, args []js.Value) any {
		body := make([]byte, args[1].Length())
		js.CopyBytesToGo(body, args[1])
		page, err := e.answer(args[0].String(), body)
		if err != nil {
			return []any{"", err.Error()}
		}
		return []any{string(page), ""}
	}))
	js.Global().Call("triageReady")
	select {}
}

type engine struct {
	base    *rules.Base
	matcher *matcher.Engine
}

// answer is the page that answers a request of the form of /v1/diagnose or /v1/backends/LIBRARY?fact=NAME=VALUE.
func (e engine) answer(address string, log []byte) ([]byte, error) {
	asked, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	job := e.matcher.Begin()
	err = source.Each("-", bytes.NewReader(log), source.DefaultLimits, func(name string, log io.Reader) error {
		return job.Read(context.Background(), name, log)
	})
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(asked.Path, "/v1/backends/") {
		answer := job.Report()
		return render.HTML(&answer)
	}
	library, err := e.base.Library(path.Base(asked.Path))
	if err != nil || library == nil {
		return nil, fmt.Errorf("there are no backend rules of %s", path.Base(asked.Path))
	}
	given := make(map[string]string)
	for _, fact := range asked.Query()["fact"] {
		name, text, _ := strings.Cut(fact, "=")
		given[name] = text
	}
	known, err := facts.Said(library.Vocabulary(e.base.Vocabulary), given, "said")
	if err != nil {
		return nil, err
	}
	return render.BackendsHTML(job.Choose(library, known...))
}
