package example

import (
	"context"
	"sort"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/signature"
)

// Coverage is how well a family of signatures does over examples.
type Coverage struct {
	Family     string
	Signatures int
	Logs       int // whose root cause is of this family
	Found      int // of them, those whose root cause was named; a generic answer names none
	Claimed    int // diagnoses of this family that name a cause, for whatever log
	Right      int // of them, those that were right
	Unmatched  int // of Logs, those about which no more than a generic word was said, or nothing
	Silent     int // logs of the family's folder in which nothing failed
	Quiet      int // of them, those about which nothing was said
}

// Measure diagnoses the examples and counts by family; the last is the sum of all.
func Measure(ctx context.Context, engine *matcher.Engine, examples []Example) ([]Coverage, error) {
	families := make(map[string]*Coverage)
	of := func(s *signature.Signature) *Coverage {
		if families[s.Family] == nil {
			families[s.Family] = &Coverage{Family: s.Family}
		}
		return families[s.Family]
	}
	for _, s := range engine.Base().Signatures() {
		of(s).Signatures++
	}
	total := Coverage{Family: "all"}
	for _, example := range examples {
		answer, err := diagnose(ctx, engine, example)
		if err != nil {
			return nil, err
		}
		count(engine.Base(), example, answer, of, &total)
	}
	list := make([]Coverage, 0, len(families)+1)
	for _, c := range families {
		list = append(list, *c)
		total.Signatures += c.Signatures
		total.Logs, total.Found, total.Unmatched = total.Logs+c.Logs, total.Found+c.Found, total.Unmatched+c.Unmatched
		total.Claimed, total.Right = total.Claimed+c.Claimed, total.Right+c.Right
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Family < list[j].Family })
	return append(list, total), nil
}

// count adds one example to the families of what it should be and of what was said.
func count(base *rules.Base, example Example, answer report.Report, of func(*signature.Signature) *Coverage, total *Coverage) {
	var got *signature.Signature
	if len(answer.Diagnoses) > 0 {
		got = base.Signature(answer.Diagnoses[0].ID)
	}
	named := got != nil && !got.Role.LastResort()
	if named {
		of(got).Claimed++
	}
	if len(example.Want) == 0 {
		total.Silent++
		if got == nil {
			total.Quiet++
		}
		return
	}
	want := base.Signature(example.Want[0].ID)
	if want == nil {
		return
	}
	of(want).Logs++
	switch {
	case !named:
		of(want).Unmatched++
	case got == want:
		of(want).Found++
		of(got).Right++
	}
}
