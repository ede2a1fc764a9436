package backend

import (
	"cmp"
	"slices"

	"github.com/gpu-triage/triage/rules/command"
	"github.com/gpu-triage/triage/rules/condition"
)

// Change is a proposal: pull these levers, and the rules say that a backend is available.
type Change struct {
	Set      map[string]condition.Value // fact -> new value
	Implies  map[string]condition.Value // what the caller then passes, beyond Set
	Cost     int
	Selected string // the backend that is used afterwards
	Steps    []Step
}

// Step is one lever of a Change, in words.
type Step struct {
	Do    string
	Run   []Command
	Loses string
}

// Command is a command with what it is written in.
type Command struct {
	Kind command.Kind
	Text string
}

// Proposals is how many changes are proposed to somebody who asks for a library's backends.
const Proposals = 5

// Changes are the cheapest proposals under which a backend is available, at most limit of them. Each was proved by evaluating the rules,
// and none contains another: no proper part of a proposal would do. There are none when a backend is available already, when it is not
// certain that none is, and when no lever helps.
func (l *Library) Changes(facts map[string]condition.Value, limit int) []Change {
	return changes(l.situation(facts), limit)
}

// ChangesFor is Changes that make one backend available, whatever others are.
func (l *Library) ChangesFor(backend string, facts map[string]condition.Value, limit int) []Change {
	s := l.situation(facts)
	s.only = l.backendNamed(backend)
	return changes(s, limit)
}

func changes(s *situation, limit int) []Change {
	candidates, _ := s.candidates()
	if len(candidates) != 1 || limit < 1 {
		return nil
	}
	s.setRelease(candidates[0])
	if s.ends(possible) {
		return nil
	}
	c := newSearch(s, limit)
	for _, set := range c.sets() {
		if len(c.found) == limit || len(c.found) > 0 && set.cost > 2*c.found[0].Cost {
			break
		}
		if c.reaches(set.levers) && !c.containsFound(set.levers) {
			c.try(set.levers)
		}
	}
	slices.SortStableFunc(c.found, func(a, b Change) int { return cmp.Compare(a.Cost, b.Cost) })
	return c.found
}

// propose puts the chosen values into words. What a lever implies goes into Set only where the rules would say no without it.
func (c *search) propose(p pull) Change {
	l := c.library
	change := Change{Set: make(map[string]condition.Value), Implies: make(map[string]condition.Value)}
	if d := c.now.decide(); d.chosen >= 0 {
		change.Selected = c.now.called(int(d.chosen))
	}
	for i, lever := range p.levers {
		v, chosen := c.levers[lever], p.chosen[i]
		change.Set[l.facts[v.fact].Name] = chosen.value
		change.Cost += chosen.cost
		change.Steps = append(change.Steps, v.step(chosen.value, c.origin))
	}
	for _, lever := range p.levers {
		for fact, value := range c.levers[lever].implies {
			f := l.facts[fact]
			old := c.origin.value(fact)
			if _, set := change.Set[f.Name]; set || !old.Known() || old.Equal(value) {
				continue
			}
			c.now.set(fact, old)
			if c.now.ends(certain) {
				change.Implies[f.Name] = value
			} else {
				change.Set[f.Name] = value
			}
			c.now.set(fact, value)
		}
	}
	return change
}
