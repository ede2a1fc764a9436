package rules

// Bounds of a library, so that a decision needs no allocation.
const (
	maxBackends = 8
	maxVariants = 16
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

// fires tells whether a rule takes its variants out in a release: all of when and not all of requires.
func (r *rule) fires(s *Situation, release int) Value {
	when, _ := r.when.at(release)
	met := all(s, when)
	if met.False() {
		return falseValue
	}
	requires, ok := r.requires.at(release)
	if !ok {
		return met
	}
	held := all(s, requires)
	switch {
	case held.True():
		return falseValue
	case held.False() && met.True():
		return trueValue
	}
	return Value{}
}

// all is Kleene's and over a list.
func all(s *Situation, list []*Expression) Value {
	known := true
	for _, e := range list {
		v := e.root.eval(s)
		if !v.Known() {
			known = false
		} else if !v.True() {
			return falseValue
		}
	}
	if !known {
		return Value{}
	}
	return trueValue
}

// left tells whether no rule before the given one took exactly this variant out.
func (l *Library) left(s *Situation, v, before int) Value {
	release := l.at(s)
	known := true
	for _, r := range l.rules[:before] {
		targets, ok := r.off.at(release)
		if whole, _ := r.whole.at(release); !ok || whole || !contains(targets, v) {
			continue
		}
		if fired := s.at(r.slot); !fired.Known() {
			known = false
		} else if fired.True() {
			return falseValue
		}
	}
	if !known {
		return Value{}
	}
	return trueValue
}

// passes tells whether no rule of a filter takes exactly this variant out.
func (l *Library) passes(s *Situation, v, filter int) Value {
	release := l.at(s)
	known := true
	for _, r := range l.releases[release].byVariant[v] {
		if whole, _ := r.whole.at(release); whole || r.filter != filter {
			continue
		}
		if fired := s.at(r.slot); !fired.Known() {
			known = false
		} else if fired.True() {
			return falseValue
		}
	}
	if !known {
		return Value{}
	}
	return trueValue
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
func (l *Library) decide(s *Situation) decision {
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
func (l *Library) variant(s *Situation, release, i int) verdict {
	when, ok := l.variants[i].when.at(release)
	if !ok {
		return off
	}
	exists := all(s, when)
	if exists.False() {
		return off
	}
	known := exists.Known()
	for _, r := range l.releases[release].byVariant[i] {
		fired := s.at(r.slot)
		if !fired.Known() {
			known = false
		} else if fired.True() {
			return off
		}
	}
	if !known {
		return undecided
	}
	return on
}

// possible tells whether some backend is not surely out; it stops at the first.
func (l *Library) possible(s *Situation) bool {
	release := l.at(s)
	for i := range l.variants {
		if l.variant(s, release, i) != off {
			return true
		}
	}
	return false
}

// choose names the backend that the library uses among those that are left.
func (l *Library) choose(s *Situation, release int, d *decision) {
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
func (l *Library) yields(s *Situation, release int, d *decision, backend int) verdict {
	result := off
	for i := range l.prefer {
		p := &l.prefer[i]
		when, ok := p.when.at(release)
		if !ok || l.variants[p.over[0]].backend != backend {
			continue
		}
		over, first := l.inUse(d, p.over), l.inUse(d, p.first)
		applies := all(s, when)
		switch {
		case over == off || first == off || applies.False():
		case over == on && first == on && applies.True():
			return on
		default:
			result = undecided
		}
	}
	return result
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
