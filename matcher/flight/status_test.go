package flight

import (
	"fmt"
	"slices"
	"testing"
)

func TestCompareStatuses(t *testing.T) {
	waits := func(rank, seq int, op, sizes string) Status {
		return Status{Rank: rank, Group: "0(default_pg)", Waits: seq, Operation: op, Sizes: sizes}
	}
	stands := func(rank, enqueued int) Status { return Status{Rank: rank, Group: "0(default_pg)", Enqueued: enqueued} }
	in := func(group string, s Status) Status { s.Group = group; return s }
	for _, c := range []struct {
		name     string
		statuses []Status
		ranks    []int
		want     []string
	}{
		{"rank 1 called one less", []Status{waits(0, 16, "ALLREDUCE", "4"), stands(0, 16), stands(1, 15)}, []int{0, 1}, []string{"1 never_joined"}},
		{"rank 1 called none", []Status{waits(0, 1, "ALLREDUCE", "4"), stands(0, 1), stands(1, -1)}, []int{0, 1}, []string{"1 never_joined"}},
		{"both wait in the same", []Status{waits(0, 16, "ALLREDUCE", "4"), waits(1, 16, "ALLREDUCE", "4")}, []int{0, 1}, nil},
		{"other operations", []Status{waits(0, 3, "ALLREDUCE", "4"), waits(1, 3, "ALLGATHER", "4")}, []int{0, 1}, []string{"1 disagree"}},
		{"other sizes", []Status{waits(0, 3, "ALLREDUCE", "4"), waits(1, 3, "ALLREDUCE", "5")}, []int{0, 1}, []string{"1 disagree"}},
		{"other sizes by design", []Status{waits(0, 3, "ALLTOALL", "4"), waits(1, 3, "ALLTOALL", "5")}, []int{0, 1}, nil},
		{"other groups", []Status{in("7(dp)", waits(0, 3, "ALLREDUCE", "4")), in("8(tp)", waits(1, 3, "ALLGATHER", "4"))}, []int{0, 1}, nil},
		{"one says nothing", []Status{waits(0, 3, "ALLREDUCE", "4"), waits(1, 3, "ALLREDUCE", "4")}, []int{0, 1, 2}, []string{"2 silent"}},
		{"most say nothing", []Status{waits(0, 3, "ALLREDUCE", "4")}, []int{0, 1, 2, 3}, nil},
		{"not all are in that group", []Status{in("8(tp)", waits(0, 3, "ALLREDUCE", "4"))}, []int{0, 1}, nil},
		{"the line that names the group has no operation", []Status{in("", waits(0, 3, "ALLREDUCE", "4")), in("", waits(1, 3, "BROADCAST", "4")),
			waits(0, 3, "", ""), waits(1, 3, "", "")}, []int{0, 1}, []string{"1 disagree"}},
		{"nothing was told", nil, []int{0, 1}, nil},
	} {
		var got []string
		for _, f := range CompareStatuses(c.statuses, c.ranks) {
			got = append(got, fmt.Sprint(f.Rank, " ", f.Kind))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, not %q", c.name, got, c.want)
		}
	}
}
