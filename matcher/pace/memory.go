package pace

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gpu-triage/triage/matcher/logline"
)

// When the memory that steps tell counts as growing without end. A peak that new shapes raise now and then, and what the first steps
// allocate, level off; what keeps something of each step does not.
const (
	enoughMemory = 4       // steps that tell it
	grown        = 1.2     // the last one tells so many times as much as the first
	stillGrowing = 1.0 / 3 // what the later half adds is at least this part of what the earlier half adds
	fallen       = 0.98    // one that tells less than this part of the one before it has given memory back
	mostGiB      = 512     // a number without a unit counts GiB up to this one, and MiB above
)

// Growth is memory of which the steps of a process took more and more.
type Growth struct {
	last           logline.Line // the last step that tells it
	from, to       float64      // bytes
	began, reached float64      // steps
}

// String is the growth in words: "12.1 GiB in step 10 to 70.3 GiB in step 400".
func (g *Growth) String() string {
	const gib = 1 << 30
	return fmt.Sprintf("%.1f GiB in step %.0f to %.1f GiB in step %.0f", g.from/gib, g.began, g.to/gib, g.reached)
}

// Where is the line that tells the end of it: "train.log:12".
func (g *Growth) Where() string { return fmt.Sprintf("%s:%d", g.last.Source, g.last.Number) }

// MemoryGrowth is the largest growth of memory that the steps of some process show; nil when none does.
func MemoryGrowth(paces []*Pace) *Growth {
	var most *Growth
	for _, p := range paces {
		for _, one := range p.series {
			if g := one.growth; g != nil && (most == nil || g.to-g.from > most.to-most.from) {
				most = g
			}
		}
	}
	return most
}

// growth is that of the memory which the marks of a series tell, nil when it does not grow all the time.
func growth(marks []mark) *Growth {
	var told []mark
	falls := 0
	for _, m := range marks {
		if m.memory == 0 {
			continue
		}
		if n := len(told); n > 0 && m.memory < fallen*told[n-1].memory {
			falls++
		}
		told = append(told, m)
	}
	if len(told) < enoughMemory || falls > len(told)/tolerated {
		return nil
	}
	first, middle, last := told[0], told[len(told)/2], told[len(told)-1]
	if last.memory < grown*first.memory || last.memory-middle.memory < stillGrowing*(middle.memory-first.memory) {
		return nil
	}
	return &Growth{last: last.line, from: first.memory, to: last.memory, began: first.number, reached: last.number}
}

// memoryIn is a size such as "61.2GiB" or "15230 MB" in bytes, 0 when it is none.
func memoryIn(text string) float64 {
	digits := strings.TrimRight(text, "KMGTiBb ")
	size, err := strconv.ParseFloat(digits, 64)
	if err != nil || !(size > 0) || size > 1e15 {
		return 0
	}
	unit := strings.TrimSpace(text[len(digits):])
	switch {
	case unit == "" && size <= mostGiB:
		unit = "G"
	case unit == "":
		unit = "M"
	}
	return size * map[byte]float64{'K': 1 << 10, 'M': 1 << 20, 'G': 1 << 30, 'T': 1 << 40, 'B': 1}[unit[0]]
}
