package flight

// wait is what a group shows at the collective in which it is stuck: who is in it, and who is not.
type wait struct {
	waiters  []int // called it, and it did not complete
	blockers []int // did not call it
}

// holders are the ranks that others wait for and that wait for nobody themselves, in any group. A rank that does not come to one group
// because it waits in another one is held up itself, and whoever holds it up is to be named. Where ranks wait for each other in a circle,
// all of that circle hold.
func holders(waits []wait) map[int]bool {
	waiting, blocking := make(map[int]bool), make(map[int][]int) // by rank; the numbers of the waits that it blocks
	for i, w := range waits {
		for _, rank := range w.blockers {
			blocking[rank] = append(blocking[rank], i)
		}
		for _, rank := range w.waiters {
			waiting[rank] = waiting[rank] || len(w.blockers) > 0
		}
	}
	holding, explained := make(map[int]bool), make(map[int]bool)
	var reached []int
	for rank := range blocking {
		if !waiting[rank] {
			holding[rank] = true
			reached = append(reached, rank)
		}
	}
	for len(reached) > 0 {
		rank := reached[len(reached)-1]
		reached = reached[:len(reached)-1]
		for _, i := range blocking[rank] {
			for _, held := range waits[i].waiters {
				if !explained[held] {
					explained[held] = true
					reached = append(reached, held)
				}
			}
			waits[i].waiters = nil // each wait is gone through once
		}
	}
	for rank := range blocking {
		if !holding[rank] && !explained[rank] {
			holding[rank] = true
		}
	}
	return holding
}
