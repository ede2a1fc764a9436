package rules

import (
	"cmp"
	"slices"
	"sort"
)

// maxLevers bounds how many things one proposal changes.
const maxLevers = 4

// Change is a proposal: pull these levers, and the rules say that a backend is available.
type Change struct {
	Set      map[string]Value // fact -> new value
	Implies  map[string]Value // what the caller then passes, beyond Set
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
func (l *Library) Changes(facts map[string]Value, limit int) []Change {
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

func (l *Library) changes(s *Situation, limit int) []Change {
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

// search looks for the cheapest proposals.
type search struct {
	library *Library
	origin  *Situation
	now     *Situation // with some levers pulled, and some unknown
	release int
	levers  []pulled
	found   []Change
	done    [][]int // the sets of levers of found
	limit   int
	below   int // only backends before this one count

	here      []obstacle   // in the release at hand
	elsewhere [][]obstacle // in the releases that can be moved to
}

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
func (l *Library) factsOf(e *Expression) (facts factSet) {
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
	copy(c.now.values, c.origin.values)
	c.library.setRelease(c.now, c.release)
}

// loosen makes everything unknown that a lever changes.
func (c *search) loosen(lever int) {
	p := c.levers[lever]
	c.now.assign(c.library.facts[p.fact].slot, Value{})
	for fact := range p.implies {
		c.now.assign(c.library.facts[fact].slot, Value{})
	}
	c.now.forget()
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
	before := slices.Clone(c.now.values)
	for _, o := range p.options {
		if byRelease && !c.moveTo(o.value, order) {
			continue
		}
		c.now.assign(l.facts[p.fact].slot, l.normal(p.fact, o.value))
		for fact, value := range p.implies {
			c.now.assign(l.facts[fact].slot, value)
		}
		c.now.forget()
		chosen[depth] = o
		if c.descend(order, chosen, depth+1, version) {
			return true
		}
		copy(c.now.values, before)
		c.now.forget()
	}
	return false
}

// moveTo moves to another release: what it asks for and the old one did not is what a caller passes who knows nothing of it, unless a
// lever of the set decides that. A release that does not know something that the caller uses is no choice.
func (c *search) moveTo(v Value, order []int) bool {
	l := c.library
	version, _ := v.Version()
	to, ok := l.release(version)
	if !ok {
		return false
	}
	l.setRelease(c.now, to)
	for i := range l.facts {
		f := &l.facts[i]
		value := c.origin.values[f.slot]
		switch {
		case f.preset == nil:
		case f.since > to && value.Known():
			if was := f.preset.Eval(c.origin); was.Known() && !was.Equal(value) {
				return false
			}
		case f.since <= to && f.since > c.release && !value.Known():
			if !slices.ContainsFunc(order, func(j int) bool { return c.levers[j].fact == i }) {
				c.now.assign(f.slot, f.preset.Eval(c.now))
			}
		}
	}
	c.now.forget()
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

// any tells whether some variant of the first backends has such a verdict.
func (l *Library) any(s *Situation, below int, such func(verdict) bool) bool {
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
	change := Change{Set: make(map[string]Value), Implies: make(map[string]Value)}
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
			old := c.origin.values[f.slot]
			if _, set := change.Set[f.Name]; set || !old.Known() || old.Equal(value) {
				continue
			}
			c.now.assign(f.slot, old)
			c.now.forget()
			if l.any(c.now, len(l.backends), surely) {
				change.Implies[f.Name] = value
			} else {
				change.Set[f.Name] = value
			}
			c.now.assign(f.slot, value)
			c.now.forget()
		}
	}
	return change
}
