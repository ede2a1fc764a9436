package report

import (
	"cmp"
	"slices"
)

// RankState is what the logs show of one rank of a job.
type RankState struct {
	Rank  int     `json:"rank"`
	State string  `json:"state"`          // one of the states
	Step  *Moment `json:"step,omitempty"` // its last step
	Sign  *Moment `json:"sign,omitempty"` // the first thing that tells the state
}

// The states of a rank.
const (
	RankFailed  = "failed"  // it shows the failure, or another cause
	RankMissing = "missing" // it did not come to the collective in which others wait
	RankWaited  = "waited"  // it waited in a collective
	RankAfter   = "after"   // it shows only what followed
	RankRan     = "ran"     // it shows steps, and no failure
	RankSilent  = "silent"  // no line of the logs names it
)

// Moment is a place in a log, and when that was.
type Moment struct {
	Text   string   `json:"text"` // "step 1200", or the title of what happened
	Source string   `json:"source"`
	Line   int      `json:"line"`
	At     *float64 `json:"at,omitempty"` // seconds after the earliest moment of the ranks, where one clock tells all
}

// joinRanks makes one list out of those of several reports. Of a rank in several of them the first tells; clocks of machines do not compare.
func joinRanks(lists ...[]RankState) []RankState {
	all := slices.Concat(lists...)
	slices.SortStableFunc(all, func(a, b RankState) int { return cmp.Compare(a.Rank, b.Rank) })
	all = slices.CompactFunc(all, func(a, b RankState) bool { return a.Rank == b.Rank })
	for i := range all {
		all[i].Step, all[i].Sign = all[i].Step.timeless(), all[i].Sign.timeless()
	}
	return all
}

func (m *Moment) timeless() *Moment {
	if m == nil {
		return nil
	}
	kept := *m
	kept.At = nil
	return &kept
}
