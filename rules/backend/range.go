package backend

import (
	"fmt"
	"strings"

	"github.com/gpu-triage/triage/rules/condition"
)

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

func parseRange(text string) (versionRange, error) {
	var r versionRange
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
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
