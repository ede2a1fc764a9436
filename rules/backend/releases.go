package backend

import (
	"fmt"
	"strings"

	"github.com/gpu-triage/triage/rules/condition"
)

// ranged is something that differs between releases: parts[of[i]] in release i, nothing when of[i] is -1.
type ranged[T any] struct {
	parts []T
	of    []int8
}

func (r ranged[T]) at(release int) (part T, ok bool) {
	if len(r.of) == 0 || r.of[release] < 0 {
		return part, false
	}
	return r.parts[r.of[release]], true
}

// nowhere is a ranged without parts, for a number of releases.
func nowhere[T any](releases int) ranged[T] {
	r := ranged[T]{of: make([]int8, releases)}
	for i := range r.of {
		r.of[i] = -1
	}
	return r
}

// everywhere is the same in all releases of a set.
func everywhere[T any](set []bool, part T) ranged[T] {
	r := nowhere[T](len(set))
	r.parts = []T{part}
	for i, in := range set {
		if in {
			r.of[i] = 0
		}
	}
	return r
}

// versionRange is a set of releases such as ">=1.10, <2.5". Empty, it is all of them.
type versionRange []bound

type bound struct {
	accept func(order int) bool
	edge   condition.Version
}

// rangeOperators in the order in which they are tried: a longer one before its beginning.
var rangeOperators = []struct {
	sign   string
	accept func(int) bool
}{
	{">=", func(o int) bool { return o >= 0 }}, {"<=", func(o int) bool { return o <= 0 }}, {"==", func(o int) bool { return o == 0 }},
	{"!=", func(o int) bool { return o != 0 }}, {">", func(o int) bool { return o > 0 }}, {"<", func(o int) bool { return o < 0 }},
}

// isRange tells whether a key is meant as a range of releases and not as a name.
func isRange(key string) bool { return strings.ContainsAny(key, "<>=!") }

func parseRange(text string) (versionRange, error) {
	var r versionRange
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		b, err := parseBound(part)
		if err != nil {
			return nil, err
		}
		r = append(r, b)
	}
	return r, nil
}

func parseBound(part string) (bound, error) {
	for _, operator := range rangeOperators {
		if rest, ok := strings.CutPrefix(part, operator.sign); ok {
			edge, err := condition.ParseVersion(rest)
			return bound{operator.accept, edge}, err
		}
	}
	return bound{}, fmt.Errorf(`%q is no range of releases; write it as ">=1.10, <2.5"`, part)
}

func (r versionRange) has(v condition.Version) bool {
	for _, b := range r {
		if !b.accept(v.Compare(b.edge)) {
			return false
		}
	}
	return true
}
