package matcher

import (
	"sync"

	"github.com/gpu-triage/triage/matcher/diagnosis"
	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/matcher/pace"
	"github.com/gpu-triage/triage/matcher/prefilter"
	"github.com/gpu-triage/triage/matcher/reading"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/matcher/rootline"
	"github.com/gpu-triage/triage/matcher/scan"
	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/backend"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/release"
)

// Engine diagnoses logs with a knowledge base. It does not change and may be shared.
type Engine struct {
	base   *rules.Base
	filter *prefilter.Filter
	steps  *pace.StepReader
	roots  func() *rootline.Finder // got ready for the first log of which no cause is known
}

// New prepares an engine.
func New(base *rules.Base) *Engine {
	return &Engine{
		base: base, filter: prefilter.New(base), steps: pace.NewStepReader(base),
		roots: sync.OnceValue(func() *rootline.Finder { return rootline.New(base.Tools) }),
	}
}

// Base is the knowledge base that the engine diagnoses with.
func (e *Engine) Base() *rules.Base { return e.base }

// Literals are what a line must contain one of to matter by itself.
func (e *Engine) Literals() []scan.Literal { return e.filter.Literals() }

// Remarks are those about all rules, in the order of the signatures. Log is one in which next to nothing happens: what is found in it
// is read for nothing.
func (e *Engine) Remarks(log []byte) []prefilter.Remark { return e.filter.Remarks(log) }

// Watch prepares to read along while a job runs.
func (e *Engine) Watch() *pace.Watch { return pace.NewWatch(e.base, e.steps) }

// Merge makes one answer out of the reports that several machines made of one job.
func (e *Engine) Merge(reports ...report.Report) report.Report {
	return signed(report.Merge(e.base, reports...), e.base)
}

// signed is the answer with the versions of what it was made with.
func signed(answer report.Report, base *rules.Base) report.Report {
	answer.Program, answer.Knowledge = release.Program(), base.Version()
	return answer
}

// Begin starts the reading of one job's logs.
func (e *Engine) Begin() *Job { return &Job{reading.Begin(e.base, e.filter, e.steps, e.roots)} }

// Job is what has been read of one job's logs so far. It is used by one goroutine.
type Job struct{ *reading.Reading }

// Report is the answer so far. Known are the facts that are not from the log; calling it again with others answers what would be
// otherwise. No secret of a log or a fact is in it.
func (j *Job) Report(known ...facts.Fact) report.Report {
	found := j.Result()
	return signed(diagnosis.Of(found, known...), found.Base)
}

// Situation is that in which a signature fits what failed, nil when the answer has nothing of it. Its sentences can be filled from it.
func (j *Job) Situation(id string, known ...facts.Fact) *condition.Situation {
	return diagnosis.Situation(j.Result(), id, known...)
}

// Choose applies a library's backend rules to what the logs say and what else is known. At most backend.Proposals changes are
// proposed.
func (j *Job) Choose(library *backend.Library, known ...facts.Fact) diagnosis.Choice {
	return diagnosis.Choose(j.Result(), library, known...)
}

// Ambiguities are sentences about signatures of which nothing but their names tells which of them is the root cause.
func (j *Job) Ambiguities(known ...facts.Fact) []string {
	return diagnosis.Ambiguities(j.Result(), known...)
}
