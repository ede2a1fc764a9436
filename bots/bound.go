package bots

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gpu-triage/triage/matcher/report"
)

// A log can name as many ranks as it likes, and a report lists them.
const (
	maxRanks  = 20_000 // that one list of an answer has
	fewRanks  = 100    // that it has when a report is too large to be kept
	fewOthers = 20     // consequences and lines of evidence, then
)

// bounded is a report whose lists of ranks have at most so many.
func bounded(answer report.Report, most int) report.Report {
	named := len(answer.Ranks)
	answer.Ranks = first(answer.Ranks, most)
	answer.Diagnoses = slices.Clone(answer.Diagnoses)
	for i := range answer.Diagnoses {
		d := &answer.Diagnoses[i]
		named = max(named, len(d.Ranks))
		d.Ranks = first(d.Ranks, most)
		d.Consequences = slices.Clone(d.Consequences)
		for j := range d.Consequences {
			d.Consequences[j].Ranks = first(d.Consequences[j].Ranks, most)
		}
	}
	if named > most {
		answer.Notes = append(slices.Clip(answer.Notes), fmt.Sprintf("Only the first %d of %d ranks are listed.", most, named))
	}
	return answer
}

func first[T any](list []T, most int) []T { return list[:min(len(list), most)] }

// fitted is a report as JSON of at most so many bytes. What is less important goes, a step at a time.
func fitted(answer report.Report, most int) ([]byte, error) {
	data, err := json.Marshal(answer)
	if err != nil || len(data) <= most {
		return data, err
	}
	answer.Notes = append(slices.Clip(answer.Notes), "The report was too large to keep in full.")
	for _, step := range []func(){
		func() { answer.Facts, answer.Diagnoses = nil, first(answer.Diagnoses, 3) },
		func() { answer = bounded(answer, fewRanks) },
		func() {
			answer.Diagnoses = slices.Clone(first(answer.Diagnoses, 1))
			for i := range answer.Diagnoses {
				d := &answer.Diagnoses[i]
				d.Consequences, d.Evidence = first(d.Consequences, fewOthers), first(d.Evidence, fewOthers)
				d.Facts, d.Backends = nil, nil
			}
		},
	} {
		step()
		data, err = json.Marshal(answer)
		if err != nil || len(data) <= most {
			return data, err
		}
	}
	return nil, fmt.Errorf("a report of %d bytes is more than the %d that can be kept", len(data), most)
}
