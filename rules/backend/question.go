package backend

import (
	"cmp"
	"slices"

	"github.com/gpu-triage/triage/rules/condition"
)

// Bounds of what is asked: the values of a fact that are tried to tell how much it decides, and the facts that are named for one
// backend, since more than a few nobody answers.
const (
	maxTried     = 32
	maxQuestions = 6
)

// question is a fact that would decide about some backends.
type question struct {
	fact     int
	usual    bool    // nearly everyone passes the same
	decides  float64 // how many backends, on average over the fact's values
	backends [maxBackends]bool
}

// ask puts the facts that would decide what is open into a selection.
func (e *evaluation) ask(selection *Selection) {
	for _, q := range e.questions() {
		f := &e.library.facts[q.fact]
		selection.Missing = append(selection.Missing, MissingFact{f.Name, f.About + " decides which rules apply", cmp.Or(f.Ask, e.library.ask)})
		for i := range selection.Backends {
			b := &selection.Backends[i]
			if b.Verdict == Unknown && q.backends[i] && len(b.Missing) < maxQuestions {
				b.Missing = append(b.Missing, f.Name)
			}
		}
	}
}

// questions are the facts that would decide what is open: those on which calls differ before those that nearly everyone passes alike,
// the most deciding first. Where the release is open, nothing decides more than that.
func (e *evaluation) questions() []question {
	var questions []question
	d := e.decide()
	for v := range e.library.variants {
		if d.variants[v] != undecided {
			continue
		}
		for _, fact := range e.found.unknowns(v) {
			i := slices.IndexFunc(questions, func(q question) bool { return q.fact == fact })
			if i < 0 {
				i = len(questions)
				questions = append(questions, question{fact: fact, usual: e.library.facts[fact].usual.Known(), decides: e.decides(fact)})
			}
			questions[i].backends[e.library.variants[v].backend] = true
		}
	}
	slices.SortStableFunc(questions, func(a, b question) int {
		switch {
		case a.usual && !b.usual:
			return 1
		case b.usual && !a.usual:
			return -1
		}
		return cmp.Compare(b.decides, a.decides)
	})
	if len(e.releases) > 1 {
		version := question{fact: e.library.version}
		for i := range e.library.backends {
			version.backends[i] = true
		}
		questions = slices.Insert(questions, 0, version)
	}
	return questions
}

// decides is how many backends a fact decides, on average over its values.
func (e *evaluation) decides(fact int) float64 {
	values := e.found.representatives(fact)
	if len(values) == 0 || e.value(fact).Known() {
		return 0
	}
	values = values[:min(len(values), maxTried)]
	decided := 0
	for _, v := range values {
		e.set(fact, e.library.facts[fact].asRead(v))
		d := e.decide()
		for i := range e.library.backends {
			if d.backends[i] != undecided {
				decided++
			}
		}
	}
	e.set(fact, condition.Value{})
	return float64(decided) / float64(len(values))
}
