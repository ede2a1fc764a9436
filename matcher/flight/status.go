package flight

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Status is what the watchdog of a rank prints of the collectives of a process group when one times out. It tells less than a dump, and
// stands in every log. A number that was not printed is 0.
type Status struct {
	Rank      int
	Group     string // "" where the line names none
	Waits     int    // the collective that timed out
	Enqueued  int    // the last collective that was called; -1 for none
	Operation string // of the collective that timed out, as ALLREDUCE
	Sizes     string // how many elements it takes
}

// state is what the lines of a rank say of a group together.
type state struct {
	waits, enqueued int
	told            bool // enqueued was printed
}

// CompareStatuses is Compare by what watchdogs print. Ranks are those of the job, as far as they are known: where nothing tells two ranks
// apart that speak, one that does not speak is the one that they wait for.
func CompareStatuses(statuses []Status, ranks []int) []Finding {
	groups, calls := gather(statuses)
	var findings []Finding
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		findings = append(findings, compareStates(name, groups[name], calls, ranks)...)
	}
	var waits []wait
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		w := wait{}
		for rank, s := range groups[name] {
			if s.waits > 0 {
				w.waiters = append(w.waiters, rank)
			}
		}
		for _, f := range findings {
			if f.Group == name && f.waits() == 0 {
				w.blockers = append(w.blockers, f.Rank)
			}
		}
		waits = append(waits, w)
	}
	holding := holders(waits)
	return slices.DeleteFunc(findings, func(f Finding) bool { return f.waits() == 0 && !holding[f.Rank] })
}

// numbered is a collective of a rank, whatever its group.
type numbered struct{ rank, seq int }

// gather puts together what was said of a group and rank. A line that names a collective and no group is about the one that the rank says
// it waits with, under that number.
func gather(statuses []Status) (groups map[string]map[int]state, calls map[numbered]call) {
	groups, calls = make(map[string]map[int]state), make(map[numbered]call)
	named := slices.ContainsFunc(statuses, func(s Status) bool { return s.Group != "" })
	for _, s := range statuses {
		if s.Operation != "" {
			calls[numbered{s.Rank, s.Waits}] = call{op: s.Operation, sizes: s.Sizes}
		}
		if s.Group == "" && named {
			continue
		}
		if groups[s.Group] == nil {
			groups[s.Group] = make(map[int]state)
		}
		now := groups[s.Group][s.Rank]
		if s.Waits > 0 && (now.waits == 0 || s.Waits < now.waits) {
			now.waits = s.Waits
		}
		if s.Enqueued != 0 {
			now.enqueued, now.told = max(now.enqueued, s.Enqueued), true
		}
		groups[s.Group][s.Rank] = now
	}
	return groups, calls
}

// compareStates says which ranks of a group are behind the first collective that timed out, or who calls something else there, or who
// says nothing.
func compareStates(name string, states map[int]state, calls map[numbered]call, ranks []int) []Finding {
	at := Finding{Group: name}
	var waiting []int
	for _, s := range states {
		if s.waits > 0 && (at.Collective == 0 || s.waits < at.Collective) {
			at.Collective = s.waits
		}
	}
	if at.Collective == 0 {
		return nil
	}
	var findings []Finding
	for _, rank := range slices.Sorted(maps.Keys(states)) {
		switch s := states[rank]; {
		case s.told && s.enqueued < at.Collective:
			f := at
			f.Kind, f.Rank, f.last = NeverJoined, rank, max(s.enqueued, 0)
			findings = append(findings, f)
		case s.waits == at.Collective:
			waiting = append(waiting, rank)
		}
	}
	at.Operation = calls[numbered{waiting[0], at.Collective}].op
	for i := range findings {
		findings[i].Operation = at.Operation
	}
	if len(findings) > 0 {
		return findings
	}
	if f, disagree := disagreement(at, waiting, calls); disagree {
		return []Finding{f}
	}
	return silent(at, states, ranks)
}

// disagreement is that two waiting ranks called something else under the same number of a group that they name.
func disagreement(at Finding, waiting []int, calls map[numbered]call) (f Finding, disagree bool) {
	first := calls[numbered{waiting[0], at.Collective}]
	for _, rank := range waiting[1:] {
		c := calls[numbered{rank, at.Collective}]
		if at.Group == "" || first.op == "" || c.op == "" || c.op == first.op && (c.sizes == first.sizes || unequalByDesign(strings.ToLower(c.op))) {
			continue
		}
		f = at
		f.Kind, f.Rank, f.Operation = Disagree, rank, c.op
		f.Calls = first.printed(waiting[0]) + ", " + c.printed(rank)
		return f, true
	}
	return f, false
}

// printed is a call that the watchdog told, in words.
func (c call) printed(rank int) string {
	words := call{op: c.op, sizes: cmp.Or(c.sizes, "an unknown number of") + " elements"}
	return words.by(rank)
}

// silent are the ranks of the job that say nothing while others wait in the group that all are in. They are few, or their logs are not here.
func silent(at Finding, states map[int]state, ranks []int) []Finding {
	if name, _, _ := strings.Cut(at.Group, "("); name != "" && name != "0" && !strings.Contains(at.Group, "default") {
		return nil
	}
	var findings []Finding
	for _, rank := range ranks {
		if _, speaks := states[rank]; !speaks {
			f := at
			f.Kind, f.Rank = Silent, rank
			findings = append(findings, f)
		}
	}
	if len(findings) > 1 && len(findings) >= len(states) {
		return nil
	}
	return findings
}
