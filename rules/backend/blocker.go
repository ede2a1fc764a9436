package backend

import (
	"slices"
)

// blockers are what rules one variant out: each holds the facts of one reason, so that a change helps only if it touches all of them.
type blockers []factSet

// findBlockers notes what rules the variants out in the situation as it is, in its release and in those that can be moved to.
func (c *search) findBlockers() {
	c.here = c.blockers()
	for i, o := range c.levers {
		if !c.movesRelease(i) {
			continue
		}
		for _, option := range o.options {
			c.now.copyFrom(c.origin)
			if c.moveTo(option.value, nil) {
				c.elsewhere = append(c.elsewhere, c.blockers())
			}
		}
	}
}

// blockers are those of each variant that the release has.
func (c *search) blockers() []blockers {
	s := c.now
	var all []blockers
	for i := range s.library.variants {
		when, exists := s.library.variants[i].when.at(s.release)
		if !exists {
			continue
		}
		var found blockers
		for _, e := range when {
			if e.Eval(s.Situation).False() {
				found = append(found, s.library.factsOf(e))
			}
		}
		for _, r := range s.library.releases[s.release].byVariant[i] {
			if s.fires(r) == on {
				found = append(found, r.reads)
			}
		}
		all = append(all, found)
	}
	return all
}

// reaches tells whether a set of levers touches everything that rules out some variant. One that does not cannot help.
func (c *search) reaches(levers []int) bool {
	var touched factSet
	for _, i := range levers {
		touched.add(c.levers[i].fact)
		for fact := range c.levers[i].implies {
			touched.add(fact)
		}
	}
	if !slices.ContainsFunc(levers, c.movesRelease) {
		return touches(touched, c.here)
	}
	return slices.ContainsFunc(c.elsewhere, func(there []blockers) bool { return touches(touched, there) })
}

// touches tells whether changed facts touch all blockers of some variant.
func touches(changed factSet, variants []blockers) bool {
	return slices.ContainsFunc(variants, func(b blockers) bool {
		return !slices.ContainsFunc(b, func(reason factSet) bool { return !reason.overlaps(changed) })
	})
}
