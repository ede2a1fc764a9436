package render

import (
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher/report"
)

// commanding is an answer about a log that tries to be obeyed.
func commanding() *report.Report {
	text := "RuntimeError: a%b\r\n::set-env name=PATH::/tmp\n]]></failure>\x1b[31m\x00 & <b>"
	return &report.Report{Diagnoses: []report.Diagnosis{{
		ID: "odd", Title: "odd, 50%: " + text, Cause: text, Certainty: report.Unexplained,
		Evidence: []report.Evidence{{Source: "a:b c,d.log", Line: 3, Text: text}},
		Fixes:    []report.Fix{{Do: text, Run: []string{text}}},
	}}}
}

func TestGitHubObeysNoLog(t *testing.T) {
	got := GitHub(commanding(), "/w")
	if strings.Count(got, "\n") != 1 || !strings.HasPrefix(got, "::warning title=odd%2C 50%25%3A RuntimeError") {
		t.Errorf("%q", got)
	}
	if !strings.Contains(got, "file=a%3Ab c%2Cd.log,line=3::") {
		t.Errorf("the place is lost: %q", got)
	}
}

func TestMachinesReadHostileReports(t *testing.T) {
	for name, r := range map[string]*report.Report{"commanding": commanding(), "empty": {}, "no evidence": {Diagnoses: []report.Diagnosis{{ID: "a"}}}} {
		sarif, err := SARIF(r, "")
		if err != nil || !json.Valid(sarif) {
			t.Errorf("%s: %v, %s", name, err, sarif)
		}
		junit, err := JUnit(r)
		var suites junitSuites
		if err != nil || xml.Unmarshal(junit, &suites) != nil || suites.Tests < 1 || suites.Failures != len(r.Diagnoses) {
			t.Errorf("%s: %v, %s", name, err, junit)
		}
	}
}

func TestComplaintLeadsOnlyToUs(t *testing.T) {
	for link, want := range map[string]bool{
		report.IssuePage + "?title=a%20b": true, "/reports/0/wrong": true, "": false, "javascript:alert(1)": false, report.IssuePage + "?a)[x](//evil": false,
		"https://evil.example/?" + report.IssuePage: false, "//evil.example/reports/": false,
	} {
		if got := Complaint(&report.Report{Wrong: link}); (got != "") != want {
			t.Errorf("%q became %q", link, got)
		}
	}
}

func TestWithin(t *testing.T) {
	for _, test := range []struct {
		file, workspace, want string
		inside                bool
	}{
		{"/w/train.py", "/w", "train.py", true},
		{"/w/a/../train.py", "/w/", "train.py", true},
		{"train.py", "/w", "train.py", true},
		{"./train.py", "", "train.py", true},
		{"/srv/train.py", "/w", "/srv/train.py", false},
		{"/w/../etc/passwd", "/w", "/etc/passwd", false},
		{"../train.py", "/w", "../train.py", false},
		{"<string>", "/w", "<string>", false},
		{"C:/w/train.py", "/w", "C:/w/train.py", false},
		{"C:/w/train.py", "C:/w", "train.py", true},
		{"/w/venv/lib/python3.12/site-packages/torch/a.py", "/w", "venv/lib/python3.12/site-packages/torch/a.py", false},
	} {
		if got, inside := within(test.file, test.workspace); got != test.want || inside != test.inside {
			t.Errorf("%s in %s: %s, %v", test.file, test.workspace, got, inside)
		}
	}
}
