package flight

import (
	"fmt"
	"slices"
	"testing"
)

// rank is a dump of a rank that is in those groups; each call is "group seq state", and one between two ranks "group recv to<-from state".
func rank(n int, groups map[string][]int, calls ...string) *Dump {
	d := &Dump{Source: fmt.Sprint("rank_", n), Rank: n, groups: make(map[string]group), calls: make(map[callKey]call), last: make(map[string]int), sends: make(map[sent]bool)}
	for name, members := range groups {
		if slices.Contains(members, n) {
			d.groups[name] = group{name: name, members: members}
		}
	}
	for _, one := range calls {
		var name, state, what, pair string
		var seq int
		if count, _ := fmt.Sscanf(one, "%s %d %s", &name, &seq, &state); count == 3 {
			d.calls[callKey{name, seq}] = call{op: "nccl:all_reduce", state: state}
			d.last[name] = max(d.last[name], seq)
			continue
		}
		fmt.Sscanf(one, "%s %s %s %s", &name, &what, &pair, &state)
		d.readPair(name, 1, call{op: "nccl:" + what + " " + pair, state: state})
	}
	return d
}

// holding are the ranks that a comparison says hold the others up, and how.
func holding(dumps ...*Dump) []string {
	var all []string
	for _, f := range Compare(dumps) {
		if f.waits() == 0 {
			all = append(all, fmt.Sprint(f.Rank, " ", f.Kind))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func TestOnlyWhoWaitsForNobodyHoldsOthersUp(t *testing.T) {
	// Two ranks share a model (tp), and two pairs share data (dp).
	grid := map[string][]int{"tp0": {0, 1}, "tp1": {2, 3}, "dp0": {0, 2}, "dp1": {1, 3}}
	for _, c := range []struct {
		name  string
		dumps []*Dump
		want  []string
	}{
		{"rank 3 stands, rank 2 waits for it in tp1, ranks 0 and 1 for those in dp", []*Dump{
			rank(0, grid, "tp0 5 completed", "dp0 2 scheduled"), rank(1, grid, "tp0 5 completed", "dp1 2 scheduled"),
			rank(2, grid, "tp1 4 completed", "tp1 5 scheduled", "dp0 1 completed"), rank(3, grid, "tp1 4 completed", "dp1 1 completed"),
		}, []string{"3 never_joined"}},
		{"rank 3 left no dump", []*Dump{
			rank(0, grid, "tp0 5 completed", "dp0 2 scheduled"), rank(1, grid, "tp0 5 completed", "dp1 2 scheduled"),
			rank(2, grid, "tp1 4 completed", "tp1 5 scheduled", "dp0 1 completed"),
		}, []string{"3 no_dump"}},
		{"ranks 0 and 3 wait for each other in a circle through two groups", []*Dump{
			rank(0, map[string][]int{"a": {0, 3}, "b": {0, 3}}, "a 1 scheduled"), rank(3, map[string][]int{"a": {0, 3}, "b": {0, 3}}, "b 1 scheduled"),
		}, []string{"0 never_joined", "3 never_joined"}},
		{"all GPUs but that of rank 1 have begun", []*Dump{
			rank(0, grid, "tp0 5 started", "dp0 2 scheduled"), rank(1, grid, "tp0 5 scheduled", "dp1 2 scheduled"),
			rank(2, grid, "tp1 5 completed", "dp0 2 started"), rank(3, grid, "tp1 5 completed", "dp1 2 started"),
		}, []string{"1 not_started"}},
		{"a pipeline waits for its first stage", []*Dump{
			rank(0, map[string][]int{"pp": {0, 1, 2}}), rank(1, map[string][]int{"pp": {0, 1, 2}}, "pp recv 1<-0 scheduled"),
			rank(2, map[string][]int{"pp": {0, 1, 2}}, "pp recv 2<-1 scheduled"),
		}, []string{"0 never_joined"}},
		{"a transfer is under way", []*Dump{
			rank(0, map[string][]int{"pp": {0, 1}}, "pp send 0->1 scheduled"), rank(1, map[string][]int{"pp": {0, 1}}, "pp recv 1<-0 scheduled"),
		}, nil},
		{"all wait in the same", []*Dump{rank(0, grid, "tp0 5 scheduled"), rank(1, grid, "tp0 5 scheduled")}, nil},
	} {
		if got := holding(c.dumps...); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q hold the others up, not %q", c.name, got, c.want)
		}
	}
}
