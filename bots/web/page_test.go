package web

import (
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher/report"

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
	shown, err := page(report)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{secret, "<script", "<img", `href="javascript`} {
		if strings.Contains(string(shown), bad) {
			t.Errorf("the page holds %q:\n%s", bad, shown)
		}
	}
	if !strings.Contains(string(shown), "alert(1)") {
		t.Error("the page does not quote at all")
	}
}
