package slackbot

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gpu-triage/triage/matcher/report"
)

// checkBlocks fails for a message that Slack would refuse, or in which something comes alive.
func checkBlocks(t *testing.T, b blocks) {
	t.Helper()
	data, err := json.Marshal(b.list())
	if err != nil {
		t.Fatal(err)
	}
	var list []struct {
		Type string
		Text struct {
			Type, Text string
			Verbatim   bool
		}
	}
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, one := range list {
		n := utf8.RuneCountInString(one.Text.Text)
		sum += n
		switch {
		case one.Type == "section" && (n == 0 || n > 3000), one.Type == "header" && (n == 0 || n > 150):
			t.Errorf("a %s of %d characters", one.Type, n)
		case one.Type == "section" && !one.Text.Verbatim:
			t.Error("a section whose addresses would become links")
		}
		if bad := comesAlive(one.Text.Text); bad != "" {
			t.Errorf("%q comes alive in %q", bad, one.Text.Text)
		}
	}
	if len(list) > 50 || sum > 13_200 {
		t.Errorf("%d blocks, %d characters", len(list), sum)
	}
}

var (
	spans = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	marks = regexp.MustCompile(`<|>|@(?:here|channel|everyone)`)
)

// comesAlive returns what Slack would take for more than text: outside of code, and of the marks that the renderer itself puts around
// words ("*Fix*", "_3 more_").
func comesAlive(text string) string {
	if m := regexp.MustCompile(`[<>]`).FindString(text); m != "" {
		return m
	}
	return marks.FindString(spans.ReplaceAllString(text, ""))
}

func FuzzCompose(f *testing.F) {
	f.Add("out of memory", "`x` & <!channel> <@U123> *bold* _it_ ~no~ ```fence", "File \"<https://evil|click>\"\n```\n@here", 3)
	f.Add(strings.Repeat("t", 500), strings.Repeat("<&>", 5000), strings.Repeat("`", 9000), 40)
	f.Add("", "", "", 0)
	f.Add("\x00\xff", "\u202e", "```", 1)
	f.Fuzz(func(t *testing.T, title, cause, line string, n int) {
		n = max(0, min(n, 200))
		d := report.Diagnosis{ID: "an-id", Title: title, Cause: cause, Certainty: report.Likely}
		for range n {
			d.Evidence = append(d.Evidence, report.Evidence{Source: line, Line: 1, Text: line})
			d.Fixes = append(d.Fixes, report.Fix{Do: cause, Run: []string{line}})
			d.Missing = append(d.Missing, report.Missing{Name: title, Why: cause, How: line})
		}
		r := report.Report{Diagnoses: []report.Diagnosis{d}, Notes: []string{line}}
		for range n % 5 {
			r.Diagnoses = append(r.Diagnoses, d)
		}
		b, whole := compose(r, strings.Repeat("0", 40), "https://triage.example/reports/0", true)
		checkBlocks(t, b)
		if len(r.Diagnoses) > 1 && whole {
			t.Error("a message with one of several diagnoses is called whole")
		}
		if bad := comesAlive(headline(r)); bad != "" {
			t.Errorf("%q comes alive in the headline", bad)
		}
	})
}

func TestComposeSaysWhatMatters(t *testing.T) {
	three := 3
	r := report.Report{Diagnoses: []report.Diagnosis{{ID: "some-id", Title: "It broke", Cause: "Because of `this`.", Certainty: report.Confirmed, Rank: &three,
		Evidence: []report.Evidence{{Source: "train.log", Line: 7, Text: "Error: x"}},
		Fixes:    []report.Fix{{Do: "Mend it.", Run: []string{"pip install mended"}}}}}}
	b, whole := compose(r, "id", "", true)
	data, err := json.Marshal(b.list())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"It broke", "*Confirmed*", "rank 3 failed first", "`this`", "train.log:7: Error: x", "Mend it.", "pip install mended", "Share in channel"} {
		if !strings.Contains(string(data), want) {
			t.Errorf("missing %q in %s", want, data)
		}
	}
	if !whole {
		t.Error("a short report is called cut")
	}
}

func TestLinks(t *testing.T) {
	for text, want := range map[string]string{
		"<https://github.com/o/r/issues/1>":         "https://github.com/o/r/issues/1",
		"<https://github.com/o/r/issues/1|the bug>": "https://github.com/o/r/issues/1",
		"see https://gist.github.com/u/0a1b.":       "https://gist.github.com/u/0a1b",
		"no link":                                   "",
	} {
		if got := strings.Join(linksIn(text), " "); got != want {
			t.Errorf("linksIn(%q) = %q, want %q", text, got, want)
		}
	}
}
