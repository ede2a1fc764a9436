package backend

import (
	"cmp"
	"slices"

	"github.com/gpu-triage/triage/rules/condition"
)

// maxLevers bounds how many things one proposal changes.
const maxLevers = 4

// search looks for the cheapest proposals.
type search struct {
	library *Library
	origin  *situation
	now     *situation // with some levers pulled, and some facts unknown
	levers  []offer    // sorted by cost, so that every set of them is met after its cheaper ones
	limit   int
	found   []Change
	done    [][]int // the sets of levers of found
	below   int     // only backends before this one count

	here      []blockers   // of each variant, in the release at hand
	elsewhere [][]blockers // in the releases that can be moved to
}

// offer is a lever with what it offers here.
type offer struct {
	*lever
	options []option
}

// leverSet is a set of levers, by their places, with the least that pulling them costs.
type leverSet struct {
	levers []int
	cost   int
}

// pull is a set of levers in the order in which they are pulled, the release's first, with the values chosen for them.
type pull struct {
	levers []int
	chosen []option
}

func newSearch(s *situation, limit int) *search {
	c := &search{library: s.library, origin: s, now: s.clone(), limit: limit}
	for i := range c.library.levers {
		if options := c.library.levers[i].options(s); len(options) > 0 {
			c.levers = append(c.levers, offer{&c.library.levers[i], options})
		}
	}
	slices.SortStableFunc(c.levers, func(a, b offer) int { return a.least() - b.least() })
	c.findBlockers()
	return c
}

func (o offer) least() int {
	return slices.MinFunc(o.options, func(a, b option) int { return a.cost - b.cost }).cost
}

// movesRelease tells whether a lever changes the library's own release.
func (c *search) movesRelease(lever int) bool { return c.levers[lever].fact == c.library.version }

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

// containsFound tells whether a proposal was found that uses only some of these levers.
func (c *search) containsFound(levers []int) bool {
	return slices.ContainsFunc(c.done, func(found []int) bool {
		return !slices.ContainsFunc(found, func(i int) bool { return !slices.Contains(levers, i) })
	})
}

// try looks for values of a set of levers: for the first that give a backend and, where that is not the library's first choice, for those
// that give a better one.
func (c *search) try(levers []int) {
	c.below = len(c.library.backends)
	for c.below > 0 && len(c.found) < c.limit {
		p := c.loosen(levers)
		if !c.pull(p, 0) {
			return
		}
		if len(c.done) == 0 || !slices.Equal(c.done[len(c.done)-1], levers) {
			c.done = append(c.done, levers)
		}
		c.below = 0 // what a library was asked for, it is not to better
		if !c.library.TakesRequests() {
			d := c.now.decide()
			c.below = slices.Index(d.backends[:len(c.library.backends)], on)
		}
		c.found = append(c.found, c.propose(p))
	}
}

// reachesBackend tells whether a backend with such a verdict is reached that is better than those found before.
func (c *search) reachesBackend(such func(verdict) bool) bool {
	if c.library.TakesRequests() {
		return c.now.ends(such)
	}
	return c.now.someVariant(c.below, such)
}

// loosen makes everything unknown that the levers change: where three-valued logic says that no backend is possible then, no values
// will do, and the whole set is done in one evaluation. The release is to be pulled first, since it decides which rules are asked.
func (c *search) loosen(levers []int) pull {
	c.now.copyFrom(c.origin)
	for _, i := range levers {
		c.now.set(c.levers[i].fact, condition.Value{})
		for fact := range c.levers[i].implies {
			c.now.set(fact, condition.Value{})
		}
	}
	p := pull{levers: slices.Clone(levers), chosen: make([]option, len(levers))}
	slices.SortStableFunc(p.levers, func(a, b int) int {
		switch {
		case c.movesRelease(a) && !c.movesRelease(b):
			return -1
		case c.movesRelease(b) && !c.movesRelease(a):
			return 1
		}
		return 0
	})
	return p
}

// pull gives the levers from a place on values, one after the other, as long as a backend remains possible.
func (c *search) pull(p pull, from int) bool {
	moves := from < len(p.levers) && c.movesRelease(p.levers[from])
	if !moves && !c.reachesBackend(possible) {
		return false
	}
	if from == len(p.levers) {
		return c.reachesBackend(certain) && c.fits(p)
	}
	v := c.levers[p.levers[from]]
	before := c.now.clone()
	for _, o := range v.options {
		if moves && !c.moveTo(o.value, p.levers) {
			continue
		}
		c.now.set(v.fact, c.library.facts[v.fact].asRead(o.value))
		for fact, value := range v.implies {
			c.now.set(fact, value)
		}
		p.chosen[from] = o
		if c.pull(p, from+1) {
			return true
		}
		c.now.copyFrom(before)
	}
	return false
}

// moveTo moves to another release: what it asks for and the old one did not is what a caller passes who knows nothing of it, unless a
// lever of the set decides that. A release that does not know something that the caller uses is no choice.
func (c *search) moveTo(v condition.Value, levers []int) bool {
	version, _ := v.Version()
	to, ok := c.library.releaseOf(version)
	if !ok {
		return false
	}
	c.now.setRelease(to)
	for i := range c.library.facts {
		f := &c.library.facts[i]
		value := c.origin.value(i)
		switch {
		case f.preset == nil:
		case f.since > to && value.Known():
			if was := f.preset.Eval(c.origin.Situation); was.Known() && !was.Equal(value) {
				return false
			}
		case f.since <= to && f.since > c.origin.release && !value.Known():
			if !slices.ContainsFunc(levers, func(j int) bool { return c.levers[j].fact == i }) {
				c.now.set(i, f.preset.Eval(c.now.Situation))
			}
		}
	}
	return true
}

// fits tells whether nothing that the levers ask of the rest is false.
func (c *search) fits(p pull) bool {
	for _, i := range p.levers {
		for _, e := range c.levers[i].fits {
			if e.Eval(c.now.Situation).False() {
				return false
			}
		}
	}
	return true
}
