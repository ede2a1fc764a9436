package backend

import (
	"slices"

	"github.com/gpu-triage/triage/rules/condition"
)

// Bounds of an exploration: how many situations are looked at before an answer counts as unknown, and how many facts are tried at once.
const (
	explorationBudget = 3000
	explorationDepth  = 12
)

// outcomes is the set of verdicts that a backend was given.
type outcomes uint8

const (
	wasOff outcomes = 1 << iota
	wasOn
	wasBoth = wasOff | wasOn
)

func (o outcomes) verdict() string {
	switch o {
	case wasOff:
		return Disabled
	case wasOn:
		return Allowed
	}
	return Unknown
}

// exploration finds what holds for all values of the unknown facts: it decides by three-valued logic, and where that leaves something
// open it tries the values of one unknown fact after the other, until everything open has been both.
type exploration struct {
	*situation
	budget     int
	backends   [maxBackends]outcomes
	everChosen uint64 // set of chosen backends, bit 0 for none
	everUsed   uint64 // set of used variants, bit 0 for none
}

// open tells whether something is not the same in every case.
func (e *exploration) open() bool {
	_, decided := e.chosen()
	return !decided || slices.Contains(e.backends[:len(e.library.backends)], wasBoth)
}

// chosen is the backend that is chosen in every case, -1 for none.
func (e *exploration) chosen() (backend int, ok bool) {
	for i := range maxBackends + 1 {
		if e.everChosen == 1<<i {
			return i - 1, true
		}
	}
	return 0, false
}

// variant is the variant that is used in every case.
func (e *exploration) variant() (variant int, ok bool) {
	for i := range maxVariants {
		if e.everUsed == 1<<(i+1) {
			return i, true
		}
	}
	return 0, false
}

func (e *exploration) explore(depth int) {
	e.budget--
	d := e.decide()
	if !e.note(d) {
		return
	}
	fact := -1
	if e.budget > 0 && depth < explorationDepth {
		fact = e.next(d)
	}
	var values []condition.Value
	if fact >= 0 && !e.value(fact).Known() {
		values = e.representatives(fact)
	}
	if len(values) == 0 {
		e.giveUp(d)
		return
	}
	for _, v := range values {
		e.set(fact, e.library.facts[fact].asRead(v))
		e.explore(depth + 1)
	}
	e.set(fact, condition.Value{})
}

// note records what is decided and tells whether something is left that has not been both yet.
func (e *exploration) note(d decision) (left bool) {
	for i := range e.library.backends {
		switch d.backends[i] {
		case on:
			e.backends[i] |= wasOn
		case off:
			e.backends[i] |= wasOff
		default:
			left = left || e.backends[i] != wasBoth
		}
	}
	if d.chosen == open || d.used == open {
		return left || atMostOne(e.everChosen) || atMostOne(e.everUsed)
	}
	e.everChosen |= 1 << (d.chosen + 1)
	e.everUsed |= 1 << (d.used + 1)
	return left
}

func atMostOne(set uint64) bool { return set&(set-1) == 0 }

// giveUp counts what is open as if it had been both.
func (e *exploration) giveUp(d decision) {
	const two = 3 // a set of two, which says that none is certain
	for i := range e.library.backends {
		if d.backends[i] == undecided {
			e.backends[i] = wasBoth
		}
	}
	if d.chosen == open || d.used == open {
		e.everUsed |= two
	}
	if d.chosen == open {
		e.everChosen |= two
	}
}

// next is an unknown fact that something open depends on, or -1: first of a backend that has not been both yet, then of any, then of
// the preferences.
func (e *exploration) next(d decision) int {
	notBoth := func(backend int) bool { return d.backends[backend] == undecided && e.backends[backend] != wasBoth }
	if fact := e.nextOf(d, notBoth); fact >= 0 {
		return fact
	}
	if fact := e.nextOf(d, func(int) bool { return true }); fact >= 0 {
		return fact
	}
	for i := range e.library.preferences {
		when, _ := e.library.preferences[i].when.at(e.release)
		for _, c := range when {
			for _, name := range c.Unknowns(e.Situation) {
				if fact, ok := e.library.byName[name]; ok {
					return fact
				}
			}
		}
	}
	for _, name := range e.orderUnknowns() {
		if fact, ok := e.library.byName[name]; ok {
			return fact
		}
	}
	return -1
}

// nextOf is next for the undecided variants of some backends.
func (e *exploration) nextOf(d decision, such func(backend int) bool) int {
	for v := range e.library.variants {
		if d.variants[v] != undecided || !such(e.library.variants[v].backend) {
			continue
		}
		if facts := e.unknowns(v); len(facts) > 0 {
			return facts[0]
		}
	}
	return -1
}

// unknowns are the facts that keep a variant undecided, those that can be tried out first.
func (e *exploration) unknowns(variant int) []int {
	l := e.library
	var triable, others []int
	for _, c := range e.openConditions(variant) {
		for _, name := range c.Unknowns(e.Situation) {
			i, ok := l.byName[name]
			if !ok || slices.Contains(triable, i) || slices.Contains(others, i) {
				continue
			}
			if l.facts[i].triable(e.release) {
				triable = append(triable, i)
			} else {
				others = append(others, i)
			}
		}
	}
	if len(triable)+len(others) == 0 {
		return e.halfKnown()
	}
	return append(triable, others...)
}

// openConditions are those of a variant and of the undecided rules about it.
func (e *exploration) openConditions(variant int) []*condition.Expression {
	when, _ := e.library.variants[variant].when.at(e.release)
	conditions := slices.Clone(when)
	for _, r := range e.library.releases[e.release].byVariant[variant] {
		if e.fires(r) != undecided {
			continue
		}
		when, _ := r.when.at(e.release)
		requires, _ := r.requires.at(e.release)
		conditions = append(append(conditions, when...), requires...)
	}
	return conditions
}

// halfKnown are the objects of which some member is unknown.
func (e *exploration) halfKnown() (facts []int) {
	for i := range e.library.facts {
		v := e.value(i)
		hasUnknown := func(member string) bool { return !v.Member(member).Known() }
		if v.Present() && slices.ContainsFunc(e.library.facts[i].unknown, hasUnknown) {
			facts = append(facts, i)
		}
	}
	return facts
}
