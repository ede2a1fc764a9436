package backend

import (
	"slices"
	"strings"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/rulefile"
)

// reader turns parts of rule files into conditions, values and sets of releases of a library.
type reader struct {
	*rulefile.Decoder
	library *Library
}

// all is the set of all releases.
func (r reader) all() []bool { return slices.Repeat([]bool{true}, len(r.library.releases)) }

// rangeOf is the set of the releases of a range.
func (r reader) rangeOf(t rulefile.Text) []bool {
	set := make([]bool, len(r.library.releases))
	releases, err := parseRange(t.Value)
	if err != nil {
		r.Problem(t.Line, t.Column, "%v", err)
	}
	for i := range set {
		set[i] = releases.has(r.library.releases[i].version)
	}
	return set
}

// byRelease reads a node that is either one thing for all releases of a set or a mapping from ranges to things.
func byRelease[T any](r reader, n *rulefile.Node, set []bool, read func(*rulefile.Node) T) ranged[T] {
	switch {
	case n == nil:
		return nowhere[T](len(set))
	case !n.IsMapping():
		return everywhere(set, read(n))
	}
	parts := nowhere[T](len(set))
	r.Pairs(n, func(key rulefile.Text, value *rulefile.Node) {
		parts.parts = append(parts.parts, read(value))
		for i, in := range r.rangeOf(key) {
			if !in || !set[i] {
				continue
			}
			if parts.of[i] >= 0 {
				r.Problem(value.Line, value.Column, "two entries hold for release %s", r.library.releases[i].version)
			}
			parts.of[i] = int8(len(parts.parts) - 1)
		}
	})
	return parts
}

// factValuesByRelease is byRelease for a mapping from facts to values, whose keys are names or, by release, ranges.
func (r reader) factValuesByRelease(n *rulefile.Node, set []bool) ranged[map[int]condition.Value] {
	ranges := false
	if n != nil && n.IsMapping() {
		r.Pairs(n, func(key rulefile.Text, _ *rulefile.Node) { ranges = ranges || isRange(key.Value) })
	}
	if n == nil || ranges {
		return byRelease(r, n, set, r.factValues)
	}
	return everywhere(set, r.factValues(n))
}

// conditions reads one condition or a list of them.
func (r reader) conditions(n *rulefile.Node) []*condition.Expression {
	if n == nil {
		return nil
	}
	var list []*condition.Expression
	for _, item := range n.Items() {
		if t, ok := r.Text(item, "a condition"); ok {
			if e := r.library.scope.ReadCondition(r.Decoder, t); e != nil {
				list = append(list, e)
			}
		}
	}
	return list
}

// conditionsByRelease reads conditions; without a node there are none, and what hangs on them holds in all releases of the set.
func (r reader) conditionsByRelease(n *rulefile.Node, releases []bool) ranged[[]*condition.Expression] {
	if n == nil {
		return everywhere[[]*condition.Expression](releases, nil)
	}
	return byRelease(r, n, releases, r.conditions)
}

func (r reader) expression(n *rulefile.Node) *condition.Expression {
	t, ok := r.Text(n, "an expression")
	if !ok {
		return nil
	}
	return r.library.scope.Read(r.Decoder, t)
}

func (r reader) text(n *rulefile.Node) string {
	t, _ := r.Text(n, "a text")
	return t.Value
}

// value reads one constant of a type.
func (r reader) value(n *rulefile.Node, want condition.Type) condition.Value {
	v, err := condition.FromJSON(r.Constant(n), want)
	if err != nil {
		r.Problem(n.Line, n.Column, "%v", err)
	}
	return v
}

// values reads a list of constants of one type.
func (r reader) values(n *rulefile.Node, want condition.Type) []condition.Value {
	var values []condition.Value
	for _, item := range n.Items() {
		values = append(values, r.value(item, want))
	}
	return values
}

// factValues reads a mapping from facts to their values.
func (r reader) factValues(n *rulefile.Node) map[int]condition.Value {
	values := make(map[int]condition.Value)
	if n == nil {
		return values
	}
	r.Pairs(n, func(key rulefile.Text, value *rulefile.Node) {
		fact, ok := r.library.byName[key.Value]
		if !ok {
			r.Problem(key.Line, key.Column, "%s is none of the library's facts", key.Value)
			return
		}
		values[fact] = r.value(value, r.library.facts[fact].Type)
	})
	return values
}

// targets reads names of backends and variants: FlashAttention, [FusedAttention/0, FusedAttention/1].
func (r reader) targets(n *rulefile.Node) targets {
	var t targets
	for _, item := range n.Items() {
		text, _ := r.Text(item, "the name of a backend")
		backend, name, chosen := strings.Cut(text.Value, "/")
		found := false
		for i, v := range r.library.variants {
			if r.library.backends[v.backend].name == backend && (!chosen || v.name == name) {
				t.variants, found = append(t.variants, i), true
			}
		}
		if !found {
			r.Problem(item.Line, item.Column, "there is no backend or variant %q", text.Value)
		}
		t.whole = !chosen
	}
	return t
}
