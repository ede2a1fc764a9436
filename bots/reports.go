package bots

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"regexp"
	"strings"

	"github.com/gpu-triage/triage/matcher/render"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
)

// ErrNoReport says that no report is kept under an id: it never was, or its 30 days are over.
var ErrNoReport = errors.New("no such report, or it is older than 30 days")

// SaveReport keeps a report for 30 days and returns its id. The id cannot be guessed, and is the same for the same answer to the
// same question, so that work done twice after a kill leaves one report.
func (s *Store) SaveReport(ctx context.Context, question string, report report.Report) (id string, err error) {
	data, err := json.Marshal(report)
	if err != nil {
		return "", err
	}
	timeless := report
	timeless.Stats.ElapsedMS = 0
	said, err := json.Marshal(timeless)
	if err != nil {
		return "", err
	}
	if id, err = s.Seal(ctx, "report", question, string(said)); err != nil {
		return "", err
	}
	if len(data) > maxJob {
		report.Facts = nil
		report.Diagnoses = report.Diagnoses[:min(len(report.Diagnoses), 3)]
		report.Notes = append(report.Notes, "The report was too large to keep in full.")
		if data, err = json.Marshal(report); err != nil {
			return "", err
		}
	}
	if _, err := s.reports.Put(ctx, id, data); err != nil {
		return "", fmt.Errorf("keep the report: %w", err)
	}
	return id, nil
}

// Report returns a kept report, or ErrNoReport.
func (s *Store) Report(ctx context.Context, id string) (report report.Report, err error) {
	if len(id) != 40 || strings.Trim(id, "0123456789abcdef") != "" {
		return report, ErrNoReport
	}
	entry, err := s.reports.Get(ctx, id)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return report, ErrNoReport
	}
	if err != nil {
		return report, err
	}
	return report, json.Unmarshal(entry.Value(), &report)
}

// Seal returns 40 hexadecimal digits that nobody can work out from the texts alone, the same for the same texts in every replica.
func (s *Store) Seal(ctx context.Context, texts ...string) (string, error) {
	key, err := s.secret(ctx)
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, key)
	for _, text := range texts {
		fmt.Fprintf(mac, "%d:%s", len(text), text)
	}
	return hex.EncodeToString(mac.Sum(nil)[:20]), nil
}

// secret is the key from which seals are made. The first who asks makes it.
func (s *Store) secret(ctx context.Context) ([]byte, error) {
	name := token("report key")
	if entry, err := s.reports.Get(ctx, name); err == nil {
		return entry.Value(), nil
	}
	fresh := make([]byte, 32)
	_, _ = rand.Read(fresh)
	_, err := s.reports.Create(ctx, name, fresh)
	if err != nil && !errors.Is(err, jetstream.ErrKeyExists) {
		return nil, err
	}
	entry, err := s.reports.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	return entry.Value(), nil
}

// Safe returns a report with every secret taken out of every text in it. The engine has done so with what it says itself; here the
// names of fetched logs and the notes about them are added, which strangers choose too.
func Safe(answer report.Report) (report.Report, error) {
	data, err := json.Marshal(answer)
	if err != nil {
		return report.Report{}, err
	}
	var tree any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&tree); err != nil {
		return report.Report{}, err
	}
	if data, err = json.Marshal(redacted(tree)); err != nil {
		return report.Report{}, err
	}
	var clean report.Report
	return clean, json.Unmarshal(data, &clean)
}

func redacted(tree any) any {
	switch node := tree.(type) {
	case string:
		return report.Redact(node)
	case []any:
		for i := range node {
			node[i] = redacted(node[i])
		}
	case map[string]any:
		for name, value := range node {
			if text, ok := value.(string); ok {
				// A name such as env.HF_TOKEN tells what its value is.
				_, value, _ = strings.Cut(report.Redact(name+"="+text), "=")
			}
			node[name] = redacted(value)
		}
	}
	return tree
}

var page = template.Must(template.New("report").Parse(`<!DOCTYPE html>
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

// Page writes a report as HTML with what the comment says. Raw HTML is not passed through.
func Page(report report.Report) ([]byte, error) {
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
	err := page.Execute(&out, struct {
		Title string
		Body  template.HTML
	}{title, template.HTML(body.String())})
	return out.Bytes(), err
}
