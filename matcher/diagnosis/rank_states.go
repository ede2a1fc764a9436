package diagnosis

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/pace"
	"github.com/gpu-triage/triage/matcher/reading"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules/signature"
)

// maxRankStates bounds the ranks that an answer tells of.
const maxRankStates = 4096

// rankState is what is known of a rank, with when that was.
type rankState struct {
	report.RankState
	stepped, told logline.Line
}

// rankStates tell where each rank was at the end, for a job of which two ranks or more show something; else there are none.
func (c *conclusion) rankStates(read *reading.Result, s situation) []report.RankState {
	if c.root == nil || len(c.root.ByRank) > maxRankStates {
		return nil
	}
	known := make(map[int]*rankState)
	c.signsOfRanks(read, known)
	for _, last := range pace.LastSteps(read.Paces) {
		one := stateOf(known, last.Line.Rank, report.RankRan)
		one.stepped = last.Line
		one.stepped.Time = last.At
		one.Step = momentOf("step "+strconv.FormatFloat(last.Number, 'f', -1, 64), last.Line)
	}
	if len(known) < 2 || len(known) > maxRankStates {
		return nil
	}
	size, _ := s.conditions.Value("world_size").Number()
	for rank := range min(int(size), maxRankStates) {
		stateOf(known, rank, report.RankSilent)
	}
	for _, rank := range c.ranks(s) {
		if len(known) < maxRankStates {
			stateOf(known, rank, report.RankSilent)
		}
	}
	timed(known)
	var all []report.RankState
	for _, rank := range slices.Sorted(maps.Keys(known)) {
		all = append(all, known[rank].RankState)
	}
	return all
}

// signsOfRanks tells what failures and watchdogs show of the ranks. What says more of a rank is told first: that it failed, that it waited.
func (c *conclusion) signsOfRanks(read *reading.Result, known map[int]*rankState) {
	c.signs(known, c.root, c.stateAtRoot())
	for _, f := range c.findings {
		if !f.Handled && !f.machine && f != c.root && f.role() != signature.Consequence {
			c.signs(known, f, report.RankFailed)
		}
	}
	for _, told := range read.Collectives {
		if told.Waits > 0 && known[told.Rank] == nil {
			one := stateOf(known, told.Rank, report.RankWaited)
			one.told, one.Sign = told.Line, momentOf(fmt.Sprintf("collective %d timed out", told.Waits), told.Line)
		}
	}
	for _, f := range c.findings {
		if !f.Handled && !f.machine && f != c.root && f.role() == signature.Consequence {
			c.signs(known, f, report.RankAfter)
		}
	}
}

// stateAtRoot is the state of the ranks that show the root cause: where only the others show it, they are those that did not come.
func (c *conclusion) stateAtRoot() string {
	switch {
	case c.root.role() == signature.Consequence:
		return report.RankAfter
	case c.root.element.About == signature.FlightFinding:
		return report.RankMissing
	}
	return report.RankFailed
}

// signs gives each rank that shows a finding a state, unless it has one.
func (c *conclusion) signs(known map[int]*rankState, f *finding, state string) {
	for rank, o := range f.ByRank {
		if rank == logline.NoRank || known[rank] != nil {
			continue
		}
		one := stateOf(known, rank, state)
		one.Sign = momentOf(f.headline(), o.Line)
		if state != report.RankMissing { // else it is the line of one that waits
			one.told = o.Line
		}
	}
}

// stateOf is what is known of a rank; a new one has the state.
func stateOf(known map[int]*rankState, rank int, state string) *rankState {
	if known[rank] == nil {
		known[rank] = &rankState{RankState: report.RankState{Rank: rank, State: state}}
	}
	return known[rank]
}

func momentOf(text string, line logline.Line) *report.Moment {
	return &report.Moment{Text: text, Source: line.Source, Line: line.Number}
}

// timed tells when all moments were, if one clock tells it of each of them.
func timed(known map[int]*rankState) {
	var lines []logline.Line
	var moments []*report.Moment
	for _, one := range known {
		if one.Step != nil {
			lines, moments = append(lines, one.stepped), append(moments, one.Step)
		}
		if one.Sign != nil && one.State != report.RankMissing {
			lines, moments = append(lines, one.told), append(moments, one.Sign)
		}
	}
	var first time.Time
	for _, line := range lines {
		if line.Time.IsZero() || !logline.SameClock(line.Time, lines[0].Time) {
			return
		}
		if first.IsZero() || line.Time.Before(first) {
			first = line.Time
		}
	}
	for i, m := range moments {
		after := lines[i].Time.Sub(first).Seconds()
		m.At = &after
	}
}
