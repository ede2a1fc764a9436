package backend

import (
	"math"
	"slices"

	"github.com/gpu-triage/triage/rules/condition"
)

// triable tells whether there are representatives of the fact's values.
func (f *libraryFact) triable(release int) bool {
	values, _ := f.values.at(release)
	return len(values) > 0 || f.Type == condition.Bool || f.Type == condition.Number || f.Type == condition.VersionType && len(f.compared.texts) > 0
}

// representatives are values that a fact can have, one for each way in which the rules can tell values apart.
func (e *exploration) representatives(fact int) []condition.Value {
	f := &e.library.facts[fact]
	listed, _ := f.values.at(e.release)
	if slices.ContainsFunc(listed, func(v condition.Value) bool { return !v.IsNil() }) {
		return listed // that is all there is
	}
	switch f.Type {
	case condition.Bool:
		return []condition.Value{condition.BoolValue(true), condition.BoolValue(false)}
	case condition.VersionType:
		return distinct(append(slices.Clone(listed), f.compared.versions()...))
	case condition.Number:
		return e.numbers(f)
	}
	return distinct(slices.Clone(listed))
}

// versions are the versions that the rules name, one between each two, one after the last and one before the first.
func (c *comparedWith) versions() []condition.Value {
	if len(c.texts) == 0 {
		return nil
	}
	values := slices.Clone(c.texts)
	for i, v := range c.texts {
		version, _ := v.Version()
		if next, ok := successor(version); ok && (i+1 == len(c.texts) || older(next, c.texts[i+1])) {
			values = append(values, condition.VersionValue(next))
		}
	}
	oldest, err := condition.ParseVersion("0")
	if err != nil { // it is a version
		return values
	}
	return append(values, condition.VersionValue(oldest))
}

func older(v condition.Version, than condition.Value) bool {
	other, _ := than.Version()
	return v.Compare(other) < 0
}

// successor is the next patch release: 9.14.1 for 9.14.0.
func successor(v condition.Version) (condition.Version, bool) {
	release := v.Release().String()
	end := len(release)
	for end > 0 && release[end-1] != '.' {
		end--
	}
	last := 0
	for _, digit := range release[end:] {
		last = last*10 + int(digit-'0')
		if last > 1<<30 {
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

// numbers are values around every constant that a number is compared with, and with every divisor between them.
func (e *exploration) numbers(f *libraryFact) []condition.Value {
	edges := slices.Concat(f.compared.numbers, e.otherNumbers())
	var tried []float64
	for _, edge := range edges {
		tried = append(tried, edge-1, edge, edge+1)
	}
	slices.Sort(edges)
	top := f.least
	if len(edges) > 0 {
		top = edges[len(edges)-1]
	}
	tried = append(tried, f.compared.multiples(edges, top)...)
	tried = append(tried, top+2, 1<<31)
	slices.Sort(tried)
	var values []condition.Value
	for _, n := range slices.Compact(tried) {
		if n >= f.least && n == math.Trunc(n) {
			values = append(values, condition.NumberValue(n))
		}
	}
	return values
}

// otherNumbers are the numbers of the situation, with which another may be compared, and their doubles.
func (e *exploration) otherNumbers() (edges []float64) {
	for i := range e.library.facts {
		f := &e.library.facts[i]
		if f.Type != condition.Number || len(f.values.parts) > 0 {
			continue
		}
		if n, ok := e.value(i).Number(); ok {
			edges = append(edges, n, 2*n)
		}
	}
	return edges
}

// multiples are numbers that divide in every way by the divisors: the first ones, and some between each two edges and beyond the top.
func (c *comparedWith) multiples(edges []float64, top float64) []float64 {
	const most = 64 // of the first ones
	step := 1.0
	if len(c.divisors) > 0 {
		step = slices.Min(c.divisors)
	}
	var found []float64
	for n := step; n <= top && n <= most*step; n += step {
		found = append(found, n)
	}
	for _, d := range c.divisors {
		beyond := (math.Floor(top/d) + 1) * d
		found = append(found, beyond, beyond+step, beyond+1)
		for i, edge := range edges {
			between := (math.Floor(edge/d) + 1) * d
			if i+1 < len(edges) && between < edges[i+1] {
				found = append(found, between, between+d)
			}
		}
	}
	return found
}
