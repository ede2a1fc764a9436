package backend

import (
	"slices"

	"github.com/gpu-triage/triage/rules/condition"
)

// situation is what is known about one call of a library: the facts, and the release whose rules are asked. What the rules said is kept
// until a fact or the release changes.
type situation struct {
	*condition.Situation
	library *Library
	release int // index of the release
	only    int // the backend that is wanted, or all
	said    []verdict
	asked   []bool // by rule: said holds its verdict
	some    bool   // of asked are true

	lookedUp []bool // by fact: its value is from a table, for this release
}

// all says that any backend will do.
const all = -1

// newSituation is a situation in which nothing is known.
func (l *Library) newSituation() *situation {
	s := &situation{Situation: l.scope.NewSituation(), library: l, only: all, said: make([]verdict, len(l.rules)), asked: make([]bool, len(l.rules)), lookedUp: make([]bool, len(l.facts))}
	s.Context = s
	return s
}

// situation is the situation with these facts; names that the rules do not ask for are left out.
func (l *Library) situation(facts map[string]condition.Value) *situation {
	s := l.newSituation()
	for name, value := range facts {
		if i, ok := l.byName[name]; ok {
			s.set(i, l.facts[i].asRead(value))
		}
	}
	s.complete()
	return s
}

// situationOf finds the situation again in what a computed name is given.
func situationOf(s *condition.Situation) *situation { return s.Context.(*situation) }

// complete fills in facts that others hold, and those that are taken for granted.
func (s *situation) complete() {
	for i := range s.library.facts {
		f := &s.library.facts[i]
		switch {
		case s.value(i).Known():
		case f.same >= 0:
			s.set(i, s.value(f.same))
		default:
			s.set(i, f.assumed)
		}
	}
}

// value is what is known of a fact.
func (s *situation) value(fact int) condition.Value { return s.At(s.library.facts[fact].slot) }

// set says what a fact is.
func (s *situation) set(fact int, v condition.Value) {
	s.Put(s.library.facts[fact].slot, v)
	s.lookedUp[fact] = false
	if s.library.facts[fact].keys {
		s.lookUp()
	}
	s.askAgain()
}

// setRelease says whose rules are asked.
func (s *situation) setRelease(release int) {
	s.release = release
	s.lookUp()
	s.Recompute()
	s.askAgain()
}

// askAgain forgets what the rules said.
func (s *situation) askAgain() {
	if s.some {
		clear(s.asked)
		s.some = false
	}
}

// clone is a copy that can be changed on its own.
func (s *situation) clone() *situation {
	copied := *s
	copied.Situation = s.Clone()
	copied.Context = &copied
	copied.said, copied.asked = slices.Clone(s.said), slices.Clone(s.asked)
	copied.lookedUp = slices.Clone(s.lookedUp)
	return &copied
}

// copyFrom makes s what another situation of the library is.
func (s *situation) copyFrom(other *situation) {
	s.CopyFrom(other.Situation)
	s.release, s.some = other.release, other.some
	copy(s.said, other.said)
	copy(s.asked, other.asked)
	copy(s.lookedUp, other.lookedUp)
}

// clear makes everything unknown.
func (s *situation) clear() {
	s.Clear()
	clear(s.lookedUp)
	s.setRelease(0)
}
