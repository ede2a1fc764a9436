package reading

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gpu-triage/triage/matcher/logline"
)

// Occurrence is when an event was seen.
type Occurrence struct {
	Order  int          // counts everything that was read
	Line   logline.Line // without its text: there are as many as ranks
	Bare   bool         // an exception of which nothing but the message was printed
	writer string
	raised bool // it is an exception
}

// Before tells whether a happened before b as far as the clocks or the order of reading can say.
func (a Occurrence) Before(b Occurrence) bool {
	if a.Line.Source != b.Line.Source && logline.SameClock(a.Line.Time, b.Line.Time) && !a.Line.Time.Equal(b.Line.Time) {
		return a.Line.Time.Before(b.Line.Time)
	}
	return a.Order < b.Order
}

// episode is how an event was seen in one source, an exception since the job last went on after it.
type episode struct {
	byRank map[int]*Occurrence // the first on each rank, NoRank among them
	last   *Occurrence
	count  int
}

// Occurred counts the event, of which that was printed this time. An exception that the job went on after is forgotten when it is
// raised again: programs try once more, and the last attempt is the one that ends them. So is one that was told by its last line alone, as
// in the title of a post or by a rank whose other lines were lost, when its traceback follows. What lines tell, such as a loss that is no
// number, began with the first of them.
func (e *Event) Occurred(o Occurrence, printed Chain, wentOn func(Occurrence) bool) {
	attempt := printed.Head().Exception != nil
	if e.Chain == nil || attempt && (wentOn(e.shown) || printed.showsMoreThan(e.Chain)) {
		e.Chain, e.shown = printed, o
	}
	s := e.episodes[o.Line.Source]
	if s == nil || attempt && wentOn(*s.last) {
		s = &episode{byRank: make(map[int]*Occurrence)}
		e.episodes[o.Line.Source] = s
	}
	if s.byRank[o.Line.Rank] == nil {
		s.byRank[o.Line.Rank] = &o
	}
	s.last, s.count = &o, s.count+1
}

// Occurrences sums up the episodes of an event that matter: those after which the job did not go on, or all when it went on after each.
type Occurrences struct {
	Handled bool                // it went on after each, or the exception itself says that it ended nothing
	ByRank  map[int]*Occurrence // by rank, the first on each; those that name none are NoRank's
	First   Occurrence
	Lasts   []*Occurrence // the last in each source
	Count   int
}

// Occurrences sums up those that matter of what was seen of the event.
func (e *Event) Occurrences(wentOn func(Occurrence) bool) Occurrences {
	var open, over []*episode
	for _, s := range e.episodes {
		if wentOn(*s.last) {
			over = append(over, s)
		} else {
			open = append(open, s)
		}
	}
	all := Occurrences{Handled: len(open) == 0 || e.Chain.swallowed(), ByRank: make(map[int]*Occurrence)}
	if len(open) == 0 {
		open = over
	}
	all.Lasts = make([]*Occurrence, 0, len(open))
	for _, s := range open {
		for rank, o := range s.byRank {
			if known := all.ByRank[rank]; known == nil || o.Order < known.Order {
				all.ByRank[rank] = o
			}
		}
		all.Lasts, all.Count = append(all.Lasts, s.last), all.Count+s.count
	}
	all.First = *slices.MinFunc(slices.Collect(maps.Values(all.ByRank)), func(a, b *Occurrence) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.Line.Rank, b.Line.Rank)) // dumps of several ranks have one place
	})
	return all
}

// Last is when it was seen last.
func (s *Occurrences) Last() Occurrence {
	return *slices.MaxFunc(s.Lasts, func(a, b *Occurrence) int { return cmp.Compare(a.Order, b.Order) })
}

// Ranks are the ranks that show the event, sorted, without NoRank.
func (s *Occurrences) Ranks() []int {
	ranks := []int{}
	for rank := range s.ByRank {
		if rank != logline.NoRank {
			ranks = append(ranks, rank)
		}
	}
	slices.Sort(ranks)
	return ranks
}

// Earliest is the occurrence on the rank that failed first: the launcher's, when it shows the event, else by time or order.
func (s *Occurrences) Earliest(first int) Occurrence {
	if o := s.ByRank[first]; o != nil && first != logline.NoRank {
		return *o
	}
	earliest := s.First
	for _, rank := range s.Ranks() {
		if o := s.ByRank[rank]; o.Before(earliest) {
			earliest = *o
		}
	}
	return earliest
}
