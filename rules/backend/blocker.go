package backend

import (
	"slices"

	"github.com/gpu-triage/triage/rules/condition"
)

// obstacle is what stands in the way of one variant: each of the sets holds the facts of something that rules it out, so that a change
// helps only if it touches all of them.
type obstacle []factSet

// factSet is a set of a library's facts, by their places.
type factSet [maxFacts / 64]uint64

func (f *factSet) add(fact int) { f[fact/64] |= 1 << (fact % 64) }

func (f factSet) meets(o factSet) bool {
	for i := range f {
		if f[i]&o[i] != 0 {
			return true
		}
	}
	return false
}

// findObstacles notes what rules the variants out in the situation as it is, in its release and in those that can be moved to.
func (c *search) findObstacles() {
	c.reset()
	c.here = c.obstacles()
	version := c.library.byName[c.library.version]
	for _, p := range c.levers {
		if p.fact != version {
			continue
		}
		for _, o := range p.options {
			if c.reset(); c.moveTo(o.value, nil) {
				c.elsewhere = append(c.elsewhere, c.obstacles())
			}
		}
	}
}

func (c *search) obstacles() []obstacle {
	l, release := c.library, c.library.at(c.now)
	var all []obstacle
	for i := range l.variants {
		when, exists := l.variants[i].when.at(release)
		if !exists {
			continue
		}
		var o obstacle
		for _, e := range when {
			if e.Eval(c.now).False() {
				o = append(o, l.factsOf(e))
			}
		}
		for _, r := range l.releases[release].byVariant[i] {
			if l.fires(c.now, r, release) == on {
				o = append(o, r.reads)
			}
		}
		all = append(all, o)
	}
	return all
}

// factsOf are the facts that an expression reads.
func (l *Library) factsOf(e *condition.Expression) (facts factSet) {
	for _, name := range e.Names(l.scope) {
		if i, ok := l.byName[name]; ok {
			facts.add(i)
		}
	}
	return facts
}

// reaches tells whether a set of levers touches everything that stands in the way of some variant. One that does not cannot help.
func (c *search) reaches(levers []int) bool {
	var touched factSet
	version := c.library.byName[c.library.version]
	moves := false
	for _, i := range levers {
		moves = moves || c.levers[i].fact == version
		touched.add(c.levers[i].fact)
		for fact := range c.levers[i].implies {
			touched.add(fact)
		}
	}
	if !moves {
		return touches(c.here, touched)
	}
	return slices.ContainsFunc(c.elsewhere, func(o []obstacle) bool { return touches(o, touched) })
}

func touches(obstacles []obstacle, touched factSet) bool {
	return slices.ContainsFunc(obstacles, func(o obstacle) bool {
		return !slices.ContainsFunc(o, func(f factSet) bool { return !f.meets(touched) })
	})
}
