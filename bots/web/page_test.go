package web

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules"

	"github.com/gpu-triage/triage/bots"
)

func TestPageHoldsNoSecretAndNoMarkup(t *testing.T) {
	secret := "ghp_" + strings.Repeat("0a1B2c", 6)
	report, err := bots.RedactReport(report.Report{Schema: report.Schema, Diagnoses: []report.Diagnosis{{
		ID: "x", Title: "<script>alert(1)</script>", Cause: "because " + secret, Certainty: report.Confirmed,
		Evidence: []report.Evidence{{Source: "a", Line: 1, Text: "<img src=x onerror=alert(1)> " + secret}},
		Fixes:    []report.Fix{{Do: "[click](javascript:alert(1))", Run: []string{"export GITHUB_TOKEN=" + secret}}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	shown, err := written(&report, htmlForm)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{secret, "<img", `href="javascript`, "<script>alert"} {
		if strings.Contains(string(shown), bad) {
			t.Errorf("the page holds %q:\n%s", bad, shown)
		}
	}
	if !strings.Contains(string(shown), "alert(1)") {
		t.Error("the page does not quote at all")
	}
}

func TestAccepted(t *testing.T) {
	for header, want := range map[string]string{
		"": htmlForm, "*/*": htmlForm, "image/png": htmlForm, "text/plain": textForm, "application/json": jsonForm, "text/markdown": markdownForm,
		"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8": htmlForm, "text/html;q=0.2, application/json;q=0.9": jsonForm,
		"application/json;q=0": htmlForm, "text/plain;q=x": htmlForm, "Text/Plain ; q=0.5": textForm,
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Accept", header)
		if got := accepted(r, htmlForm); got != want {
			t.Errorf("%q: %s, want %s", header, got, want)
		}
	}
}

// TestPageWithoutServer: a page that answers itself brings its own policy and says where the log stays.
func TestPageWithoutServer(t *testing.T) {
	base, err := rules.Open()
	if err != nil {
		t.Fatal(err)
	}
	page, err := AskPage(base, false, "let engine;")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Content-Security-Policy", "wasm-unsafe-eval", `src="wasm_exec.js"`, "let engine;", "read by this page itself"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(string(page), "read by this server") {
		t.Error("the page speaks of a server")
	}
}
