package render

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"github.com/gpu-triage/triage/matcher/diagnosis"
	"github.com/gpu-triage/triage/matcher/report"
)

var update = flag.Bool("update", false, "write what is rendered to the golden files")

func rank(n int) *int { return &n }

// full is a report that has something everywhere.
func full() *report.Report {
	return &report.Report{
		Schema: report.Schema, Program: "1.2.3", Knowledge: "2027.01.02", Wrong: report.IssuePage + "?title=Wrong%3A+te-no-backend",
		Diagnoses: []report.Diagnosis{{
			ID: "te-no-backend", Title: "TransformerEngine finds no attention backend for this configuration", Certainty: report.Likely,
			Cause: "Every backend is ruled out: flash-attn 2.8.3 is outside the range that TransformerEngine 2.3.0 takes, and before Hopper " +
				"the fused kernels of cuDNN take heads of at most 128 here.\n\nSet `NVTE_DEBUG=1` to see its own reasons.",
			Rank: rank(3), Ranks: []int{0, 1, 2, 3, 5, 7}, Count: 24,
			Evidence: []report.Evidence{
				{Source: "train.log", Line: 1412, Rank: rank(3), Text: "ValueError: No dot product attention backend is available for the provided inputs."},
				{Source: "train.log", Line: 1413, Rank: rank(3), Text: "    \tcontext " + strings.Repeat("long ", 40)},
				{Source: "train.log", Line: 98, Text: "Running with config={...}"},
			},
			Facts: []report.FactValue{
				{Name: "transformer_engine", Value: "2.3.0", Source: "log", Where: "train.log:12"},
				{Name: "head_dim_qk", Value: 192, Source: "user", Where: "--fact"},
				{Name: "flash_attn_3", Value: nil, Source: "live", Where: "pip"},
			},
			Missing: []report.Missing{{Name: "cudnn", Why: "its release decides which fused kernels exist", How: "python -c 'import torch; print(torch.backends.cudnn.version())'"}},
			Backends: []report.Backend{
				{Name: "FlashAttention", Verdict: "disabled", Rules: []report.BackendRule{{ID: "te-flash-range", Because: "TransformerEngine 2.3 takes flash-attn 2.1.1 to 2.7.4.post1", Source: "utils.py@v2.3"}}},
				{Name: "FusedAttention", Verdict: "unknown", Missing: []string{"cudnn"}},
				{Name: "UnfusedDotProductAttention", Verdict: "allowed"},
			},
			Fixes: []report.Fix{
				{Do: "Install the highest flash-attn that this TransformerEngine takes.", Run: []string{"pip install --no-build-isolation 'flash-attn==2.7.4.post1'"}, Verified: true, Effect: "FlashAttention becomes available", Loses: "what 2.8 brought"},
				{Do: "Or upgrade TransformerEngine.", Run: []string{"pip install a", "pip install b"}},
			},
			Consequences: []report.Consequence{{Title: "NCCL watchdog timeout on the waiting ranks", Line: 1500, Ranks: []int{0, 1}}, {Title: "torchrun stopped the others", Line: 1502}},
			References:   []string{"https://github.com/NVIDIA/TransformerEngine/issues/1821", "transformer_engine/pytorch/attention.py@v2.3"},
		}, {
			ID: "disk-full", Title: "No space left on device", Certainty: report.Confirmed, Cause: "The disk is full.",
			Evidence: []report.Evidence{{Source: "train.log", Line: 7, Text: "OSError: [Errno 28] No space left on device"}},
		}},
		Facts: []report.FactValue{{Name: "sm", Value: 80, Source: "log", Where: "train.log:1"}},
		Notes: []string{"This machine has another GPU than the log: its facts were not used."},
		Stats: report.Stats{Bytes: 10, Lines: 2000, TruncatedLines: 1, Incomplete: true},
	}
}

// inCode is full with a frame in the user's own code.
func inCode() *report.Report {
	r := full()
	r.Diagnoses[0].Evidence = append(r.Diagnoses[0].Evidence,
		report.Evidence{Source: "train.log", Line: 1400, Text: `File "/workspace/train/models/block.py", line 88, in forward: y = attend(q, k, v)`})
	return r
}

func TestGolden(t *testing.T) {
	asJSON, err := JSON(full())
	if err != nil {
		t.Fatal(err)
	}
	sarif, err := SARIF(inCode(), "/workspace/train")
	if err != nil {
		t.Fatal(err)
	}
	junit, err := JUnit(full())
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]string{
		"full.sarif":  string(sarif),
		"full.junit":  string(junit),
		"full.github": GitHub(inCode(), "/workspace/train"),
		"full.txt":    Text(full(), Style{}),
		"narrow.txt":  Text(full(), Style{Width: 60}),
		"short80.txt": Short(inCode(), Style{Width: 80, Logs: "train.log"}),
		"short.txt":   Short(inCode(), Style{Width: 140}),
		"full.ansi":   Text(full(), Style{Color: true}),
		"full.md":     Markdown(full(), 0),
		"small.md":    Markdown(full(), 1),
		"full.json":   string(asJSON),
		"none.txt":    Text(&report.Report{Stats: report.Stats{Lines: 12}}, Style{}),
	} {
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestShortFits: an answer takes 28 rows of a terminal at most, whatever it has to say.
func TestShortFits(t *testing.T) {
	long := strings.Repeat("many words of a sentence. And of another one ", 20)
	r := inCode()
	r.Notes = []string{long, long}
	for i := range r.Diagnoses {
		d := &r.Diagnoses[i]
		d.Title, d.Cause, d.Evidence[0].Text = long, long, long
		d.Fixes = append([]report.Fix{{Do: long, Run: []string{"pip install " + strings.Repeat("x", 100), "second"}}}, d.Fixes...)
	}
	for _, logs := range []string{"", "train.log", strings.Repeat("/very/long/path", 20)} {
		for _, width := range []int{80, 100, 120} {
			rows := 0
			for row := range strings.Lines(Short(r, Style{Width: width, Logs: logs})) {
				rows += 1 + (ansi.StringWidth(strings.TrimSuffix(row, "\n"))-1)/width
			}
			if rows > allRows {
				t.Errorf("%d rows of %d columns:\n%s", rows, width, Short(r, Style{Width: width, Logs: logs}))
			}
		}
	}
}

func TestJSONHasNoNullLists(t *testing.T) {
	empty, err := JSON(&report.Report{Diagnoses: []report.Diagnosis{{Fixes: make([]report.Fix, 1), Consequences: make([]report.Consequence, 1), Backends: make([]report.Backend, 1)}}})
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(empty, &tree); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(empty), "null"); got != 1 || !strings.Contains(string(empty), `"rank": null`) {
		t.Errorf("only rank may be null:\n%s", empty)
	}
	none, err := JSON(&report.Report{})
	if err != nil || !strings.Contains(string(none), `"diagnoses": []`) {
		t.Errorf("%v:\n%s", err, none)
	}
}

func TestTextKeepsToItsWidth(t *testing.T) {
	report := full()
	report.Diagnoses[0].Fixes, report.Diagnoses[0].Missing, report.Diagnoses[0].References = nil, nil, nil
	report.Wrong = "" // commands and links are never broken
	for _, width := range []int{50, 72, 100} {
		for line := range strings.Lines(Text(report, Style{Width: width, Color: true})) {
			if got := ansi.StringWidth(strings.TrimSuffix(line, "\n")); got > width {
				t.Errorf("%d columns where %d fit: %q", got, width, line)
			}
		}
	}
}

func TestTextObeysNoLog(t *testing.T) {
	report := full()
	report.Diagnoses[0].Evidence[0].Text = "a\x1b[2Jb\x1b]0;title\x07c\x9b31md\u202ee\r\x00f\xff"
	report.Diagnoses[0].Title = "t\x1b[31m\nnew line"
	got := Text(report, Style{})
	for _, r := range got {
		if r < ' ' && r != '\n' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\u202e' {
			t.Fatalf("control character %q in\n%q", r, got)
		}
	}
	if !strings.Contains(got, "t new line") {
		t.Errorf("title not on one line:\n%s", got)
	}
}

func TestColourChangesNoWord(t *testing.T) {
	if diff := cmp.Diff(Text(full(), Style{}), ansi.Strip(Text(full(), Style{Color: true}))); diff != "" {
		t.Error(diff)
	}
}

func TestRankList(t *testing.T) {
	for want, ranks := range map[string][]int{
		"rank 4":              {4},
		"ranks 0-3":           {0, 1, 2, 3},
		"ranks 0, 2-3, 9":     {0, 2, 3, 9},
		"ranks 0-1, 3-4, 100": {0, 1, 3, 4, 100},
	} {
		if got := rankList(ranks); got != want {
			t.Errorf("%v: %q, want %q", ranks, got, want)
		}
	}
}

func TestBackendsTellTheOutcome(t *testing.T) {
	used := "FusedAttention"
	for want, choice := range map[string]diagnosis.Choice{
		"te 2.3: FusedAttention is used":  {Selected: &used, Available: []string{used}},
		"te 2.3: available: A, B":         {Available: []string{"A", "B"}},
		"te 2.3: not decided":             {Backends: []report.Backend{{Name: "A", Verdict: "unknown"}}},
		"te 2.3: no backend is available": {Backends: []report.Backend{{Name: "A", Verdict: "disabled"}}},
	} {
		choice.Library, choice.Release = "te", "2.3"
		if got, _, _ := strings.Cut(Backends(choice, Style{}), "\n"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestEarlier: where earlier answers are is shown as a link; anything else that stands in its place is not shown.
func TestEarlier(t *testing.T) {
	page := "/reports/" + strings.Repeat("0", 40)
	r := full()
	r.Earlier = []string{"#12", page, "https://triage.example.org" + page, "javascript:alert(1)", "@everyone", "https://a.example/\"x", "#12)[x](http://evil.example"}
	html, err := HTML(r)
	if err != nil {
		t.Fatal(err)
	}
	for form, c := range map[string]struct{ text, want string }{
		"Markdown": {Markdown(r, 0), "> Earlier: #12, " + page + ", https://triage.example.org" + page + "\n"},
		"text":     {Text(r, Style{Width: 200}), "earlier: #12"},
		"page":     {string(html), `Earlier: #12 <a href="` + page + `"`},
	} {
		if !strings.Contains(c.text, c.want) {
			t.Errorf("%s: %q is missing in\n%s", form, c.want, c.text)
		}
		if strings.Contains(c.text, "alert") || strings.Contains(c.text, "everyone") || strings.Contains(c.text, "evil") || strings.Contains(c.text, "a.example") {
			t.Errorf("%s shows what is no address:\n%s", form, c.text)
		}
	}
}
