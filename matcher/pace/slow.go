package pace

import (
	"cmp"
	"slices"
	"time"
)

// slowdown is a change after which each step takes several times as long, to the end.
type slowdown struct {
	before, since mark    // the last line with the usual pace, the first with the new one
	usual, now    float64 // seconds for a step of as much work as the last, or 1 by a rate
	waits         float64 // the part of them that waits for data, 0 when unknown
}

// onePace is how fast one line says that steps go.
type onePace struct {
	mark mark
	cost float64 // seconds of a step, or of a sample in it
}

const leastTime = 2 * time.Second // between two timestamps that tell how long steps take: many have whole seconds

// paces are what the lines of a series say of its pace: themselves, or else by their timestamps.
func (one *series) paces(clock bool) []onePace {
	var paces []onePace
	from := one.marks[0]
	for _, m := range one.marks {
		switch elapsed := m.at.Sub(from.at); {
		case m.seconds > 0:
			paces = append(paces, onePace{m, m.seconds / max(m.batch, 1)})
		case clock && !from.at.IsZero() && elapsed >= leastTime && m.number > from.number:
			m.seconds = elapsed.Seconds() / (m.number - from.number)
			paces = append(paces, onePace{m, m.seconds / max(m.batch, 1)})
			from = m
		}
	}
	return paces
}

// slower finds the change after which all steps are slow; nil when there is none.
func slower(paces []onePace) *slowdown {
	n := len(paces)
	if n < 2*enoughPaces {
		return nil
	}
	limit := slowFactor * usualCost(paces)
	since, fast := n, 0
	for i := n - 1; i >= 0 && fast*tolerated <= n-i; i-- {
		if paces[i].cost >= limit {
			since = i
		} else {
			fast++
		}
	}
	before, after := paces[:since], paces[since:]
	if len(before) < enoughPaces || len(after) < enoughPaces || paces[n-1].mark.number-after[0].mark.number < enoughPaces-1 {
		return nil
	}
	usual, now := medianCost(before), medianCost(after)
	slow := 0
	for _, p := range before {
		if p.cost >= limit {
			slow++
		}
	}
	if now < slowFactor*usual || medianCost(before[len(before)-enoughPaces:]) > suddenly*usual || slow*tolerated > len(before) {
		return nil
	}
	work := max(paces[n-1].mark.batch, 1)
	return &slowdown{before: before[len(before)-1].mark, since: after[0].mark, usual: usual * work, now: now * work, waits: waiting(after)}
}

// usualCost is what is not exceeded in a quarter of a series. Each line of the sample stands for those that are not in it before it.
func usualCost(paces []onePace) float64 {
	type weighted struct{ cost, lines float64 }
	all, lines := make([]weighted, len(paces)), 0.0
	before := paces[0].mark.line.Number
	for i, p := range paces {
		all[i] = weighted{p.cost, 1 + float64(p.mark.line.Number-before)}
		lines += all[i].lines
		before = p.mark.line.Number
	}
	slices.SortFunc(all, func(a, b weighted) int { return cmp.Compare(a.cost, b.cost) })
	i := 0
	for sum := all[0].lines; sum < lines/4; sum += all[i].lines {
		i++
	}
	return all[i].cost
}

// waiting is the part of the time of steps that waits for data.
func waiting(paces []onePace) float64 {
	var parts []float64
	for _, p := range paces {
		if p.mark.data > 0 && p.mark.seconds > 0 {
			parts = append(parts, min(p.mark.data/p.mark.seconds, 1))
		}
	}
	return median(parts)
}

func medianCost(paces []onePace) float64 {
	costs := make([]float64, len(paces))
	for i, p := range paces {
		costs[i] = p.cost
	}
	return median(costs)
}
