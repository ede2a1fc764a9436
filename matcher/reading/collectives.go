package reading

import (
	"fmt"
	"strconv"

	"github.com/gpu-triage/triage/matcher/flight"
	"github.com/gpu-triage/triage/matcher/logline"
)

// Collective is what a line tells of where its rank is in the collectives of a process group.
type Collective struct {
	flight.Status
	Line logline.Line
}

// maxCollectives bounds the lines of which that is kept; each rank prints three or four different ones.
const maxCollectives = 50000

// collectives are those that were told.
type collectives struct {
	all   []Collective
	known map[string]bool
}

// add takes what lines tell, by the groups of the signatures that know them.
func (c *collectives) add(printed Chain) {
	for i := range printed {
		el := &printed[i]
		for _, s := range el.Matches {
			if !s.Collectives || el.Exception != nil {
				continue
			}
			said := make(map[string]string)
			for _, pattern := range s.Capture {
				m := pattern.Submatch(el.Text)
				for i, name := range pattern.Names() {
					if m != nil && name != "" && m[i] != "" {
						said[name] = m[i]
					}
				}
			}
			c.told(said, el.Line)
		}
	}
}

// told takes what one line tells.
func (c *collectives) told(said map[string]string, line logline.Line) {
	rank := line.Rank
	if rank == logline.NoRank {
		n, err := strconv.Atoi(said["collective_rank"])
		if err != nil {
			return
		}
		rank = n
	}
	status := flight.Status{
		Rank: rank, Group: said["collective_group"], Waits: number(said["collective_waits"]), Enqueued: number(said["collective_enqueued"]),
		Operation: said["collective_operation"], Sizes: said["collective_elements"],
	}
	if said["collective_enqueued"] == "0" {
		status.Enqueued = -1 // none yet
	}
	key := fmt.Sprint(status)
	if status.Waits == 0 && status.Enqueued == 0 || c.known[key] || len(c.all) == maxCollectives {
		return
	}
	c.known[key] = true
	line.Rank = rank
	c.all = append(c.all, Collective{Status: status, Line: line})
}

// number is 0 for what is none.
func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}
