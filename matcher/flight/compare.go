package flight

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Remark is something that a comparison of dumps shows about a rank, in one line that signatures can know.
type Remark struct {
	Dump *Dump
	Text string
}

// Compare finds, for each process group, the first collective that not all of its ranks completed, and says of each rank what it
// did there. Ranks without a dump are named too: they may be the ones that died.
func Compare(dumps []*Dump) []Remark {
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
	var remarks []Remark
	for _, name := range names {
		remarks = append(remarks, compareGroup(groups[name], byRank)...)
	}
	// Who is missing explains who waits, so that it is said first.
	slices.SortStableFunc(remarks, func(a, b Remark) int {
		return cmp.Compare(strings.Count(b.Text, missing), strings.Count(a.Text, missing))
	})
	return remarks
}

// The phrases that signatures look for.
const (
	missing  = "flight recorder: who holds the others up: "
	disagree = "flight recorder: ranks disagree on collective "
	waiting  = "flight recorder: waits in collective "
)

// compareGroup says what each rank of a group did in its first collective that not all completed.
func compareGroup(g group, byRank map[int]*Dump) []Remark {
	seq, stuck := firstStuck(g, byRank)
	if stuck == nil {
		return nil
	}
	at := stuck.calls[callKey{g.name, seq}]
	where := fmt.Sprintf("collective %d (%s) of group %s", seq, at.op, cmp.Or(g.about, g.name))
	remarks := mismatch(g, seq, byRank)
	for _, rank := range g.members {
		d := byRank[rank]
		if d == nil {
			remarks = append(remarks, Remark{stuck, fmt.Sprintf("%srank %d left no dump and may have died before %s", missing, rank, where)})
			continue
		}
		c, joined := d.calls[callKey{g.name, seq}]
		switch {
		case !joined && d.last[g.name] < seq:
			last := d.calls[callKey{g.name, d.last[g.name]}]
			remarks = append(remarks, Remark{d, fmt.Sprintf("%srank %d never joined %s; its last was %d (%s)%s", missing, rank, where, d.last[g.name], last.op, from(last))})
		case joined && c.state != "completed":
			remarks = append(remarks, Remark{d, fmt.Sprintf("%s%d (%s) of group %s, rank %d, %s%s", waiting, seq, c.op, cmp.Or(g.about, g.name), rank, c.state, from(c))})
		}
	}
	return remarks
}

// from is where a call was made, as the end of a sentence.
func from(c call) string {
	if c.from == "" {
		return ""
	}
	return ", called from " + c.from
}

// firstStuck is the first collective of a group that some rank began and did not complete, and one such rank.
func firstStuck(g group, byRank map[int]*Dump) (seq int, stuck *Dump) {
	for _, rank := range g.members {
		d := byRank[rank]
		if d == nil {
			continue
		}
		for key, c := range d.calls {
			if key.group == g.name && c.state != "completed" && (stuck == nil || key.seq < seq) {
				seq, stuck = key.seq, d
			}
		}
	}
	return seq, stuck
}

// mismatch says where ranks called different operations, or one with different sizes, under the same number.
func mismatch(g group, seq int, byRank map[int]*Dump) []Remark {
	var first *Dump
	var reference call
	for _, rank := range g.members {
		d := byRank[rank]
		if d == nil {
			continue
		}
		c, ok := d.calls[callKey{g.name, seq}]
		switch {
		case !ok:
		case first == nil:
			first, reference = d, c
		case c.op != reference.op || c.sizes != reference.sizes && !unequalByDesign(c.op):
			return []Remark{{d, fmt.Sprintf("%s%d of group %s: rank %d calls %s with %s%s, rank %d calls %s with %s%s", disagree, seq, cmp.Or(g.about, g.name),
				first.Rank, reference.op, reference.sizes, from(reference), rank, c.op, c.sizes, from(c))}}
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
