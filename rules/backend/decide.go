package backend

import (
	"github.com/gpu-triage/triage/rules/condition"
)

// Bounds of a library, so that a decision needs no allocation.
const (
	maxBackends = 32
	maxVariants = 40
	maxFacts    = 128
)

// verdict is an answer of three-valued logic about a backend, a variant or a rule.
type verdict int8

const (
	undecided verdict = iota
	off
	on
)

// value is the verdict as conditions read it.
func (v verdict) value() condition.Value {
	if v == undecided {
		return condition.Value{}
	}
	return condition.BoolValue(v == on)
}

func certain(v verdict) bool { return v == on }

func possible(v verdict) bool { return v != off }

// decision is what the rules say in one situation: each backend's verdict, and the choice.
type decision struct {
	backends [maxBackends]verdict // works and is tried
	works    [maxBackends]verdict // no rule takes it out
	tried    [maxBackends]verdict // it stands in the order in which the library tries backends
	variants [maxVariants]verdict
	order    []int // the backends in the order in which they are tried; nil when that hangs on what is not known
	chosen   int8  // backend, none or open
	used     int8  // variant of the chosen backend, none or open
}

const (
	none int8 = -1
	open int8 = -2 // that hangs on what is not known
)

// fires tells whether a rule takes its variants out: all of when and not all of requires.
func (s *situation) fires(r *rule) verdict {
	if s.asked[r.index] {
		return s.said[r.index]
	}
	v := r.ask(s)
	s.said[r.index], s.asked[r.index], s.some = v, true, true
	return v
}

func (r *rule) ask(s *situation) verdict {
	when, _ := r.when.at(s.release)
	applies := s.all(when)
	if applies == off {
		return off
	}
	requires, ok := r.requires.at(s.release)
	if !ok {
		return applies
	}
	switch s.all(requires) {
	case on:
		return off
	case off:
		return applies
	}
	return undecided
}

// all is Kleene's and over a list.
func (s *situation) all(list []*condition.Expression) verdict {
	result := on
	for _, e := range list {
		v := e.Eval(s.Situation)
		if !v.Known() {
			result = undecided
		} else if !v.True() {
			return off
		}
	}
	return result
}

// variant says whether one variant is left.
func (s *situation) variant(i int) verdict {
	result := s.exists(i)
	if result == off {
		return off
	}
	for _, r := range s.library.releases[s.release].byVariant[i] {
		switch s.fires(r) {
		case on:
			return off
		case undecided:
			result = undecided
		}
	}
	return result
}

// exists tells whether a variant is there, before any rule takes it out.
func (s *situation) exists(variant int) verdict {
	when, ok := s.library.variants[variant].when.at(s.release)
	if !ok {
		return off
	}
	return s.all(when)
}

// spared tells whether none of the rules that such accepts takes exactly this variant out; rules about whole backends do not count.
func (s *situation) spared(variant int, such func(*rule) bool) condition.Value {
	result := on
	for _, r := range s.library.releases[s.release].byVariant[variant] {
		if off, _ := r.off.at(s.release); off.whole || !such(r) {
			continue
		}
		switch s.fires(r) {
		case on:
			return condition.BoolValue(false)
		case undecided:
			result = undecided
		}
	}
	return result.value()
}

// someVariant tells whether a variant of the first backends has such a verdict; it stops at the first.
func (s *situation) someVariant(ofFirst int, such func(verdict) bool) bool {
	for i := range s.library.variants {
		backend := s.library.variants[i].backend
		if s.only != all && s.only != backend {
			continue
		}
		if backend < ofFirst && such(s.variant(i)) {
			return true
		}
	}
	return false
}

// ends tells whether a backend with such a verdict is what the library ends up with: where it takes requests, that is the one that it is
// asked for, however many others would work.
func (s *situation) ends(such func(verdict) bool) bool {
	if s.only != all || !s.library.TakesRequests() {
		return s.someVariant(len(s.library.backends), such)
	}
	result := off
	switch d := s.decide(); {
	case d.chosen == open:
		result = undecided
	case d.chosen >= 0:
		result = on
	}
	return such(result)
}

// decide applies the rules of the situation's release.
func (s *situation) decide() decision {
	var d decision
	for i := range s.library.variants {
		d.variants[i] = s.variant(i)
	}
	s.weighOrders(&d)
	for i, b := range s.library.backends {
		d.works[i] = anyOf(d.variants[b.first:b.last])
		d.backends[i] = both(d.works[i], d.tried[i])
	}
	d.choose(s)
	return d
}

// both is Kleene's and.
func both(a, b verdict) verdict {
	switch {
	case a == off || b == off:
		return off
	case a == on && b == on:
		return on
	}
	return undecided
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
