package report

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/signature"
)

// Merge makes one answer out of the reports that several machines made of one job. The same failure on many ranks becomes one
// diagnosis; what is only a consequence by the knowledge base becomes one of the cause that another machine saw. Merging is
// associative: merged reports can be merged again.
//
// Reports hold no clock that two machines share, so that of several causes the surest comes first, then that of the lowest rank.
func Merge(base *rules.Base, reports ...Report) Report {
	e := merger{base}
	merged := Report{Schema: Schema, Diagnoses: []Diagnosis{}, Facts: []FactValue{}}
	byID := make(map[string]int)
	for _, report := range reports {
		for _, d := range report.Diagnoses {
			if i, met := byID[d.ID]; met {
				merged.Diagnoses[i] = e.join(merged.Diagnoses[i], d)
				continue
			}
			byID[d.ID] = len(merged.Diagnoses)
			merged.Diagnoses = append(merged.Diagnoses, d)
		}
		merged.Ranks = append(merged.Ranks, report.Ranks...)
		merged.Facts = append(merged.Facts, report.Facts...)
		merged.Notes = append(merged.Notes, report.Notes...)
		merged.Stats = merged.Stats.plus(report.Stats)
	}
	slices.SortStableFunc(merged.Diagnoses, e.before)
	merged.Diagnoses = e.demote(merged.Diagnoses)
	merged.Ranks = joinRanks(merged.Ranks)
	merged.Facts = distinct(merged.Facts)
	slices.Sort(merged.Notes)
	merged.Notes = slices.Compact(merged.Notes)
	return merged
}

// merger knows what role the signatures of reports have.
type merger struct{ base *rules.Base }

// before puts what is more likely the root cause first.
func (e merger) before(a, b Diagnosis) int {
	return cmp.Or(
		cmp.Compare(e.standing(a.ID), e.standing(b.ID)),
		cmp.Compare(certaintyOrder[a.Certainty], certaintyOrder[b.Certainty]),
		first(a, b))
}

var certaintyOrder = map[Certainty]int{Confirmed: 0, Likely: 1, Unexplained: 2}

// standing orders the roles from what explains to what is explained. A signature that this knowledge base does not have is taken for
// a cause.
func (e merger) standing(id string) int {
	s := e.base.Signature(id)
	switch {
	case s == nil || s.Role == signature.Cause:
		return 0
	case s.Role.LastResort(), s.Role == signature.Inferred:
		return 1
	}
	return 2
}

// first orders two diagnoses by rank and line. Those without a rank or evidence come last.
func first(a, b Diagnosis) int {
	rank := func(d Diagnosis) int {
		if d.Rank == nil {
			return int(^uint(0) >> 1)
		}
		return *d.Rank
	}
	line := func(d Diagnosis) Evidence {
		if len(d.Evidence) == 0 {
			return Evidence{}
		}
		return d.Evidence[0]
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(line(a).Source, line(b).Source), cmp.Compare(line(a).Line, line(b).Line))
}

// join makes one of two diagnoses of the same failure: in the words of the surer, or else of the first.
func (e merger) join(a, b Diagnosis) Diagnosis {
	if e.before(b, a) < 0 {
		a, b = b, a
	}
	a.Count = max(a.Count, 1) + max(b.Count, 1)
	a.Ranks = ranksOf(a.Ranks, b.Ranks)
	a.Consequences = joinConsequences(a.Consequences, b.Consequences)
	return a
}

func ranksOf(lists ...[]int) []int {
	ranks := slices.Concat(lists...)
	slices.Sort(ranks)
	return slices.Compact(append([]int{}, ranks...))
}

// demote turns diagnoses that are only consequences into consequences of the first, when that is a cause.
func (e merger) demote(all []Diagnosis) []Diagnosis {
	if len(all) == 0 || e.standing(all[0].ID) == 2 {
		return all
	}
	root := all[0]
	var kept []Diagnosis
	for _, d := range all[1:] {
		root.Consequences = joinConsequences(root.Consequences, d.Consequences)
		d.Consequences = []Consequence{}
		if e.standing(d.ID) < 2 {
			kept = append(kept, d)
			continue
		}
		c := Consequence{Title: d.Title, Ranks: d.Ranks}
		if len(d.Evidence) > 0 {
			c.Line = d.Evidence[0].Line
		}
		root.Consequences = joinConsequences(root.Consequences, []Consequence{c})
	}
	return append([]Diagnosis{root}, kept...)
}

// beforeByRank tells whether a's line is the one to show: that of the lowest rank, since lines of two machines do not compare.
func beforeByRank(a, b Consequence) bool {
	if len(a.Ranks) == 0 || len(b.Ranks) == 0 {
		return len(a.Ranks) > len(b.Ranks) || len(a.Ranks) == len(b.Ranks) && a.Line <= b.Line
	}
	return a.Ranks[0] < b.Ranks[0] || a.Ranks[0] == b.Ranks[0] && a.Line <= b.Line
}

// joinConsequences makes one of those with the same title.
func joinConsequences(lists ...[]Consequence) []Consequence {
	byTitle := make(map[string]Consequence)
	for _, c := range slices.Concat(lists...) {
		if have, met := byTitle[c.Title]; met {
			if beforeByRank(have, c) {
				c.Line = have.Line
			}
			c.Ranks = ranksOf(c.Ranks, have.Ranks)
		}
		byTitle[c.Title] = c
	}
	joined := slices.Collect(maps.Values(byTitle))
	slices.SortFunc(joined, func(a, b Consequence) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Title, b.Title)) })
	return append([]Consequence{}, joined...)
}

// distinct are the facts without those that say the same; machines that differ keep both.
func distinct(values []FactValue) []FactValue {
	slices.SortStableFunc(values, func(a, b FactValue) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), facts.Source(b.Source).Outranks(facts.Source(a.Source)),
			cmp.Compare(fmt.Sprint(a.Value), fmt.Sprint(b.Value)), cmp.Compare(a.Where, b.Where))
	})
	return slices.CompactFunc(values, func(a, b FactValue) bool {
		return a.Name == b.Name && a.Source == b.Source && reflect.DeepEqual(a.Value, b.Value)
	})
}

// plus adds up what was read; machines read at the same time.
func (s Stats) plus(t Stats) Stats {
	return Stats{
		Bytes: s.Bytes + t.Bytes, Lines: s.Lines + t.Lines, TruncatedLines: s.TruncatedLines + t.TruncatedLines,
		ElapsedMS: max(s.ElapsedMS, t.ElapsedMS), Incomplete: s.Incomplete || t.Incomplete,
	}
}
