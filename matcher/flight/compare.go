package flight

import (
	"cmp"
	"slices"
	"strings"
)

// Compare finds, for each process group, the first collective that not all of its ranks completed, and says of each rank what it did there.
// Who holds others up explains who waits and comes first; ranks without a dump are among them, for they may be the ones that died. Who waits
// in one group is not said to be missing in another (holders).
func Compare(dumps []*Dump) []Finding {
	byRank := make(map[int]*Dump)
	groups := make(map[string]group)
	for _, d := range dumps {
		byRank[d.Rank] = d
		for name, g := range d.groups {
			if len(g.members) > len(groups[name].members) {
				groups[name] = g
			}
		}
	}
	names := make([]string, 0, len(groups))
	for name := range groups {
		names = append(names, name)
	}
	slices.Sort(names)
	var findings []Finding
	var waits []wait
	add := func(found []Finding) {
		findings = append(findings, found...)
		waits = append(waits, waitOf(found))
	}
	for _, name := range names {
		add(compareGroup(groups[name], byRank))
	}
	for _, d := range dumps {
		for _, found := range receiptsIn(d, groups, byRank) {
			add(found)
		}
	}
	holding := holders(waits)
	findings = slices.DeleteFunc(findings, func(f Finding) bool { return f.waits() == 0 && !holding[f.Rank] })
	slices.SortStableFunc(findings, func(a, b Finding) int { return cmp.Compare(a.waits(), b.waits()) })
	return findings
}

// waitOf is who waits for whom by what the ranks of a group did.
func waitOf(findings []Finding) (w wait) {
	for _, f := range findings {
		switch f.Kind {
		case Waiting:
			w.waiters = append(w.waiters, f.Rank)
		case NoDump, NeverJoined, NotStarted:
			w.blockers = append(w.blockers, f.Rank)
		}
	}
	return w
}

// compareGroup says what the ranks of a group did at the first collective that one of them did not complete.
func compareGroup(g group, byRank map[int]*Dump) []Finding {
	seq, stuck := firstStuck(g, byRank)
	if stuck == nil {
		return nil
	}
	at := Finding{Group: cmp.Or(g.about, g.name), Collective: seq, Operation: stuck.calls[callKey{g.name, seq}].op}
	findings := mismatch(g, at, byRank)
	for _, rank := range g.members {
		d := byRank[rank]
		if d == nil {
			f := at
			f.Kind, f.Rank, f.Dump = NoDump, rank, stuck
			findings = append(findings, f)
			continue
		}
		if f, did := behaviour(g, at, d); !did {
			findings = append(findings, f)
		}
	}
	return notStarted(findings)
}

// notStarted tells those who only scheduled a collective from those who wait in it, where some GPU has begun: then the recorder was told to
// time collectives, and the GPU of the others is still at something before.
func notStarted(findings []Finding) []Finding {
	begun := slices.ContainsFunc(findings, func(f Finding) bool { return f.Kind == Waiting && f.State == started })
	for i := range findings {
		if f := &findings[i]; begun && f.Kind == Waiting && f.State != started {
			f.Kind = NotStarted
		}
	}
	return findings
}

// behaviour is what a rank with a dump did at a collective of a group instead of completing it, if it did not complete it.
func behaviour(g group, at Finding, d *Dump) (f Finding, done bool) {
	f = at
	f.Rank, f.Dump = d.Rank, d
	call, joined := d.calls[callKey{g.name, at.Collective}]
	if joined {
		f.Kind, f.Operation, f.State, f.Caller = Waiting, call.op, call.state, call.from
		return f, call.state == completed
	}
	f.last = d.last[g.name]
	last := d.calls[callKey{g.name, f.last}]
	f.Kind, f.lastOperation, f.Caller = NeverJoined, last.op, last.from
	return f, f.last >= at.Collective
}

// firstStuck is the first collective of a group that some rank began and did not complete, and one such rank.
func firstStuck(g group, byRank map[int]*Dump) (seq int, stuck *Dump) {
	for _, rank := range g.members {
		d := byRank[rank]
		if d == nil {
			continue
		}
		for key, c := range d.calls {
			if key.group == g.name && c.state != completed && (stuck == nil || key.seq < seq) {
				seq, stuck = key.seq, d
			}
		}
	}
	return seq, stuck
}

// mismatch says where ranks called different operations, or one with different sizes, under the same number.
func mismatch(g group, at Finding, byRank map[int]*Dump) []Finding {
	var first *Dump
	var reference call
	for _, rank := range g.members {
		d := byRank[rank]
		if d == nil {
			continue
		}
		c, ok := d.calls[callKey{g.name, at.Collective}]
		switch {
		case !ok:
		case first == nil:
			first, reference = d, c
		case c.op != reference.op || c.sizes != reference.sizes && !unequalByDesign(c.op):
			f := at
			f.Kind, f.Rank, f.Dump, f.Operation, f.Caller = Disagree, rank, d, c.op, c.from
			f.Calls = reference.by(first.Rank) + ", " + c.by(rank)
			return []Finding{f}
		}
	}
	return nil
}

// unequalByDesign tells whether an operation may have inputs of different sizes on different ranks.
func unequalByDesign(op string) bool {
	for _, name := range []string{"all_to_all", "alltoall", "scatter", "gather_v", "all_gather_v"} {
		if strings.Contains(op, name) {
			return true
		}
	}
	return false
}
