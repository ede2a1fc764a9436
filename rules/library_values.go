package rules

import (
	"math"
	"slices"
	"sort"
)

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
			oldest, _ := ParseVersion("0") // it is one
			values = append(values, VersionValue(oldest))
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
