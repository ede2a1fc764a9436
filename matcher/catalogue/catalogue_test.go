package catalogue

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/rulefile"
	"github.com/gpu-triage/triage/rules/signature"
)

func shipped(t *testing.T) *matcher.Engine {
	base, err := rules.Open(rules.Shipped())
	if err != nil {
		t.Fatal(err)
	}
	return matcher.New(base)
}

// A page reads well without a log: it says why and what to do, and leaves no place open. A part of all signatures is enough, for what is
// not filled from an example is named.
func TestPagesReadWell(t *testing.T) {
	engine := shipped(t)
	var some []*signature.Signature
	for i, s := range engine.Base().Signatures() {
		if i%12 == 0 {
			some = append(some, s)
		}
	}
	pages, err := pagesOf(context.Background(), engine, some)
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, p := range pages {
		if p.Role != signature.Noise && !p.Role.AboutRun() && p.Role != signature.Pace && (len(p.Why) == 0 || len(p.Fixes) == 0) {
			t.Errorf("%s: %d sentences say why, and there are %d fixes", p.ID, len(p.Why), len(p.Fixes))
		}
		texts := slices.Concat([]string{p.Title}, p.Why, p.Elsewhere)
		for _, f := range p.Fixes {
			texts = append(texts, f.Do)
		}
		for _, text := range texts {
			if strings.TrimSpace(text) == "" || strings.Contains(text, "[[") {
				t.Errorf("%s: a sentence with a hole: %q", p.ID, text)
			}
			if strings.Contains(text, "‹") {
				named++
			}
		}
	}
	if most := len(pages) / 5; named > most {
		t.Errorf("%d sentences on %d pages only name what a log would say, more than %d", named, len(pages), most)
	}
}

func TestOf(t *testing.T) {
	engine := shipped(t)
	p, err := Of(context.Background(), engine, "flash-attn-softcap-missing")
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Samples) == 0 || !strings.Contains(p.Samples[0].Shows, "missing 1 required positional") {
		t.Errorf("the samples are %v", p.Samples)
	}
	if !slices.ContainsFunc(p.Apart, func(a Alike) bool { return a.ID == "flash-attn-softcap-unexpected" }) {
		t.Errorf("told apart from %v", p.Apart)
	}
	if _, err := Of(context.Background(), engine, "cuda-oomm"); err == nil || !strings.Contains(err.Error(), "did you mean cuda-oom?") {
		t.Errorf("a misspelt id is answered by %v", err)
	}
}

// What no example shows is named, in sentences and in commands.
func TestWithoutExamples(t *testing.T) {
	engine := shipped(t)
	p, err := pageOf(context.Background(), engine, engine.Base().Signature("cuda-oom"), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"CUDA out of memory: ‹asked› were asked for, less is free of the GPU's memory, and an amount not shown is allocated by live tensors."}
	if diff := cmp.Diff(want, p.Why); diff != "" {
		t.Error(diff)
	}
}

func TestConditionsInWords(t *testing.T) {
	scope := shipped(t).Base().Scope
	for source, want := range map[string]string{
		`torch >= "2.6.0"`:           "2.6.0 or newer",
		`torch < "2.6.0"`:            "older than 2.6.0",
		`sm >= 90`:                   "90 or more",
		`flash_attn == nil`:          "absent",
		`flash_attn != nil`:          "known and there",
		`torch >= "2.6" or sm >= 90`: "",
		`"2.6" <= torch`:             "",
	} {
		var d rulefile.Decoder
		condition := scope.ReadCondition(&d, rulefile.Text{Value: source, Line: 1, Column: 1})
		if condition == nil {
			t.Fatal(d.Problems)
		}
		if _, is := inWords(condition); is != want {
			t.Errorf("%s is %q in words, not %q", source, is, want)
		}
	}
}
