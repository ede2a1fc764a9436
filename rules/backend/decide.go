package backend

import (
	"github.com/gpu-triage/triage/rules/condition"
)

// Bounds of a library, so that a decision needs no allocation.
const (
	maxBackends = 8
	maxVariants = 16
	maxFacts    = 128
)

// verdict is an answer of three-valued logic about a backend, a variant or a rule.
type verdict int8

const (
	undecided verdict = iota
	off
	on
)

// decision is what the rules say in one situation: each backend's verdict, and the choice. A decision is a small value; comparing two
// tells whether they say the same.
type decision struct {
	backends [maxBackends]verdict
	variants [maxVariants]verdict
	chosen   int8 // backend, none or open
	used     int8 // variant of the chosen backend, or none
}

const (
	none int8 = -1
	open int8 = -2
)

// fires tells whether a rule takes its variants out: all of when and not all of requires. The answer is kept with the situation.
func (l *Library) fires(s *condition.Situation, r *rule, release int) verdict {
	if known := s.Fired[r.index]; known != 0 {
		return verdict(known - 1)
	}
	v := r.asked(s, release)
	s.Fired[r.index] = uint8(v) + 1
	return v
}

func (r *rule) asked(s *condition.Situation, release int) verdict {
	when, _ := r.when.at(release)
	met := all(s, when)
	if met == off {
		return off
	}
	requires, ok := r.requires.at(release)
	if !ok {
		return met
	}
	switch all(s, requires) {
	case on:
		return off
	case off:
		return met
	}
	return undecided
}

// all is Kleene's and over a list.
func all(s *condition.Situation, list []*condition.Expression) verdict {
	result := on
	for _, e := range list {
		v := e.Root.Eval(s)
		if v.State == condition.Unknown {
			result = undecided
		} else if !v.True() {
			return off
		}
	}
	return result
}

// left tells whether no rule before the given one took exactly this variant out.
func (l *Library) left(s *condition.Situation, v, before int) condition.Value {
	release := l.at(s)
	result := on
	for _, r := range l.rules[:before] {
		targets, ok := r.off.at(release)
		if whole, _ := r.whole.at(release); !ok || whole || !contains(targets, v) {
			continue
		}
		switch l.fires(s, r, release) {
		case on:
			return condition.FalseValue
		case undecided:
			result = undecided
		}
	}
	return result.value()
}

// passes tells whether no rule of a filter takes exactly this variant out.
func (l *Library) passes(s *condition.Situation, v, filter int) condition.Value {
	release := l.at(s)
	result := on
	for _, r := range l.releases[release].byVariant[v] {
		if whole, _ := r.whole.at(release); whole || r.filter != filter {
			continue
		}
		switch l.fires(s, r, release) {
		case on:
			return condition.FalseValue
		case undecided:
			result = undecided
		}
	}
	return result.value()
}

func (v verdict) value() condition.Value {
	switch v {
	case on:
		return condition.TrueValue
	case off:
		return condition.FalseValue
	}
	return condition.Value{}
}

func contains(list []int, item int) bool {
	for _, i := range list {
		if i == item {
			return true
		}
	}
	return false
}

// decide applies the rules of the situation's release.
func (l *Library) decide(s *condition.Situation) decision {
	var d decision
	release := l.at(s)
	for i := range l.variants {
		d.variants[i] = l.variant(s, release, i)
	}
	for i, b := range l.backends {
		d.backends[i] = anyOf(d.variants[b.first:b.last])
	}
	l.choose(s, release, &d)
	return d
}

// anyOf is Kleene's or.
func anyOf(variants []verdict) verdict {
	result := off
	for _, v := range variants {
		if v == on {
			return on
		}
		if v == undecided {
			result = undecided
		}
	}
	return result
}

// variant says whether one variant is left.
func (l *Library) variant(s *condition.Situation, release, i int) verdict {
	when, ok := l.variants[i].when.at(release)
	if !ok {
		return off
	}
	result := all(s, when)
	if result == off {
		return off
	}
	for _, r := range l.releases[release].byVariant[i] {
		switch l.fires(s, r, release) {
		case on:
			return off
		case undecided:
			result = undecided
		}
	}
	return result
}

// possible tells whether some backend is not surely out; it stops at the first.
func (l *Library) possible(s *condition.Situation) bool {
	release := l.at(s)
	for i := range l.variants {
		if l.variant(s, release, i) != off {
			return true
		}
	}
	return false
}

// choose names the backend that the library uses among those that are left.
func (l *Library) choose(s *condition.Situation, release int, d *decision) {
	d.chosen, d.used = none, none
	for i := range l.backends {
		if d.backends[i] == off {
			continue
		}
		if d.backends[i] == undecided {
			d.chosen, d.used = open, none
			return
		}
		switch l.yields(s, release, d, i) {
		case undecided:
			d.chosen, d.used = open, none
			return
		case on:
			continue
		}
		d.chosen, d.used = int8(i), l.use(d, i)
		return
	}
}

// yields tells whether a preference puts another available backend before this one.
func (l *Library) yields(s *condition.Situation, release int, d *decision, backend int) verdict {
	result := off
	for i := range l.prefer {
		p := &l.prefer[i]
		when, ok := p.when.at(release)
		behind := l.of(p.over, backend)
		if !ok || len(behind) == 0 {
			continue
		}
		over, first := l.inUse(d, behind), l.inUse(d, p.first)
		applies := all(s, when)
		switch {
		case over == off || first == off || applies == off:
		case over == on && first == on && applies == on:
			return on
		default:
			result = undecided
		}
	}
	return result
}

// of are those of some variants that belong to a backend; they stand side by side.
func (l *Library) of(variants []int, backend int) []int {
	first, last := 0, len(variants)
	for first < last && l.variants[variants[first]].backend != backend {
		first++
	}
	for last > first && l.variants[variants[last-1]].backend != backend {
		last--
	}
	return variants[first:last]
}

// inUse tells whether the backend of some of its variants would work in one of them.
func (l *Library) inUse(d *decision, variants []int) verdict {
	b := l.backends[l.variants[variants[0]].backend]
	if len(variants) == b.last-b.first {
		return anyOf(d.variants[b.first:b.last])
	}
	for v := b.first; v < b.last; v++ {
		switch d.variants[v] {
		case undecided:
			return undecided
		case on:
			if contains(variants, v) {
				return on
			}
			return off
		}
	}
	return off
}

// use is the variant that a backend works in: the first that is left.
func (l *Library) use(d *decision, backend int) int8 {
	b := l.backends[backend]
	for v := b.first; v < b.last; v++ {
		if d.variants[v] == on {
			return int8(v)
		}
		if d.variants[v] == undecided {
			return open
		}
	}
	return none
}
