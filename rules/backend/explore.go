package backend

import (
	"slices"

	"github.com/gpu-triage/triage/rules/condition"
)

// explorationBudget bounds how many situations are looked at before an answer counts as unknown.
const explorationBudget = 3000

// outcomes is the set of verdicts that were met.
type outcomes uint8

const (
	metOff outcomes = 1 << iota
	metOn
	metBoth = metOff | metOn
)

func (o outcomes) verdict() string {
	switch o {
	case metOff:
		return Disabled
	case metOn:
		return Allowed
	}
	return Unknown
}

// exploration finds what holds for all values of the unknown facts: it decides by three-valued logic, and where that leaves something
// open it tries the values of one unknown fact after the other, until everything open was met both ways.
type exploration struct {
	library  *Library
	budget   int
	backends [maxBackends]outcomes
	chosens  uint32 // set of chosen backends, bit 0 for none
	useds    uint32 // set of used variants, bit 0 for none
}

func (e *exploration) open() bool {
	_, decided := e.chosen()
	for i := range e.library.backends {
		if e.backends[i] == metBoth {
			return true
		}
	}
	return !decided
}

// chosen is the backend that is chosen in every case.
func (e *exploration) chosen() (int, bool) {
	for i := range maxBackends + 1 {
		if e.chosens == 1<<i {
			return i - 1, true
		}
	}
	return 0, false
}

// variant is the variant that is used in every case.
func (e *exploration) variant() (int, bool) {
	for i := range maxVariants {
		if e.useds == 1<<(i+1) {
			return i, true
		}
	}
	return 0, false
}

func (e *exploration) explore(s *condition.Situation, depth int) {
	e.budget--
	d := e.library.decide(s)
	left := e.note(d)
	if !left {
		return
	}
	fact := -1
	if e.budget > 0 && depth < 12 {
		fact = e.next(s, d)
	}
	var values []condition.Value
	if fact >= 0 && !s.Values[e.library.facts[fact].slot].Known() {
		values = e.library.representatives(s, fact)
	}
	if len(values) == 0 {
		e.giveUp(d)
		return
	}
	slot := e.library.facts[fact].slot
	for _, v := range values {
		s.Assign(slot, e.library.normal(fact, v))
		s.Forget()
		e.explore(s, depth+1)
	}
	s.Assign(slot, condition.Value{})
	s.Forget()
}

// note records what is decided and tells whether something is left that was not met both ways yet.
func (e *exploration) note(d decision) (left bool) {
	for i := range e.library.backends {
		switch d.backends[i] {
		case on:
			e.backends[i] |= metOn
		case off:
			e.backends[i] |= metOff
		default:
			left = left || e.backends[i] != metBoth
		}
	}
	if d.chosen == open || d.used == open {
		return left || e.chosens&(e.chosens-1) == 0 || e.useds&(e.useds-1) == 0
	}
	e.chosens |= 1 << (d.chosen + 1)
	e.useds |= 1 << (d.used + 1)
	return left
}

// giveUp counts what is open as met both ways.
func (e *exploration) giveUp(d decision) {
	for i := range e.library.backends {
		if d.backends[i] == undecided {
			e.backends[i] = metBoth
		}
	}
	if d.chosen == open || d.used == open {
		e.useds |= 3
		if d.chosen == open {
			e.chosens |= 3
		}
	}
}

// next is an unknown fact that something open depends on.
func (e *exploration) next(s *condition.Situation, d decision) int {
	for _, wide := range []bool{false, true} {
		for i, b := range e.library.backends {
			if !wide && (d.backends[i] != undecided || e.backends[i] == metBoth) {
				continue
			}
			for v := b.first; v < b.last; v++ {
				if d.variants[v] != undecided {
					continue
				}
				if facts := e.library.unknowns(s, v); len(facts) > 0 {
					return facts[0]
				}
			}
		}
	}
	release := e.library.at(s)
	for i := range e.library.prefer {
		when, _ := e.library.prefer[i].when.at(release)
		for _, c := range when {
			for _, name := range c.Unknowns(s) {
				if i, ok := e.library.byName[name]; ok {
					return i
				}
			}
		}
	}
	return -1
}

// unknowns are the facts that keep a variant undecided, those that can be tried out first.
func (l *Library) unknowns(s *condition.Situation, v int) []int {
	release := l.at(s)
	var nodes []*condition.Expression
	when, _ := l.variants[v].when.at(release)
	nodes = append(nodes, when...)
	for _, r := range l.releases[release].byVariant[v] {
		if l.fires(s, r, release) != undecided {
			continue
		}
		when, _ := r.when.at(release)
		requires, _ := r.requires.at(release)
		nodes = append(append(nodes, when...), requires...)
	}
	var facts, closed []int
	for _, e := range nodes {
		for _, name := range e.Unknowns(s) {
			i, ok := l.byName[name]
			if !ok || slices.Contains(facts, i) || slices.Contains(closed, i) {
				continue
			}
			if l.facts[i].enumerable(release) {
				facts = append(facts, i)
			} else {
				closed = append(closed, i)
			}
		}
	}
	if len(facts)+len(closed) == 0 {
		closed = l.halfKnown(s)
	}
	return append(facts, closed...)
}

// halfKnown are the objects of which some member is unknown.
func (l *Library) halfKnown(s *condition.Situation) (facts []int) {
	for i := range l.facts {
		for _, member := range l.facts[i].unknown {
			if v := s.Values[l.facts[i].slot]; v.State == condition.Present && !v.Member(member).Known() {
				facts = append(facts, i)
				break
			}
		}
	}
	return facts
}
