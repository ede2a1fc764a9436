package slackbot

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher/report"
)

// textOf is what a message says, section by section.
func textOf(t *testing.T, b blocks) string {
	t.Helper()
	data, err := json.Marshal(b.list())
	if err != nil {
		t.Fatal(err)
	}
	var list []struct{ Text struct{ Text string } }
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, one := range list {
		out = append(out, one.Text.Text)
	}
	return strings.Join(out, "\n\n")
}

// asking is a likely answer with a dozen questions.
func asking() report.Diagnosis {
	d := report.Diagnosis{ID: "some-id", Title: "flash_attn_2_cuda is missing", Certainty: report.Likely,
		Cause:    "`flash_attn` calls __init__ of flash_attn_2_cuda with **kwargs in ~/my_env, and @here *is* _not_ alive.",
		Evidence: []report.Evidence{{Source: "train_0.log", Line: 7, Text: "ImportError: flash_attn_2_cuda"}},
		Fixes: []report.Fix{{Do: "Set NVTE_FLASH_ATTN and call torch.nn.functional.scaled_dot_product_attention.", Run: []string{"export NVTE_FLASH_ATTN=1 MY_*=`date`"},
			Effect: "FlashAttention becomes available", Loses: "determinism", Verified: true}}}
	for i := range 12 {
		d.Missing = append(d.Missing, report.Missing{Name: fmt.Sprintf("fact_%d", i), Why: "decides whether this is the cause", How: "pip show flash_attn"})
	}
	return d
}

func TestNamesCanBeCopied(t *testing.T) {
	b, _ := compose(report.Report{Diagnoses: []report.Diagnosis{asking()}}, "id", "", true)
	checkBlocks(t, b)
	text := textOf(t, b)
	if strings.Contains(strings.ReplaceAll(text, "@"+nothing+"here", ""), nothing) {
		t.Errorf("a character that nobody sees is copied along:\n%q", text)
	}
	for _, want := range []string{"flash_attn_2_cuda is missing", "NVTE_FLASH_ATTN=1 MY_*=`date`", "torch.nn.functional.scaled_dot_product_attention", "`__init__`", "`**kwargs`",
		"`~/my_env`", "train_0.log:7", "`*is*`", "`_not_`", " flash_attn_2_cuda with"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q cannot be copied from\n%s", want, text)
		}
	}
}

func TestOneQuestionFirst(t *testing.T) {
	for _, certainty := range []report.Certainty{report.Likely, report.Unexplained} {
		d := asking()
		d.Certainty = certainty
		b, whole := compose(report.Report{Diagnoses: []report.Diagnosis{d}}, "id", "", true)
		text := textOf(t, b)
		question, fix := strings.Index(text, "fact_0"), strings.Index(text, "*Fix*")
		if question < 0 || question > fix || strings.Contains(text, "fact_1") || whole {
			t.Errorf("%s: the question at %d, the fix at %d, whole %v:\n%s", certainty, question, fix, whole, text)
		}
	}
}

func TestFixTellsWhatItDoesAndTakes(t *testing.T) {
	d := asking()
	d.Fixes[0].Run = []string{strings.Repeat("long ", 2000)}
	for _, d := range []report.Diagnosis{asking(), d} {
		b, _ := compose(report.Report{Diagnoses: []report.Diagnosis{d}}, "id", "", true)
		checkBlocks(t, b)
		if text := textOf(t, b); !strings.Contains(text, "Verified: FlashAttention becomes available.") || !strings.Contains(text, "Lost by it: determinism.") {
			t.Errorf("the effect or the loss is missing:\n%s", text)
		}
	}
}

func TestWholeReportOnlyWhereThereIsOne(t *testing.T) {
	r := report.Report{Diagnoses: []report.Diagnosis{asking(), {ID: "other", Title: "Another one"}, {ID: "third", Title: "A third"}}}
	b, whole := compose(r, "id", "", true)
	if text := textOf(t, b); strings.Contains(text, "hole report") || !strings.Contains(text, "Another one") || !strings.Contains(text, "A third") || whole {
		t.Errorf("without a page:\n%s", text)
	}
	b, _ = compose(r, "id", "https://triage.example/reports/id", true)
	if text := textOf(t, b); !strings.Contains(text, "2 more in the whole report") {
		t.Errorf("with a page:\n%s", text)
	}
}
