package flight

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/gpu-triage/triage/rules/pattern"
)

// receipt is what a rank waits to receive from another one of its group.
type receipt struct {
	group    string
	seq      int // counts the group's sends and receipts on this rank
	from, to int // within the group
	call     call
}

// sent is the same transfer as its sender sees it.
type sent struct {
	group    string
	from, to int
}

// transfer is the name of a call between two ranks of a group, as the recorder writes it: nccl:send 1->2, nccl:recv 3<-0 (Op in
// torch/distributed/flight_recorder/components/types.py@v2.9.0).
var transfer = pattern.Lazy(`:(?:(send) (\d+)->(\d+)|recv (\d+)<-(\d+))$`)

// readPair takes a call between two ranks that is not completed.
func (d *Dump) readPair(group string, seq int, c call) {
	m := transfer().FindStringSubmatch(c.op)
	if m == nil || c.state == completed {
		return
	}
	if m[1] != "" {
		d.sends[sent{group, number(m[2]), number(m[3])}] = true
		return
	}
	d.receipts = append(d.receipts, receipt{group: group, seq: seq, to: number(m[4]), from: number(m[5]), call: c})
}

func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return -1
	}
	return n
}

// receiptsIn are the findings about receipts whose sender does not send: that the sender never came, and that the receiver waits. Where a
// send is not received, nothing is found: programs send and go on.
func receiptsIn(d *Dump, groups map[string]group, byRank map[int]*Dump) [][]Finding {
	var all [][]Finding
	asked := make(map[sent]bool)
	for _, r := range d.receipts {
		g, key := groups[r.group], sent{r.group, r.from, r.to}
		if asked[key] || r.from < 0 || r.from >= len(g.members) {
			continue
		}
		asked[key] = true
		sender := slices.Sorted(slices.Values(g.members))[r.from]
		f := Finding{Group: cmp.Or(g.about, g.name), Collective: r.seq, Operation: r.call.op, Dump: d}
		waits, holds := f, f
		waits.Kind, waits.Rank, waits.State, waits.Caller = Waiting, d.Rank, r.call.state, r.call.from
		holds.Kind, holds.Rank = NoDump, sender
		if other := byRank[sender]; other != nil {
			if other.sends[key] {
				continue // it is under way
			}
			holds.Kind, holds.Dump, holds.last = NeverJoined, other, other.last[g.name]
			last := other.calls[callKey{g.name, holds.last}]
			holds.lastOperation, holds.Caller = last.op, last.from
		}
		all = append(all, []Finding{holds, waits})
	}
	return all
}
