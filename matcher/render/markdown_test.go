package render

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher/report"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// hostile are texts that come alive in a careless comment.
var hostile = []string{
	"@octocat and @org/team, mail a@b.example, &#64;octocat &commat;octocat",
	"#1 owner/repo#2 GH-3 fixes #4 70d99e998b4955e0049d13a98d77ae1b14db1f45 70d99e9",
	"[click](https://evil.example) ![image](https://evil.example/x.png) <https://evil.example> www.evil.example 00www _www.evil.example https://evil.example",
	"[a]: https://evil.example\n\n[a]",
	"<script>alert(1)</script><img src=x onerror=alert(1)><!-- comment --> </details></summary><details open>",
	"```\n# out\n@octocat\n````\n~~~\n@octocat",
	"`@octocat` ``two`` ```three @octocat #5``` unclosed ` @octocat #6 [x](https://evil.example)",
	"# heading\n\n- item\n\n> quote\n\n***\n\n1. one\n\n| a | b |\n| --- | --- |\n| c | d |",
	"a | b `c | d` \\| e `\\` | @octocat",
	"$x^2$ $$\\unicode{x}$$ $`y`$",
	"    indented\n\ttabbed @octocat",
	"\u202e@octocat\u200f #7 \x1b]8;;https://evil.example\x07link\x1b]8;;\x07",
	"- [ ] task @octocat", "=== @octocat", "+ plus", "~~struck~~ **bold** _it_ __b__", "\\@octocat \\#8 \\[x](https://evil.example)",
}

// poisoned is a report with text in every place that a log, a flag or a rule can fill, references excepted.
func poisoned(text string) *report.Report {
	evidence := []report.Evidence{{Source: text, Line: 1, Text: text}, {Source: "b.log", Line: 2, Text: "x\n" + text}}
	diagnosis := report.Diagnosis{
		ID: text, Title: text, Cause: text, Certainty: report.Likely, Ranks: []int{1}, Evidence: evidence,
		Facts:        []report.FactValue{{Name: text, Value: text, Source: text, Where: text}, {Name: "n", Value: []any{text}}},
		Missing:      []report.Missing{{Name: text, Why: text, How: text}},
		Backends:     []report.Backend{{Name: text, Verdict: text, Rules: []report.BackendRule{{ID: text, Because: text}}, Missing: []string{text}}},
		Fixes:        []report.Fix{{Do: text, Run: []string{text, text}, Effect: text, Loses: text, Verified: true}},
		Consequences: []report.Consequence{{Title: text}},
		References:   []string{"see " + text, "javascript:" + text, "https://ok.example/a#b"},
	}
	return &report.Report{Diagnoses: []report.Diagnosis{diagnosis, diagnosis}, Facts: diagnosis.Facts, Notes: []string{text}}
}

func TestMarkdownQuotesSafely(t *testing.T) {
	for _, text := range hostile {
		assertTame(t, text, Markdown(poisoned(text), 0))
		assertTame(t, text, Markdown(poisoned(text), 1))
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { assertTame(t, text, Markdown(poisoned(text), 0)) })
}

var (
	alive   = regexp.MustCompile(`(?i)(^|[^a-z0-9_])@[a-z0-9]|#[0-9]|\bGH-[0-9]|https?://|(^|[^a-z0-9])www\.[a-z0-9]|\b[0-9a-f]{40}\b`)
	ourTags = regexp.MustCompile(`^(?:</?(?:details|summary|code|br)>|Details|Also found|All facts|\s)*$`)
)

// assertTame parses page as GitHub would and looks for whatever a quoted text could have brought to life.
func assertTame(t *testing.T, quoted, page string) {
	t.Helper()
	source := []byte(page)
	document := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	inCode := false
	err := ast.Walk(document, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := node.(type) {
		case *ast.Link:
			if link := string(n.Destination); !strings.HasPrefix(link, report.IssuePage+"?") {
				return ast.WalkStop, fmt.Errorf("link to %q", link)
			}
		case *ast.Image, *ast.Blockquote:
			if _, note := n.(*ast.Blockquote); !note {
				return ast.WalkStop, fmt.Errorf("%s node", n.Kind())
			}
		case *ast.AutoLink:
			if url := string(n.URL(source)); url != "https://ok.example/a#b" {
				return ast.WalkStop, fmt.Errorf("link to %q", url)
			}
		case *ast.RawHTML:
			tag := string(n.Segments.Value(source))
			inCode = tag == "<code>"
			if !ourTags.MatchString(tag) {
				return ast.WalkStop, fmt.Errorf("tag %q", tag)
			}
		case *ast.HTMLBlock:
			if block := string(n.Lines().Value(source)); !ourTags.MatchString(block) {
				return ast.WalkStop, fmt.Errorf("block of HTML %q", block)
			}
		case *ast.Text:
			if _, code := n.Parent().(*ast.CodeSpan); !code && !inCode && alive.MatchString(html.UnescapeString(string(n.Value(source)))) {
				return ast.WalkStop, fmt.Errorf("alive: %q", n.Value(source))
			}
		case *ast.FencedCodeBlock:
			if found := mention.FindString(string(n.Lines().Value(source))); found != "" {
				return ast.WalkStop, fmt.Errorf("mention %q in a fence", found)
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Errorf("quoting %q: %v in\n%s", quoted, err, page)
	}
}

func TestMarkdownFits(t *testing.T) {
	long := full()
	for len(long.Diagnoses) < 200 {
		long.Diagnoses = append(long.Diagnoses, long.Diagnoses[0])
	}
	long.Diagnoses[0].Cause = strings.Repeat("word <&> ", 100_000)
	long.Diagnoses[0].Evidence[0].Text = strings.Repeat("```@a ", 100_000)
	for i := range 1000 {
		long.Diagnoses[0].Fixes = append(long.Diagnoses[0].Fixes, report.Fix{Do: fmt.Sprint(i), Run: []string{strings.Repeat("x", 1000)}})
		long.Facts = append(long.Facts, report.FactValue{Name: fmt.Sprint("env.X", i), Value: strings.Repeat("v", 1000)})
	}
	for _, limit := range []int{GitHubLimit, 12_000} {
		page := Markdown(long, limit)
		if len(page) > limit || !strings.Contains(page, "No dot product attention") && !strings.Contains(page, "no attention backend") {
			t.Errorf("limit %d: %d bytes:\n%.2000s", limit, len(page), page)
		}
		assertTame(t, "long", page)
	}
}

func TestReferences(t *testing.T) {
	for given, want := range map[string]string{
		"https://github.com/NVIDIA/TransformerEngine/issues/1414": "<https://redirect.github.com/NVIDIA/TransformerEngine/issues/1414>",
		"https://docs.nvidia.com/deploy/xid-errors/":              "<https://docs.nvidia.com/deploy/xid-errors/>",
		"http://plain.example":                                    "`http://plain.example`",
		"https://user:pw@evil.example":                            "`https://user:pw@evil.example`",
		"utils.py@v2.3":                                           "`utils.py@v2.3`",
	} {
		if got := reference(given); got != want {
			t.Errorf("%s: %s, want %s", given, got, want)
		}
	}
}

// TestMarkdownHasTheFixOnTheFirstScreen: some fifteen rows of a hundred characters hold the title, the cause, the question and the fix.
func TestMarkdownHasTheFixOnTheFirstScreen(t *testing.T) {
	r := full()
	d := &r.Diagnoses[0]
	d.Title, d.Cause = strings.Repeat("A long title. ", 30), strings.Repeat("One sentence of a long cause follows another one. ", 60)
	for range 11 {
		d.Missing = append(d.Missing, report.Missing{Name: "nccl", Why: strings.Repeat("why ", 100), How: "pip show nccl"})
		d.Evidence = append(d.Evidence, report.Evidence{Source: "train.log", Line: 9, Text: strings.Repeat("x", 3000)})
	}
	page := Markdown(r, 0)
	before, _, found := strings.Cut(page, "flash-attn==2.7.4.post1")
	rows := 0
	for line := range strings.Lines(before) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "```") {
			rows += 1 + (len(line)-1)/100
		}
	}
	if !found || rows > 15 {
		t.Errorf("the fix stands on row %d of\n%s", rows, page)
	}
	if question := strings.Index(before, "**One answer settles this:** what is `cudnn`?"); question < 0 || strings.Contains(before, "`nccl`") {
		t.Errorf("one question, before the fix:\n%s", before)
	}
	_, folded, _ := strings.Cut(page, "<details><summary>Details</summary>")
	for _, want := range []string{"**Why**", "**In the log**", "**Other fixes**", "`nccl`"} {
		if !strings.Contains(folded, want) {
			t.Errorf("%s is not in the details", want)
		}
	}
}
