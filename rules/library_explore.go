package rules

import (
	"cmp"
	"math"
	"slices"
	"sort"
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

func (e *exploration) explore(s *Situation, depth int) {
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
	var values []Value
	if fact >= 0 && !s.values[e.library.facts[fact].slot].Known() {
		values = e.library.representatives(s, fact)
	}
	if len(values) == 0 {
		e.giveUp(d)
		return
	}
	slot := e.library.facts[fact].slot
	for _, v := range values {
		s.assign(slot, e.library.normal(fact, v))
		s.forget()
		e.explore(s, depth+1)
	}
	s.assign(slot, Value{})
	s.forget()
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
func (e *exploration) next(s *Situation, d decision) int {
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
func (l *Library) unknowns(s *Situation, v int) []int {
	release := l.at(s)
	var nodes []*Expression
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
func (l *Library) halfKnown(s *Situation) (facts []int) {
	for i := range l.facts {
		for _, member := range l.facts[i].unknown {
			if v := s.values[l.facts[i].slot]; v.state == present && !v.member(member).Known() {
				facts = append(facts, i)
				break
			}
		}
	}
	return facts
}

func (f *libraryFact) enumerable(release int) bool {
	values, _ := f.values.at(release)
	return len(values) > 0 || f.Type == Bool || f.Type == Number || f.Type == VersionType && len(f.texts) > 0
}

// representatives are values that a fact can have, one for each way in which the rules can tell values apart.
func (l *Library) representatives(s *Situation, fact int) []Value {
	f := &l.facts[fact]
	listed, _ := f.values.at(l.at(s))
	values := slices.Clone(listed)
	if slices.ContainsFunc(listed, func(v Value) bool { return !v.IsNil() }) {
		return listed // that is all there is
	}
	switch f.Type {
	case Bool:
		return []Value{trueValue, falseValue}
	case VersionType:
		values = append(values, f.texts...)
		for i, v := range f.texts {
			version, _ := v.Version()
			if next, ok := successor(version); ok && (i+1 == len(f.texts) || older(next, f.texts[i+1])) {
				values = append(values, VersionValue(next))
			}
		}
		if len(f.texts) > 0 {
			values = append(values, VersionValue(Version{text: "0", key: sortKey("0")}))
		}
	case Number:
		return l.numbers(s, f)
	}
	return distinct(values)
}

func older(v Version, than Value) bool {
	other, _ := than.Version()
	return v.Compare(other) < 0
}

// successor is the next patch release: 9.14.1 for 9.14.0.
func successor(v Version) (Version, bool) {
	release := v.Release().text
	end := len(release)
	for end > 0 && release[end-1] != '.' {
		end--
	}
	last := 0
	for _, digit := range release[end:] {
		if last = last*10 + int(digit-'0'); last > 1<<30 {
			return Version{}, false
		}
	}
	next, err := ParseVersion(release[:end] + NumberValue(float64(last+1)).String())
	return next, err == nil
}

func distinct(values []Value) []Value {
	var kept []Value
	for _, v := range values {
		if !slices.ContainsFunc(kept, v.Equal) {
			kept = append(kept, v)
		}
	}
	return kept
}

// numbers are values around every constant that a number is compared with, and with every kind of divisibility between them.
func (l *Library) numbers(s *Situation, f *libraryFact) []Value {
	edges := slices.Clone(f.numbers)
	for i := range l.facts { // it may be compared with other numbers of the situation
		if v := s.values[l.facts[i].slot]; l.facts[i].Type == Number && len(l.facts[i].values.parts) == 0 && v.state == present {
			edges = append(edges, v.number, 2*v.number)
		}
	}
	var tried []float64
	for _, edge := range edges {
		tried = append(tried, edge-1, edge, edge+1)
	}
	sort.Float64s(edges)
	top := f.least
	if len(edges) > 0 {
		top = edges[len(edges)-1]
	}
	step := 1.0
	if len(f.divides) > 0 {
		step = slices.Min(f.divides)
	}
	for n := step; n <= top && n <= 64*step; n += step {
		tried = append(tried, n)
	}
	for _, d := range f.divides {
		beyond := (math.Floor(top/d) + 1) * d
		tried = append(tried, beyond, beyond+step, beyond+1)
		for i, edge := range edges {
			if between := (math.Floor(edge/d) + 1) * d; i+1 < len(edges) && between < edges[i+1] {
				tried = append(tried, between, between+d)
			}
		}
	}
	tried = append(tried, top+2, 1<<31)
	sort.Float64s(tried)
	var values []Value
	for _, n := range slices.Compact(tried) {
		if n >= f.least && n == math.Trunc(n) {
			values = append(values, NumberValue(n))
		}
	}
	return values
}

// deciding are the facts that would decide what is open, the most deciding first.
func (l *Library) deciding(s *Situation, candidates []int) []MissingFact {
	type scored struct {
		fact  int
		score float64
	}
	var facts []scored
	for _, release := range candidates[max(0, len(candidates)-1):] {
		l.setRelease(s, release)
		d := l.decide(s)
		for v := range l.variants {
			if d.variants[v] != undecided {
				continue
			}
			for _, fact := range l.unknowns(s, v) {
				if !slices.ContainsFunc(facts, func(x scored) bool { return x.fact == fact }) {
					facts = append(facts, scored{fact, l.score(s, fact)})
				}
			}
		}
	}
	slices.SortStableFunc(facts, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	var missing []MissingFact
	if len(candidates) > 1 {
		missing = append(missing, l.missing(l.byName[l.version]))
	}
	for _, f := range facts {
		missing = append(missing, l.missing(f.fact))
	}
	return missing
}

func (l *Library) missing(fact int) MissingFact {
	f := l.facts[fact]
	return MissingFact{Name: f.Name, Why: f.About + " decides which rules apply", How: cmp.Or(f.Ask, l.Ask)}
}

// score is how many backends a fact decides, on average over its values.
func (l *Library) score(s *Situation, fact int) float64 {
	values := l.representatives(s, fact)
	if len(values) == 0 || s.values[l.facts[fact].slot].Known() {
		return 0
	}
	if len(values) > 32 {
		values = values[:32]
	}
	decided := 0
	for _, v := range values {
		s.assign(l.facts[fact].slot, l.normal(fact, v))
		s.forget()
		d := l.decide(s)
		for i := range l.backends {
			if d.backends[i] != undecided {
				decided++
			}
		}
	}
	s.assign(l.facts[fact].slot, Value{})
	s.forget()
	return float64(decided) / float64(len(values))
}
