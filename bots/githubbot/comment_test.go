package githubbot

import (
	"regexp"
	"testing"

	"github.com/google/go-github/v60/github"
	"github.com/gpu-triage/triage/matcher/render"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// mentioned finds what GitHub takes for a mention: a name after a letter or a digit is an address (someone@octocat) and mentions nobody.
var mentioned = regexp.MustCompile(`(^|[^A-Za-z0-9])@octocat`)

// FuzzCompose renders a comment with a hostile text in every place that a log or a commenter can reach, and looks at what comes alive.
func FuzzCompose(f *testing.F) {
	for _, seed := range []string{"@octocat", "0@octocat", "@@octocat", "&#64;octocat", "![x](https://evil.example/p.png)", "[x](https://evil.example)", "https://evil.example",
		"```\n# evil\n```", "</details><b>x</b>", "fixes #1", "<!-- triage:report 0 -->", "~~~\n@octocat", "\u202e@octocat", "| a | b |\n|---|---|"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, hostile string) {
		d := report.Diagnosis{ID: "an-id", Title: hostile, Cause: hostile, Certainty: report.Likely,
			Evidence: []report.Evidence{{Source: hostile, Line: 1, Text: hostile}}, Missing: []report.Missing{{Name: "cudnn", Why: hostile, How: hostile}},
			Fixes: []report.Fix{{Do: hostile, Run: []string{hostile}}}}
		s := &snapshot{commands: commands{asked: []*github.IssueComment{{}}}, complaints: []string{"No fact is named " + hostile + "."}}
		body := s.compose(report.Report{Diagnoses: []report.Diagnosis{d}, Notes: []string{hostile}}, "https://triage.example/reports/0")
		if n := len([]rune(body)); n > render.GitHubLimit {
			t.Errorf("%d characters", n)
		}
		source := []byte(body)
		tree := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
		_ = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if !entering {
				return ast.WalkContinue, nil
			}
			switch n := n.(type) {
			case *ast.Link:
				if string(n.Destination) != "https://triage.example/reports/0" {
					t.Errorf("a link to %s", n.Destination)
				}
			case *ast.Image:
				t.Errorf("an image of %s", n.Destination)
			case *ast.AutoLink:
				t.Errorf("a link to %s", n.URL(source))
			}
			return ast.WalkContinue, nil
		})
		if mentioned.MatchString(body) {
			t.Error("a mention came through")
		}
	})
}
