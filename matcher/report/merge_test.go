package report_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules"
)

// Three machines: two saw only the peer go, one saw why; rank 5's machine saw the same a little later.
func mergeReports() []report.Report {
	one := func(id string, certainty report.Certainty, rank, line int) report.Diagnosis {
		return report.Diagnosis{
			ID: id, Title: "about " + id, Certainty: certainty, Rank: &rank, Ranks: []int{rank}, Count: 1,
			Evidence: []report.Evidence{{Source: "train.log", Line: line, Rank: &rank, Text: id}},
		}
	}
	torch := func(version string) report.FactValue {
		return report.FactValue{Name: "torch", Value: version, Source: "log", Where: "train.log:1"}
	}
	return []report.Report{
		{
			Diagnoses: []report.Diagnosis{one("torchrun-child-failed", report.Confirmed, 0, 40)}, Facts: []report.FactValue{torch("2.6.0")},
			Stats: report.Stats{Bytes: 10, Lines: 3, ElapsedMS: 5},
		},
		{Diagnoses: []report.Diagnosis{one("cuda-oom", report.Likely, 5, 7)}, Facts: []report.FactValue{torch("2.6.0")}, Notes: []string{"b", "a"}},
		{
			Diagnoses: []report.Diagnosis{one("cuda-oom", report.Confirmed, 3, 9)}, Facts: []report.FactValue{torch("2.5.1")}, Notes: []string{"a"},
			Stats: report.Stats{Bytes: 1, Incomplete: true},
		},
		{Diagnoses: []report.Diagnosis{one("torchrun-child-failed", report.Confirmed, 1, 30)}},
		{Diagnoses: []report.Diagnosis{one("python-exception", report.Unexplained, 2, 1)}},
		{},
	}
}

func shipped(t *testing.T) *rules.Base {
	t.Helper()
	base, err := rules.Load()
	if err != nil {
		t.Fatal(err)
	}
	return base
}

func TestMerge(t *testing.T) {
	got := report.Merge(shipped(t), mergeReports()...)
	root := got.Diagnoses[0]
	if root.ID != "cuda-oom" || root.Certainty != report.Confirmed || *root.Rank != 3 || root.Count != 2 || root.Evidence[0].Line != 9 {
		t.Errorf("the root cause is %+v", root)
	}
	if diff := cmp.Diff([]int{3, 5}, root.Ranks); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]report.Consequence{{Title: "about torchrun-child-failed", Line: 40, Ranks: []int{0, 1}}}, root.Consequences); diff != "" {
		t.Error(diff)
	}
	if len(got.Diagnoses) != 2 || got.Diagnoses[1].ID != "python-exception" {
		t.Errorf("%d diagnoses, then %s", len(got.Diagnoses), got.Diagnoses[1].ID)
	}
	if diff := cmp.Diff([]any{"2.5.1", "2.6.0"}, []any{got.Facts[0].Value, got.Facts[1].Value}); diff != "" || len(got.Facts) != 2 {
		t.Error(diff, got.Facts)
	}
	if diff := cmp.Diff([]string{"a", "b"}, got.Notes); diff != "" {
		t.Error(diff)
	}
	if want := (report.Stats{Bytes: 11, Lines: 3, ElapsedMS: 5, Incomplete: true}); got.Stats != want {
		t.Errorf("%+v, want %+v", got.Stats, want)
	}
}

// Without a machine that saw the cause, what is only a consequence is all there is to say.
func TestMergeKeepsLoneConsequences(t *testing.T) {
	reports := mergeReports()
	got := report.Merge(shipped(t), reports[0], reports[3])
	if len(got.Diagnoses) != 1 || got.Diagnoses[0].ID != "torchrun-child-failed" || got.Diagnoses[0].Count != 2 {
		t.Errorf("%+v", got.Diagnoses)
	}
}

// However the reports are grouped, the answer is the same.
func TestMergeIsAssociative(t *testing.T) {
	base, reports := shipped(t), mergeReports()
	whole := report.Merge(base, reports...)
	for cut := range len(reports) + 1 {
		left, right := report.Merge(base, reports[:cut]...), report.Merge(base, reports[cut:]...)
		if diff := cmp.Diff(whole, report.Merge(base, left, right), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("cut at %d:\n%s", cut, diff)
		}
		for inner := range cut + 1 {
			three := report.Merge(base, report.Merge(base, reports[:inner]...), report.Merge(base, reports[inner:cut]...), right)
			if diff := cmp.Diff(whole, three, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("cut at %d and %d:\n%s", inner, cut, diff)
			}
		}
	}
}
