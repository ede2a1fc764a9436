package backend

import (
	"cmp"
	"slices"
	"sort"

	"github.com/gpu-triage/triage/rules/condition"
)

// search looks for the cheapest proposals.
type search struct {
	library *Library
	origin  *condition.Situation
	now     *condition.Situation // with some levers pulled, and some unknown
	release int
	levers  []pulled
	found   []Change
	done    [][]int // the sets of levers of found
	limit   int
	below   int // only backends before this one count

	here      []obstacle   // in the release at hand
	elsewhere [][]obstacle // in the releases that can be moved to
}

// pulled is a lever with what it offers here.
type pulled struct {
	*lever
	options []option
}

func (p pulled) least() int {
	least := p.options[0].cost
	for _, o := range p.options {
		least = min(least, o.cost)
	}
	return least
}

type leverSet struct {
	levers []int
	cost   int
}

// sets are all sets of at most maxLevers levers, the cheapest first, of equal ones the smaller.
func (c *search) sets() []leverSet {
	var sets []leverSet
	var grow func(from int, levers []int, cost int)
	grow = func(from int, levers []int, cost int) {
		if len(levers) > 0 {
			sets = append(sets, leverSet{slices.Clone(levers), cost})
		}
		if len(levers) == maxLevers {
			return
		}
		for i := from; i < len(c.levers); i++ {
			if slices.ContainsFunc(levers, func(j int) bool { return c.levers[j].fact == c.levers[i].fact }) {
				continue // two levers on one fact
			}
			grow(i+1, append(levers, i), cost+c.levers[i].least())
		}
	}
	grow(0, nil, 0)
	slices.SortStableFunc(sets, func(a, b leverSet) int {
		return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(len(a.levers), len(b.levers)))
	})
	return sets
}

// contained tells whether a proposal was found that uses only some of these levers.
func (c *search) contained(levers []int) bool {
	return slices.ContainsFunc(c.done, func(found []int) bool {
		for _, i := range found {
			if !slices.Contains(levers, i) {
				return false
			}
		}
		return true
	})
}

// try looks for values of a set of levers: for the first that give a backend and, where that is not the library's first choice, for those
// that give a better one. It makes all of them unknown first: where three-valued logic says that no backend is possible then, no values
// will do, and the whole set is done in one evaluation.
func (c *search) try(levers []int) {
	c.below = len(c.library.backends)
	for c.below > 0 && len(c.found) < c.limit {
		order, chosen, ok := c.assignValues(levers)
		if !ok {
			return
		}
		if len(c.done) == 0 || !slices.Equal(c.done[len(c.done)-1], levers) {
			c.done = append(c.done, levers)
		}
		c.below = c.firstOn()
		c.found = append(c.found, c.propose(order, chosen))
	}
}

// firstOn is the first backend, in the library's order, that is surely available.
func (c *search) firstOn() int {
	d := c.library.decide(c.now)
	return slices.Index(d.backends[:len(c.library.backends)], on)
}

func (c *search) assignValues(levers []int) (order []int, chosen []option, ok bool) {
	c.reset()
	// The release comes first, since it decides which rules are asked.
	order = slices.Clone(levers)
	version := c.library.byName[c.library.version]
	sort.SliceStable(order, func(i, j int) bool { return c.levers[order[i]].fact == version && c.levers[order[j]].fact != version })
	for _, i := range order {
		c.loosen(i)
	}
	chosen = make([]option, len(order))
	return order, chosen, c.descend(order, chosen, 0, version)
}

func (c *search) reset() {
	copy(c.now.Values, c.origin.Values)
	c.library.setRelease(c.now, c.release)
}

// loosen makes everything unknown that a lever changes.
func (c *search) loosen(lever int) {
	p := c.levers[lever]
	c.now.Assign(c.library.facts[p.fact].slot, condition.Value{})
	for fact := range p.implies {
		c.now.Assign(c.library.facts[fact].slot, condition.Value{})
	}
	c.now.Forget()
}

// descend gives the levers values one after the other as long as a backend remains possible.
func (c *search) descend(order []int, chosen []option, depth, version int) bool {
	l := c.library
	byRelease := depth < len(order) && c.levers[order[depth]].fact == version
	if !byRelease && !l.any(c.now, c.below, func(v verdict) bool { return v != off }) {
		return false
	}
	if depth == len(order) {
		return l.any(c.now, c.below, surely) && c.fit(order)
	}
	p := c.levers[order[depth]]
	before := slices.Clone(c.now.Values)
	for _, o := range p.options {
		if byRelease && !c.moveTo(o.value, order) {
			continue
		}
		c.now.Assign(l.facts[p.fact].slot, l.normal(p.fact, o.value))
		for fact, value := range p.implies {
			c.now.Assign(l.facts[fact].slot, value)
		}
		c.now.Forget()
		chosen[depth] = o
		if c.descend(order, chosen, depth+1, version) {
			return true
		}
		copy(c.now.Values, before)
		c.now.Forget()
	}
	return false
}

// moveTo moves to another release: what it asks for and the old one did not is what a caller passes who knows nothing of it, unless a
// lever of the set decides that. A release that does not know something that the caller uses is no choice.
func (c *search) moveTo(v condition.Value, order []int) bool {
	l := c.library
	version, _ := v.Version()
	to, ok := l.release(version)
	if !ok {
		return false
	}
	l.setRelease(c.now, to)
	for i := range l.facts {
		f := &l.facts[i]
		value := c.origin.Values[f.slot]
		switch {
		case f.preset == nil:
		case f.since > to && value.Known():
			if was := f.preset.Eval(c.origin); was.Known() && !was.Equal(value) {
				return false
			}
		case f.since <= to && f.since > c.release && !value.Known():
			if !slices.ContainsFunc(order, func(j int) bool { return c.levers[j].fact == i }) {
				c.now.Assign(f.slot, f.preset.Eval(c.now))
			}
		}
	}
	c.now.Forget()
	return true
}

func (c *search) fit(order []int) bool {
	for _, i := range order {
		for _, e := range c.levers[i].fits {
			if e.Eval(c.now).False() {
				return false
			}
		}
	}
	return true
}
