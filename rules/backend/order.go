package backend

import (
	"slices"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/rulefile"
)

// ordering is an order in which a library tries its backends in some situations. A backend that does not stand in it is not tried.
type ordering struct {
	when     ranged[[]*condition.Expression]
	backends []int
}

// orderEntry is the form of an ordering in a rule file. The first one that holds counts.
type orderEntry struct {
	Versions rulefile.Text  `yaml:"versions"`
	When     *rulefile.Node `yaml:"when"`
	Try      *rulefile.Node `yaml:"try"`
	Source   string         `yaml:"source"`
}

// orderLoader reads what a library takes: the backend that it was asked for, else the first that works of those that it tries.
type orderLoader struct{ *builder }

func (b orderLoader) compile() {
	l := b.library
	b.each(func(f libraryFile) {
		if f.Asks != nil {
			l.asked = byRelease(b.reader, f.Asks, b.all(), b.expression)
		}
		for _, entry := range f.Order {
			if entry.Try == nil || entry.Source == "" {
				b.Problem(entry.Versions.Line, entry.Versions.Column, "an order needs try: and source:")
				continue
			}
			l.orders = append(l.orders, ordering{b.conditionsByRelease(entry.When, b.rangeOf(entry.Versions)), b.backends(entry.Try)})
		}
	})
	for i := range l.backends {
		l.declared = append(l.declared, i)
	}
}

// backends reads a list of names of backends.
func (b orderLoader) backends(n *rulefile.Node) []int {
	var list []int
	for _, item := range n.Items() {
		name, _ := b.Text(item, "the name of a backend")
		i := b.library.backendNamed(name.Value)
		if i < 0 || slices.Contains(list, i) {
			b.Problem(item.Line, item.Column, "there is no backend %q, or it stands here twice", name.Value)
			continue
		}
		list = append(list, i)
	}
	return list
}

// backendNamed is the place of a backend, or -1.
func (l *Library) backendNamed(name string) int {
	return slices.IndexFunc(l.backends, func(b backend) bool { return b.name == name })
}

// TakesRequests tells whether a library takes the backend that it is asked for, whatever else would work.
func (l *Library) TakesRequests() bool { return len(l.asked.of) > 0 }

// weighOrders tells which backends are tried, and in which order.
func (s *situation) weighOrders(d *decision) {
	l := s.library
	if len(l.orders) == 0 {
		d.order = l.declared
		for i := range l.backends {
			d.tried[i] = on
		}
		return
	}
	var in [maxBackends]int
	orders, certain := 0, false
	for i := 0; i < len(l.orders) && !certain; i++ {
		when, ok := l.orders[i].when.at(s.release)
		if !ok {
			continue
		}
		applies := s.all(when)
		if applies == off {
			continue
		}
		orders++
		d.order, certain = l.orders[i].backends, applies == on
		for _, b := range d.order {
			in[b]++
		}
	}
	if orders != 1 || !certain {
		d.order = nil
	}
	for i := range in {
		switch {
		case in[i] == 0:
			d.tried[i] = off
		case in[i] == orders && certain:
			d.tried[i] = on
		default:
			d.tried[i] = undecided
		}
	}
}

// chooseAsked names the backend that the library was asked for; it returns false when it was asked for none.
func (d *decision) chooseAsked(s *situation) (asked bool) {
	expression, ok := s.library.asked.at(s.release)
	if !ok {
		return false
	}
	value := expression.Eval(s.Situation)
	if value.IsNil() {
		return false
	}
	if !value.Known() {
		d.chosen = open
		return true
	}
	i := s.library.backendNamed(value.String())
	if i < 0 {
		return true
	}
	switch d.works[i] {
	case on:
		d.chosen, d.used = int8(i), d.firstLeft(s.library.backends[i])
	case undecided:
		d.chosen = open
	}
	return true
}

// markIdle notes which backends are out of the question, so that nobody wants to know why they do not work.
func (s *situation) markIdle(selection *Selection) {
	d := s.decide()
	asked := ""
	if expression, ok := s.library.asked.at(s.release); ok {
		asked = expression.Eval(s.Situation).String()
	}
	for i, b := range s.library.backends {
		exists := slices.ContainsFunc(s.library.variants[b.first:b.last], func(v variant) bool { _, ok := v.when.at(s.release); return ok })
		selection.Backends[i].Idle = !exists || d.tried[i] == off && b.name != asked
	}
}

// orderUnknowns are the unknown facts that the order and the request hang on.
func (s *situation) orderUnknowns() (names []string) {
	if asked, ok := s.library.asked.at(s.release); ok {
		names = append(names, asked.Unknowns(s.Situation)...)
	}
	for i := range s.library.orders {
		when, _ := s.library.orders[i].when.at(s.release)
		for _, e := range when {
			names = append(names, e.Unknowns(s.Situation)...)
		}
	}
	return names
}
