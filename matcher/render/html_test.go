package render

import (
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher/report"
	"golang.org/x/net/html"
)

// hostileText is a text that tries to become markup, script, style or an address wherever it is put.
const hostileText = "</pre></script></style></title>--><script>alert(1)</script><img src=x onerror=alert(1)>\" onclick=\"alert(1)' x='{{.}} javascript:alert(1) \x1b[31m\u202e`<b>`"

// hostileEverywhere is a report in which a stranger wrote everything that is a text.
func hostileEverywhere() *report.Report {
	three := 3
	facts := []report.FactValue{{Name: hostileText, Value: hostileText, Source: hostileText, Where: hostileText}}
	return &report.Report{
		Ranks:   []report.RankState{{Rank: 3, State: hostileText, Sign: &report.Moment{Text: hostileText, Source: hostileText, Line: 3}}},
		Program: hostileText, Knowledge: hostileText, Wrong: "/reports/\"" + hostileText, Facts: facts, Notes: []string{hostileText}, Hosts: []string{hostileText},
		Earlier: []string{hostileText, "javascript:alert(1)", "https://a.example/\"x"},
		Diagnoses: []report.Diagnosis{{
			ID: hostileText, Title: hostileText, Cause: hostileText + "\n\n" + hostileText, Certainty: hostileText, Rank: &three, Ranks: []int{3}, Facts: facts,
			Evidence:     []report.Evidence{{Source: hostileText, Line: 4, Rank: &three, Text: hostileText}},
			Missing:      []report.Missing{{Name: hostileText, Why: hostileText, How: hostileText}},
			Backends:     []report.Backend{{Name: hostileText, Verdict: hostileText, Missing: []string{hostileText}, Rules: []report.BackendRule{{ID: hostileText, Because: hostileText, Source: hostileText}}}},
			Fixes:        []report.Fix{{Do: hostileText, Run: []string{hostileText, hostileText}, Kind: "text", Kinds: []string{"sh", "text"}, Effect: hostileText, Loses: hostileText}},
			Consequences: []report.Consequence{{Title: hostileText, Line: 3}},
			References:   []string{hostileText, "javascript:alert(1)", "https://a.example/\"onclick=\"alert(1)", "//evil.example", "https://a.example/b"},
		}, {Certainty: report.Unexplained}},
	}
}

// TestPageTakesNothingOfALogForMarkup: with hostile texts everywhere, a page has the elements and attributes of ours alone.
func TestPageTakesNothingOfALogForMarkup(t *testing.T) {
	page, err := HTML(hostileEverywhere())
	if err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(strings.NewReader(string(page)))
	if err != nil {
		t.Fatal(err)
	}
	scripts := 0
	for node := range root.Descendants() {
		if node.Type == html.CommentNode {
			t.Errorf("a comment: %q", node.Data)
		}
		if node.Type != html.ElementNode {
			continue
		}
		switch node.Data {
		case "script":
			scripts++
			if node.FirstChild.Data != CopyScript {
				t.Errorf("a script is not ours: %q", node.FirstChild.Data)
			}
		case "img", "b", "iframe", "object", "form", "link":
			t.Errorf("an element <%s>", node.Data)
		}
		for _, a := range node.Attr {
			switch {
			case strings.HasPrefix(a.Key, "on"), a.Key == "style", a.Key == "src", a.Key == "x" && node.Data != "text":
				t.Errorf("<%s %s=%q>", node.Data, a.Key, a.Val)
			case a.Key == "href" && a.Val != "https://a.example/b":
				t.Errorf("a link to %q", a.Val)
			}
		}
	}
	if scripts != 1 || strings.ContainsAny(string(page), "\x1b\u202e") || !strings.Contains(string(page), "alert(1)") {
		t.Errorf("%d scripts in\n%s", scripts, page)
	}
}

func TestPageIsWhole(t *testing.T) {
	page, err := HTML(full())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"TransformerEngine finds no attention backend", `<li class="deciding"><span>1412</span>`, "flash-attn==2.7.4.post1", "data-copy",
		"<strong>UnfusedDotProductAttention</strong></td><td class=\"allowed\">", "<div class=\"place\">train.log</div>", "<code>NVTE_DEBUG=1</code>", "No space left on device",
		"Only a consequence (2)", `href="https://github.com/NVIDIA/TransformerEngine/issues/1821"`, "This machine has another GPU", "Wrong?",
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("%q is not in\n%s", want, page)
		}
	}
	if fragment, err := HTMLFragment(full()); err != nil || strings.Contains(string(fragment), "<script") || !strings.HasPrefix(string(fragment), `<div class="triage">`) {
		t.Errorf("%v:\n%s", err, fragment)
	}
	empty, err := HTML(&report.Report{Stats: report.Stats{Lines: 7}})
	if err != nil || !strings.Contains(string(empty), "<h1>No failure found in 7 lines.</h1>") {
		t.Errorf("%v:\n%s", err, empty)
	}
}

// eight is a job of eight ranks: one failed, the others waited for it, one only ran and one is not in the log.
func eight() *report.Report {
	r := &report.Report{Diagnoses: []report.Diagnosis{{ID: "x", Title: "The data is gone", Certainty: report.Confirmed, Rank: rank(5), Ranks: []int{5}}}}
	for i := range 8 {
		at := 600.0 + float64(i)
		one := report.RankState{Rank: i, State: report.RankWaited, Step: &report.Moment{Text: "step 120", Source: "a", Line: 10, At: new(float64)},
			Sign: &report.Moment{Text: "the watchdog's timeout", Source: "a", Line: 90 - i, At: &at}}
		switch i {
		case 5:
			soon := 2.0
			one.State, one.Sign = report.RankFailed, &report.Moment{Text: "The data is gone", Source: "a", Line: 40, At: &soon}
		case 6:
			one.State, one.Sign = report.RankRan, nil
		case 7:
			one = report.RankState{Rank: i, State: report.RankSilent}
		}
		r.Ranks = append(r.Ranks, one)
	}
	return r
}

func TestRanksInWords(t *testing.T) {
	_, got, _ := strings.Cut(Text(eight(), Style{}), "  ranks\n")
	want := `    rank 5  failed first: The data is gone (line 40); last seen at step 120
    ranks 0-4  waited: the watchdog's timeout (line 86); last seen at step 120
    rank 6  went on; last seen at step 120
    rank 7  no line names it
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestRanksInAPicture(t *testing.T) {
	picture := pictureOf(eight())
	if picture == nil || len(picture.Rows) != 8 || picture.Last != "604 s" {
		t.Fatalf("%+v", picture)
	}
	failed, waited := picture.Rows[5], picture.Rows[0]
	if failed.Sign.Class != "first" || failed.Sign.X >= waited.Sign.X || failed.Sign.X < failed.Step.X || !waited.Sign.Waits || picture.Rows[7].Step != nil {
		t.Errorf("failed %+v, waited %+v", failed, waited)
	}
	two := eight()
	two.Ranks[0].Sign.At, two.Ranks[0].Sign.Source = nil, "b"
	if pictureOf(two) != nil {
		t.Error("a picture of two files without a clock")
	}
}
