package bots

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/bots/queue"
	"github.com/gpu-triage/triage/matcher/report"
)

// A report with more ranks than any job has is kept all the same, shortened, and the one that was handed over stays as it is.
func TestLargeReportIsKept(t *testing.T) {
	store, err := queue.Open(t.Context(), queue.Options{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	reports := Reports{Store: store}
	ranks := make([]int, 400_000)
	for i := range ranks {
		ranks[i] = i
	}
	large := report.Report{Schema: report.Schema, Diagnoses: []report.Diagnosis{
		{ID: "cause", Ranks: ranks, Consequences: []report.Consequence{{Title: "later", Ranks: ranks}}}, {ID: "other", Ranks: ranks}}}
	for i := range 2000 {
		large.Diagnoses[0].Evidence = append(large.Diagnoses[0].Evidence, report.Evidence{Text: strings.Repeat("x", 1000), Line: i})
	}
	id, err := reports.Save(t.Context(), "asked", large)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := reports.Get(t.Context(), id)
	if err != nil || len(kept.Diagnoses) == 0 || kept.Diagnoses[0].ID != "cause" || len(kept.Diagnoses[0].Ranks) == 0 || len(kept.Notes) == 0 {
		t.Errorf("kept: %.300s, %v", fmt.Sprint(kept), err)
	}
	if len(large.Diagnoses[0].Ranks) != len(ranks) || len(large.Diagnoses[0].Consequences[0].Ranks) != len(ranks) || len(large.Diagnoses) != 2 {
		t.Error("the report that was handed over is another one now")
	}
	if data, err := json.Marshal(bounded(large, maxRanks)); err != nil || strings.Count(string(data), ",399999") > 0 {
		t.Errorf("an answer lists all ranks: %v", err)
	}
}
