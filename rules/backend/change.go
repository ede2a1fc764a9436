package backend

import (
	"cmp"
	"slices"
	"sort"

	"github.com/gpu-triage/triage/rules/condition"
)

// maxLevers bounds how many things one proposal changes.
const maxLevers = 4

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
	Run   []string
	Loses string
}

// Changes are the cheapest proposals under which a backend is available, at most limit of them. Each was proved by evaluating the rules,
// and none contains another: no proper part of a proposal would do. There are none when a backend is available already, when it is not
// certain that none is, and when no lever helps.
func (l *Library) Changes(facts map[string]condition.Value, limit int) []Change {
	s := l.situation(facts)
	candidates, _ := l.candidates(s)
	if len(candidates) != 1 || limit < 1 {
		return nil
	}
	l.setRelease(s, candidates[0])
	if l.possible(s) {
		return nil
	}
	return l.changes(s, limit)
}

func (l *Library) changes(s *condition.Situation, limit int) []Change {
	c := &search{library: l, origin: s, now: s.Clone(), release: l.at(s), limit: limit}
	for i := range l.levers {
		if options := l.levers[i].options(l, s); len(options) > 0 {
			c.levers = append(c.levers, pulled{lever: &l.levers[i], options: options})
		}
	}
	// The levers are sorted by cost, the release's first among equals, so that every set of them is met after its cheaper ones.
	sort.SliceStable(c.levers, func(i, j int) bool { return c.levers[i].least() < c.levers[j].least() })
	c.findObstacles()
	for _, set := range c.sets() {
		if len(c.found) == limit || len(c.found) > 0 && set.cost > 2*c.found[0].Cost {
			break
		}
		if c.reaches(set.levers) && !c.contained(set.levers) {
			c.try(set.levers)
		}
	}
	slices.SortStableFunc(c.found, func(a, b Change) int { return cmp.Compare(a.Cost, b.Cost) })
	return c.found
}

// any tells whether some variant of the first backends has such a verdict.
func (l *Library) any(s *condition.Situation, below int, such func(verdict) bool) bool {
	release := l.at(s)
	for i := range l.variants {
		if l.variants[i].backend < below && such(l.variant(s, release, i)) {
			return true
		}
	}
	return false
}

func surely(v verdict) bool { return v == on }

// propose puts the chosen values into words. What a lever implies goes into Set only where the rules would say no without it.
func (c *search) propose(order []int, chosen []option) Change {
	l := c.library
	d := l.decide(c.now)
	change := Change{Set: make(map[string]condition.Value), Implies: make(map[string]condition.Value)}
	if d.chosen >= 0 {
		change.Selected = l.backends[d.chosen].name
	}
	for depth, i := range order {
		p := c.levers[i]
		change.Set[l.facts[p.fact].Name] = chosen[depth].value
		change.Cost += chosen[depth].cost
		step := Step{Do: p.words(p.do, chosen[depth].value), Loses: p.words(p.loses, chosen[depth].value)}
		for _, command := range p.run {
			step.Run = append(step.Run, p.words(command, chosen[depth].value))
		}
		change.Steps = append(change.Steps, step)
	}
	for _, i := range order {
		for fact, value := range c.levers[i].implies {
			f := l.facts[fact]
			old := c.origin.Values[f.slot]
			if _, set := change.Set[f.Name]; set || !old.Known() || old.Equal(value) {
				continue
			}
			c.now.Assign(f.slot, old)
			c.now.Forget()
			if l.any(c.now, len(l.backends), surely) {
				change.Implies[f.Name] = value
			} else {
				change.Set[f.Name] = value
			}
			c.now.Assign(f.slot, value)
			c.now.Forget()
		}
	}
	return change
}
