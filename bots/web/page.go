package web

import (
	"bytes"
	"html/template"
	"regexp"

	"github.com/gpu-triage/triage/matcher/report"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"github.com/gpu-triage/triage/matcher/render"
)

var document = template.Must(template.New("report").Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="robots" content="noindex"><meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>{{.Title}}</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1f2328;background:#fff}
pre{background:#f6f8fa;padding:1rem;overflow:auto;white-space:pre-wrap;overflow-wrap:anywhere}code{font:14px/1.4 ui-monospace,monospace}
table{border-collapse:collapse}td,th{border:1px solid #d0d7de;padding:.3rem .6rem;text-align:left;vertical-align:top}
@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}pre{background:#161b22}td,th{border-color:#30363d}a{color:#4493f8}}</style>
</head><body>{{.Body}}</body></html>
`))

var (
	foldLine = regexp.MustCompile(`(?m)^<details><summary>(.*)</summary>$`)
	foldEnd  = regexp.MustCompile(`(?m)^</details>$`)
)

// page writes a report as HTML with what the comment says. Raw HTML is not passed through.
func page(report report.Report) ([]byte, error) {
	text := render.Markdown(&report, 1<<20)
	text = foldEnd.ReplaceAllString(foldLine.ReplaceAllString(text, "**$1**"), "")
	var body, out bytes.Buffer
	if err := goldmark.New(goldmark.WithExtensions(extension.Table)).Convert([]byte(text), &body); err != nil {
		return nil, err
	}
	title := "Nothing known"
	if len(report.Diagnoses) > 0 {
		title = report.Diagnoses[0].Title
	}
	err := document.Execute(&out, struct {
		Title string
		Body  template.HTML
	}{title, template.HTML(body.String())})
	return out.Bytes(), err
}
