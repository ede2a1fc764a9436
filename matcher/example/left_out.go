package example

import (
	"context"
	"fmt"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules"
)

// LeftOut is what an example is diagnosed as without the signature that is its answer: as a failure that nobody knows yet.
type LeftOut struct {
	Example   Example
	Without   string
	Got       string // the signature that is diagnosed instead, "" when nothing is
	Certainty report.Certainty
}

// String tells what is said instead.
func (l LeftOut) String() string {
	if l.Got == "" {
		return fmt.Sprintf("%v: without %s, nothing is diagnosed", l.Example, l.Without)
	}
	return fmt.Sprintf("%v: without %s, %s is diagnosed, %s", l.Example, l.Without, l.Got, l.Certainty)
}

// LeaveOut diagnoses examples without a signature. They are those in which it is the root cause.
func LeaveOut(ctx context.Context, base *rules.Base, id string, examples []Example) (all []LeftOut, err error) {
	engine := matcher.New(base.Without(id))
	for _, e := range examples {
		root, err := rootOf(ctx, engine, e)
		if err != nil {
			return nil, err
		}
		one := LeftOut{Example: e, Without: id}
		if root != nil {
			one.Got, one.Certainty = root.ID, root.Certainty
		}
		all = append(all, one)
	}
	return all, nil
}
