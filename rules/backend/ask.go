package backend

import (
	"cmp"
	"slices"

	"github.com/gpu-triage/triage/rules/condition"
)

// question is a fact that would decide about some backends.
type question struct {
	fact     int
	usual    bool // nearly everyone passes the same
	score    float64
	backends [maxBackends]bool
}

// deciding are the facts that would decide what is open: those on which calls differ before those that nearly everyone passes alike, the
// most deciding first.
func (l *Library) deciding(s *condition.Situation, candidates []int) []question {
	var questions []question
	l.setRelease(s, candidates[len(candidates)-1])
	d := l.decide(s)
	for v := range l.variants {
		if d.variants[v] != undecided {
			continue
		}
		for _, fact := range l.unknowns(s, v) {
			i := slices.IndexFunc(questions, func(q question) bool { return q.fact == fact })
			if i < 0 {
				i = len(questions)
				questions = append(questions, question{fact: fact, usual: len(l.facts[fact].usual) > 0, score: l.score(s, fact)})
			}
			questions[i].backends[l.variants[v].backend] = true
		}
	}
	slices.SortStableFunc(questions, func(a, b question) int {
		if a.usual != b.usual {
			return map[bool]int{false: -1, true: 1}[a.usual]
		}
		return cmp.Compare(b.score, a.score)
	})
	if len(candidates) > 1 {
		version := question{fact: l.byName[l.version]}
		for i := range l.backends {
			version.backends[i] = true
		}
		questions = slices.Insert(questions, 0, version)
	}
	return questions
}

func (l *Library) missing(fact int) MissingFact {
	f := l.facts[fact]
	return MissingFact{Name: f.Name, Why: f.About + " decides which rules apply", How: cmp.Or(f.Ask, l.Ask)}
}

// score is how many backends a fact decides, on average over its values.
func (l *Library) score(s *condition.Situation, fact int) float64 {
	values := l.representatives(s, fact)
	if len(values) == 0 || s.Values[l.facts[fact].slot].Known() {
		return 0
	}
	if len(values) > 32 {
		values = values[:32]
	}
	decided := 0
	for _, v := range values {
		s.Assign(l.facts[fact].slot, l.normal(fact, v))
		s.Forget()
		d := l.decide(s)
		for i := range l.backends {
			if d.backends[i] != undecided {
				decided++
			}
		}
	}
	s.Assign(l.facts[fact].slot, condition.Value{})
	s.Forget()
	return float64(decided) / float64(len(values))
}

// maxQuestions bounds the facts that are named for one backend; more than a few nobody answers.
const maxQuestions = 6

// ask puts the questions into a selection.
func (l *Library) ask(selection *Selection, questions []question) {
	for _, q := range questions {
		selection.Missing = append(selection.Missing, l.missing(q.fact))
		for i := range selection.Backends {
			b := &selection.Backends[i]
			if b.Verdict == Unknown && q.backends[i] && len(b.Missing) < maxQuestions {
				b.Missing = append(b.Missing, l.facts[q.fact].Name)
			}
		}
	}
}
