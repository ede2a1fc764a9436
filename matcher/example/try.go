package example

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules/rulefile"
	"github.com/gpu-triage/triage/rules/signature"
)

// Try diagnoses an example and tells in what the answer differs from its verdict.
func Try(ctx context.Context, engine *matcher.Engine, example Example) (mistakes []string) {
	for _, id := range append(slices.Clone(example.Not), example.ids()...) {
		if engine.Base().Signature(id) == nil {
			mistakes = append(mistakes, "there is no signature "+id)
		}
	}
	job, known, err := read(ctx, engine, example)
	if err != nil {
		return append(mistakes, err.Error())
	}
	mistakes = append(mistakes, example.compare(job.Report(known...))...)
	return append(mistakes, job.Ambiguities(known...)...)
}

func diagnose(ctx context.Context, engine *matcher.Engine, example Example) (report.Report, error) {
	job, known, err := read(ctx, engine, example)
	if err != nil {
		return report.Report{}, err
	}
	return job.Report(known...), nil
}

// read reads an example. The facts are those that only its user knew.
func read(ctx context.Context, engine *matcher.Engine, example Example) (job *matcher.Job, known []facts.Fact, err error) {
	known, err = facts.Said(engine.Base().Vocabulary, example.Facts, "")
	if err != nil {
		return nil, nil, err
	}
	job = engine.Begin()
	for _, log := range example.logs {
		if err := job.Read(ctx, log.name, bytes.NewReader(log.content)); err != nil {
			return nil, nil, err
		}
	}
	return job, known, nil
}

func (e Example) ids() []string {
	ids := make([]string, len(e.Want))
	for i, w := range e.Want {
		ids[i] = w.ID
	}
	return ids
}

// compare tells what is wrong about an answer.
func (e Example) compare(answer report.Report) (mistakes []string) {
	found := answer.Diagnoses
	mistakes = e.forbidden(found)
	switch {
	case len(e.Want) == 0:
		for _, d := range found {
			mistakes = append(mistakes, fmt.Sprintf("nothing may be diagnosed, but %s is, from line %d", d.ID, d.Evidence[0].Line))
		}
		return mistakes
	case len(found) == 0:
		return append(mistakes, fmt.Sprintf("%s is not diagnosed, nothing is", e.Want[0].ID))
	}
	for _, d := range found {
		if d.Cause == "" || len(d.Fixes) == 0 {
			mistakes = append(mistakes, d.ID+" has no cause or no fix to show: what its sentences name is not known; give words as in {path|the file}, or put what can be left out in [[ ]]")
		}
	}
	for i, want := range e.Want {
		if i >= len(found) {
			return append(mistakes, fmt.Sprintf("%s is not diagnosed", want.ID))
		}
		mistakes = append(mistakes, want.differs(found[i])...)
	}
	return append(mistakes, e.otherRank(found[0])...)
}

// forbidden tells which of the signatures that must not be diagnosed are.
func (e Example) forbidden(found []report.Diagnosis) (mistakes []string) {
	for _, d := range found {
		for _, id := range append([]string{d.ID}, d.Read...) {
			if slices.Contains(e.Not, id) {
				mistakes = append(mistakes, fmt.Sprintf("%s is diagnosed (%s) and must not be", id, d.Certainty))
			}
		}
	}
	return mistakes
}

// differs tells in what a diagnosis is another one than is wanted.
func (w Want) differs(got report.Diagnosis) []string {
	switch {
	case got.ID != w.ID && !slices.Contains(got.Read, w.ID) || got.Certainty != w.Certainty:
		return []string{fmt.Sprintf("%s %s is diagnosed instead of %s %s", got.ID, got.Certainty, w.ID, w.Certainty)}
	case w.Line > 0 && got.Evidence[0].Line != w.Line:
		return []string{fmt.Sprintf("%s is found in line %d of the log, not in line %d", got.ID, got.Evidence[0].Line, w.Line)}
	}
	return nil
}

// otherRank tells when the rank that failed first is not the one that the example names.
func (e Example) otherRank(got report.Diagnosis) []string {
	rank := failedFirst(got)
	switch {
	case e.Rank == logline.NoRank || rank == e.Rank:
		return nil
	case rank == logline.NoRank:
		return []string{fmt.Sprintf("no rank is named as the first that failed, not %d", e.Rank)}
	}
	return []string{fmt.Sprintf("the rank that failed first is %d, not %d", rank, e.Rank)}
}

func failedFirst(d report.Diagnosis) int {
	if d.Rank == nil {
		return logline.NoRank
	}
	return *d.Rank
}

// Uncovered tells which signatures lack an example in which they are the root cause, or a near miss. What is never the answer, noise
// and progress, needs only the latter, a generic one only the former, and what reads the pace neither.
func Uncovered(signatures []*signature.Signature, examples []Example) rulefile.Problems {
	shown, missed := make(map[string]bool), make(map[string]bool)
	for _, e := range examples {
		for _, id := range e.ids() {
			shown[id] = true
		}
		for _, id := range e.Not {
			missed[id] = true
		}
	}
	var problems rulefile.Problems
	for _, s := range signatures {
		if s.Role == signature.Pace {
			continue // reads lines on which others stand
		}
		at := s.Place
		if !shown[s.ID] && s.Role != signature.Noise && !s.Role.AboutRun() {
			at.Message = "no example has " + s.ID + " as its answer"
			problems = append(problems, at)
		}
		if !missed[s.ID] && !s.Role.LastResort() {
			at.Message = "no example is a near miss of " + s.ID + ": one with another answer, or with not: [" + s.ID + "]"
			problems = append(problems, at)
		}
	}
	return problems
}
