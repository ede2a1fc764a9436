package backend

import (
	"math"
	"slices"
	"sort"

	"github.com/gpu-triage/triage/rules/condition"
)

func (f *libraryFact) enumerable(release int) bool {
	values, _ := f.values.at(release)
	return len(values) > 0 || f.Type == condition.Bool || f.Type == condition.Number || f.Type == condition.VersionType && len(f.texts) > 0
}

// representatives are values that a fact can have, one for each way in which the rules can tell values apart.
func (l *Library) representatives(s *condition.Situation, fact int) []condition.Value {
	f := &l.facts[fact]
	listed, _ := f.values.at(l.at(s))
	values := slices.Clone(listed)
	if slices.ContainsFunc(listed, func(v condition.Value) bool { return !v.IsNil() }) {
		return listed // that is all there is
	}
	switch f.Type {
	case condition.Bool:
		return []condition.Value{condition.TrueValue, condition.FalseValue}
	case condition.VersionType:
		values = append(values, f.texts...)
		for i, v := range f.texts {
			version, _ := v.Version()
			if next, ok := successor(version); ok && (i+1 == len(f.texts) || older(next, f.texts[i+1])) {
				values = append(values, condition.VersionValue(next))
			}
		}
		if len(f.texts) > 0 {
			values = append(values, condition.VersionValue(condition.Version{Text: "0", Key: condition.SortKey("0")}))
		}
	case condition.Number:
		return l.numbers(s, f)
	}
	return distinct(values)
}

func older(v condition.Version, than condition.Value) bool {
	other, _ := than.Version()
	return v.Compare(other) < 0
}

// successor is the next patch release: 9.14.1 for 9.14.0.
func successor(v condition.Version) (condition.Version, bool) {
	release := v.Release().Text
	end := len(release)
	for end > 0 && release[end-1] != '.' {
		end--
	}
	last := 0
	for _, digit := range release[end:] {
		if last = last*10 + int(digit-'0'); last > 1<<30 {
			return condition.Version{}, false
		}
	}
	next, err := condition.ParseVersion(release[:end] + condition.NumberValue(float64(last+1)).String())
	return next, err == nil
}

func distinct(values []condition.Value) []condition.Value {
	var kept []condition.Value
	for _, v := range values {
		if !slices.ContainsFunc(kept, v.Equal) {
			kept = append(kept, v)
		}
	}
	return kept
}

// numbers are values around every constant that a number is compared with, and with every kind of divisibility between them.
func (l *Library) numbers(s *condition.Situation, f *libraryFact) []condition.Value {
	edges := slices.Clone(f.numbers)
	for i := range l.facts { // it may be compared with other numbers of the situation
		if v := s.Values[l.facts[i].slot]; l.facts[i].Type == condition.Number && len(l.facts[i].values.parts) == 0 && v.State == condition.Present {
			edges = append(edges, v.Number, 2*v.Number)
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
	var values []condition.Value
	for _, n := range slices.Compact(tried) {
		if n >= f.least && n == math.Trunc(n) {
			values = append(values, condition.NumberValue(n))
		}
	}
	return values
}
