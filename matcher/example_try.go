package matcher

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/gpu-triage/triage/rules"
)

// Try diagnoses an example and tells in what the answer differs from its verdict.
func (e *Engine) Try(ctx context.Context, example Example) (mistakes []string) {
	for _, id := range append(slices.Clone(example.Not), example.ids()...) {
		if e.base.Signature(id) == nil {
			mistakes = append(mistakes, "there is no signature "+id)
		}
	}
	report, err := e.diagnose(ctx, example)
	if err != nil {
		return append(mistakes, err.Error())
	}
	return append(mistakes, example.compare(report)...)
}

func (e *Engine) diagnose(ctx context.Context, example Example) (Report, error) {
	var known []Fact
	for name, text := range example.Facts {
		value, err := e.base.Vocabulary.Parse(name, text)
		if err != nil {
			return Report{}, err
		}
		known = append(known, Fact{Name: name, Value: value, Origin: FromUser})
	}
	reading := e.Begin()
	for _, log := range example.logs {
		if err := reading.Read(ctx, log.name, bytes.NewReader(log.content)); err != nil {
			return Report{}, err
		}
	}
	return reading.Report(known...), nil
}

func (e Example) ids() []string {
	ids := make([]string, len(e.Want))
	for i, w := range e.Want {
		ids[i] = w.ID
	}
	return ids
}

func (e Example) compare(report Report) (mistakes []string) {
	found := report.Diagnoses
	for _, d := range found {
		if slices.Contains(e.Not, d.ID) {
			mistakes = append(mistakes, fmt.Sprintf("%s is diagnosed (%s) and must not be", d.ID, d.Certainty))
		}
	}
	if len(e.Want) == 0 {
		for _, d := range found {
			mistakes = append(mistakes, fmt.Sprintf("nothing may be diagnosed, but %s is, from line %d", d.ID, d.Evidence[0].Line))
		}
		return mistakes
	}
	if len(found) == 0 {
		return append(mistakes, fmt.Sprintf("%s is not diagnosed, nothing is", e.Want[0].ID))
	}
	for i, want := range e.Want {
		if i >= len(found) {
			return append(mistakes, fmt.Sprintf("%s is not diagnosed", want.ID))
		}
		got := found[i]
		if got.ID != want.ID || got.Certainty != want.Certainty {
			mistakes = append(mistakes, fmt.Sprintf("%s %s is diagnosed instead of %s %s", got.ID, got.Certainty, want.ID, want.Certainty))
		} else if want.Line > 0 && got.Evidence[0].Line != want.Line {
			mistakes = append(mistakes, fmt.Sprintf("%s is found in line %d of the log, not in line %d", got.ID, got.Evidence[0].Line, want.Line))
		}
	}
	if rank := failedFirst(found[0]); e.Rank != NoRank && rank == NoRank {
		mistakes = append(mistakes, fmt.Sprintf("no rank is named as the first that failed, not %d", e.Rank))
	} else if e.Rank != NoRank && rank != e.Rank {
		mistakes = append(mistakes, fmt.Sprintf("the rank that failed first is %d, not %d", rank, e.Rank))
	}
	return mistakes
}

func failedFirst(d Diagnosis) int {
	if d.Rank == nil {
		return NoRank
	}
	return *d.Rank
}

// Uncovered tells which signatures lack an example in which they are the root cause, or a near miss. What is never the answer, noise
// and progress, needs only the latter, a generic one only the former, and what reads the pace neither.
func Uncovered(signatures []*rules.Signature, examples []Example) rules.Problems {
	shown, missed := make(map[string]bool), make(map[string]bool)
	for _, e := range examples {
		for _, id := range e.ids() {
			shown[id] = true
		}
		for _, id := range e.Not {
			missed[id] = true
		}
	}
	var problems rules.Problems
	for _, s := range signatures {
		if s.Role == rules.Pace {
			continue // reads lines on which others stand
		}
		at := s.Place
		if !shown[s.ID] && s.Role != rules.Noise && s.Role != rules.Progress {
			at.Message = "no example has " + s.ID + " as its answer"
			problems = append(problems, at)
		}
		if !missed[s.ID] && s.Role != rules.Generic {
			at.Message = "no example is a near miss of " + s.ID + ": one with another answer, or with not: [" + s.ID + "]"
			problems = append(problems, at)
		}
	}
	return problems
}
