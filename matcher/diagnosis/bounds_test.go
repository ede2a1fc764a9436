package diagnosis_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/matchertest"
	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/backend"
	"github.com/gpu-triage/triage/rules/signature"
)

// Each bound that decides an answer has a case on each side of it.

// TestNearEnd: how far from the end an exception that only a generic signature knows ended the program.
func TestNearEnd(t *testing.T) {
	for _, c := range []struct {
		name, exception string
		after, most     int
	}{
		{"a traceback", valueError, 400, 400},
		{"a traceback", valueError, 401, 400},
		{"a last line alone", "ValueError: bad shard\n", 30, 30},
		{"a last line alone", "ValueError: bad shard\n", 31, 30},
	} {
		found := answer(t, matchertest.Story(t), c.exception+strings.Repeat("serving\n", c.after)).Diagnoses
		if got := len(found) > 0; got != (c.after <= c.most) {
			t.Errorf("%s, %d lines before the end: diagnosed is %v", c.name, c.after, got)
		}
	}
}

// TestAlternatives: beside a cause that is only likely, three others are shown.
func TestAlternatives(t *testing.T) {
	for causes, want := range map[int]int{3: 3, 4: 4, 5: 4} {
		files := fstest.MapFS{"facts.yaml": {Data: []byte("facts: [{name: torch, type: version}]\n")}}
		for i := range causes {
			files[fmt.Sprintf("cause-%d.yaml", i)] = &fstest.MapFile{Data: []byte(fmt.Sprintf("id: cause-%d\ntitle: x\nkeywords: [bad shard]\n"+
				"match: ['text contains \"bad shard\"']\nconfirm: ['torch >= \"2.0\"']\ncause: x\nfixes: [{do: x}]\nreferences: [x]\n", i))}
		}
		base, err := rules.Load(files)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(answer(t, matcher.New(base), valueError).Diagnoses); got != want {
			t.Errorf("of %d causes %d are shown, not %d", causes, got, want)
		}
	}
}

func TestShownBounds(t *testing.T) {
	engine := matchertest.Story(t)
	for lines, want := range map[int]int{11: 11, 12: 12, 13: 12} {
		// the frame of the user's code is quoted besides
		log := valueError + strings.Repeat("more of it\n", lines-1)
		if got := len(answer(t, engine, log).Diagnoses[0].Evidence) - 1; got != want {
			t.Errorf("of a message of %d lines %d are quoted, not %d", lines, got, want)
		}
	}
	for n, want := range map[int]bool{2000: true, 2001: false} {
		line := "CUDA out of memory" + strings.Repeat(".", n-len("CUDA out of memory"))
		if got := answer(t, engine, line+"\n").Diagnoses[0].Evidence[0].Text; (got == line) != want {
			t.Errorf("a line of %d bytes is quoted with %d", n, len(got))
		}
	}
}

func TestConsequenceBounds(t *testing.T) {
	engine := matchertest.Story(t)
	for n, want := range map[int]int{12: 12, 13: 12} {
		log := ""
		for i := range n {
			log += "Watchdog caught " + strings.Repeat("x", i+1) + "\n"
		}
		if got := len(answer(t, engine, log+oom).Diagnoses[0].Consequences); got != want {
			t.Errorf("of %d later failures %d are shown, not %d", n, got, want)
		}
	}
	for n, want := range map[int]bool{200: true, 201: false} {
		line := "ValueError: " + strings.Repeat("x", n-len("ValueError: "))
		found := answer(t, engine, oom+strings.Replace(valueError, "ValueError: bad shard", line, 1)).Diagnoses
		if got := found[0].Consequences[0].Title; (got == line) != want {
			t.Errorf("a title of %d bytes is cut to %d", n, len(got))
		}
	}
}

// TestChangeBound: a diagnosis shows three changes that would help where there are more.
func TestChangeBound(t *testing.T) {
	base, err := rules.Open()
	if err != nil {
		t.Fatal(err)
	}
	library, err := base.Library("transformer_engine")
	if err != nil {
		t.Fatal(err)
	}
	examples, err := base.Examples([]*signature.Signature{base.Signature("te-no-backend-mla-sm100")})
	if err != nil {
		t.Fatal(err)
	}
	job := matcher.New(base).Begin()
	if err := job.Read(context.Background(), "train.log", strings.NewReader(examples[0].Log)); err != nil {
		t.Fatal(err)
	}
	if n := len(job.Choose(library).Changes); n < 4 || n > backend.Proposals {
		t.Fatalf("this log has %d changes that would help: take one with four or five", n)
	}
	shown := 0
	for _, fix := range job.Report().Diagnoses[0].Fixes {
		if fix.Effect != "" {
			shown++
		}
	}
	if shown != 3 {
		t.Errorf("%d changes are shown, not 3", shown)
	}
}
