package backend

import "slices"

// choose names the backend that the library uses among those that are left.
func (d *decision) choose(s *situation) {
	d.chosen, d.used = none, none
	if d.chooseAsked(s) {
		return
	}
	if d.order == nil {
		if slices.ContainsFunc(d.backends[:len(s.library.backends)], possible) {
			d.chosen = open
		}
		return
	}
	for _, i := range d.order {
		if d.backends[i] == off {
			continue
		}
		passedOver := undecided
		if d.backends[i] == on {
			passedOver = d.passedOver(s, i)
		}
		switch passedOver {
		case undecided:
			d.chosen = open
			return
		case off:
			d.chosen, d.used = int8(i), d.firstLeft(s.library.backends[i])
			return
		}
	}
}

// passedOver tells whether a preference puts another available backend before this one.
func (d *decision) passedOver(s *situation, backend int) verdict {
	l, result := s.library, off
	for i := range l.preferences {
		p := &l.preferences[i]
		when, ok := p.when.at(s.release)
		behind := l.variantsOf(backend, p.over)
		if !ok || len(behind) == 0 {
			continue
		}
		over, first := d.worksIn(l, behind), d.worksIn(l, p.first)
		applies := s.all(when)
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

// worksIn tells whether the backend of some of its variants would work in one of them.
func (d *decision) worksIn(l *Library, variants []int) verdict {
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

// firstLeft is the variant that a backend works in: the first that is left.
func (d *decision) firstLeft(b backend) int8 {
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
