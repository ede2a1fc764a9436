package diagnosis

import (
	"maps"
	"slices"

	"github.com/gpu-triage/triage/matcher/flight"
	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/reading"
	"github.com/gpu-triage/triage/rules/signature"
)

// missingRank is which rank others wait for, by what the watchdogs of the ranks print when a collective times out, where the log has no
// better reason for that. Otherwise it is nil.
func (c *conclusion) missingRank(read *reading.Result, s situation) *finding {
	explained := func(e *signature.Entry) bool { return isOneOf(c.root, e.Explains) }
	if c.root == nil || len(c.root.matches) == 0 || !slices.ContainsFunc(askedAbout(read, signature.FlightFinding), explained) {
		return nil
	}
	statuses := make([]flight.Status, len(read.Collectives))
	for i, told := range read.Collectives {
		statuses[i] = told.Status
	}
	found := flight.CompareStatuses(statuses, c.ranks(s))
	if len(found) == 0 {
		return nil
	}
	el := comparedElement(read, signature.FlightFinding, found[0].Value())
	e := reading.NewEvent(len(read.Events))
	for _, f := range found {
		if f.Kind != found[0].Kind || f.Group != found[0].Group {
			continue
		}
		el.Line, el.Shows = showing(read.Collectives, f)
		el.Text = el.Line.Text
		line := el.Line
		line.Rank = f.Rank
		e.Occurred(read.Occurrence(line), reading.Chain{el}, never)
	}
	f := &finding{event: e, element: e.Chain.Head(), Occurrences: e.Occurrences(never)}
	f.matches, _ = weigh(read.Base, f.element, s)
	if len(f.matches) == 0 || !isOneOf(c.root, f.matches[0].signature.Explains) {
		return nil
	}
	return f
}

// maxRanks bounds what a line can say of the size of a job.
const maxRanks = 100000

// showing are the line of a rank that waits in what a finding is about, and what else shows it: where that rank stands, and the rank that
// the finding is about.
func showing(told []reading.Collective, f flight.Finding) (waits logline.Line, also []logline.Line) {
	for _, t := range told {
		if t.Waits == f.Collective && t.Rank != f.Rank && (waits.Number == 0 || t.Operation != "" && t.Line.Number < waits.Number) {
			waits = t.Line
		}
	}
	for _, t := range told {
		if t.Rank == f.Rank && len(also) < maxEvidence/2 {
			also = append(also, t.Line)
		}
	}
	return waits, also
}

// ranks are those that failures show and those of the launcher, if the log is a launcher's.
func (c *conclusion) ranks(s situation) []int {
	ranks := make(map[int]bool)
	size, _ := s.conditions.Value("world_size").Number()
	for _, f := range c.findings {
		for _, rank := range f.Ranks() {
			ranks[rank] = true
		}
		for _, el := range f.event.Chain {
			if el.Exception == nil {
				continue
			}
			for _, failure := range el.Exception.Failures {
				if failure.Rank != logline.NoRank {
					ranks[failure.Rank] = true
				}
				for rank := range min(int(size), maxRanks) {
					ranks[rank] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(ranks))
}
