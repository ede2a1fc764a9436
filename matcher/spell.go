package matcher

import (
	"cmp"
	"maps"
	"slices"
)

// occurrence is when an event was seen.
type occurrence struct {
	order  int  // counts everything that was read
	line   Line // without its text: there are as many as ranks
	writer string
}

func (r *Reading) occurrence(line Line) occurrence {
	line.Text = ""
	return occurrence{order: r.order(line), line: line, writer: line.process()}
}

// before tells whether a happened before b as far as the clocks or the order of reading can say.
func (a occurrence) before(b occurrence) bool {
	if a.line.Source != b.line.Source && comparable(a.line.Time, b.line.Time) && !a.line.Time.Equal(b.line.Time) {
		return a.line.Time.Before(b.line.Time)
	}
	return a.order < b.order
}

// spell is how an event was seen in one source, an exception since the job last went on after it.
type spell struct {
	seen  map[int]*occurrence // the first on each rank, NoRank among them
	last  occurrence
	count int
}

// occurred counts the event, of which that was printed this time. An exception that the job went on after is forgotten when it is
// raised again: programs try once more, and the last attempt is the one that ends them. What lines tell, such as a loss that is no
// number, began with the first of them.
func (e *event) occurred(o occurrence, printed chain, wentOn func(occurrence) bool) {
	attempt := printed.head().exception != nil
	if e.chain == nil || attempt && wentOn(e.shown) {
		e.chain, e.shown = printed, o
	}
	s := e.spells[o.line.Source]
	if s == nil || attempt && wentOn(s.last) {
		s = &spell{seen: make(map[int]*occurrence)}
		e.spells[o.line.Source] = s
	}
	if s.seen[o.line.Rank] == nil {
		s.seen[o.line.Rank] = &o
	}
	s.last, s.count = o, s.count+1
}

// sighting sums up the spells of an event that matter: those after which the job did not go on, or all when it went on after each.
type sighting struct {
	handled bool // it went on after each, or the exception itself says that it ended nothing
	seen    map[int]*occurrence
	first   occurrence
	lasts   []occurrence // of each source
	count   int
}

func (e *event) sighting(wentOn func(occurrence) bool) sighting {
	var open, over []*spell
	for _, s := range e.spells {
		if wentOn(s.last) {
			over = append(over, s)
		} else {
			open = append(open, s)
		}
	}
	all := sighting{handled: len(open) == 0 || e.chain.swallowed(), seen: make(map[int]*occurrence)}
	if len(open) == 0 {
		open = over
	}
	for _, s := range open {
		for rank, o := range s.seen {
			if known := all.seen[rank]; known == nil || o.order < known.order {
				all.seen[rank] = o
			}
		}
		all.lasts, all.count = append(all.lasts, s.last), all.count+s.count
	}
	all.first = *slices.MinFunc(slices.Collect(maps.Values(all.seen)), func(a, b *occurrence) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.line.Rank, b.line.Rank)) // dumps of several ranks have one place
	})
	return all
}

// last is when it was seen last.
func (s *sighting) last() occurrence {
	return slices.MaxFunc(s.lasts, func(a, b occurrence) int { return cmp.Compare(a.order, b.order) })
}

// ranks are the ranks that show the event, sorted, without NoRank.
func (s *sighting) ranks() []int {
	ranks := []int{}
	for rank := range s.seen {
		if rank != NoRank {
			ranks = append(ranks, rank)
		}
	}
	slices.Sort(ranks)
	return ranks
}

// earliest is the occurrence on the rank that failed first: the launcher's, when it shows the event, else by time or order.
func (s *sighting) earliest(first int) occurrence {
	if o := s.seen[first]; o != nil && first != NoRank {
		return *o
	}
	earliest := s.first
	for _, rank := range s.ranks() {
		if o := s.seen[rank]; o.before(earliest) {
			earliest = *o
		}
	}
	return earliest
}
