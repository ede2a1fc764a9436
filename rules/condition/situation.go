package condition

import "slices"

// Situation is what is known at one moment: a value for each name of a scope, unknown until it is set. Computed values are kept until
// the next change.
type Situation struct {
	Context any // for the functions of Computed values; conditions do not look at it

	scope       *Scope
	pages       []part // the values
	computed    []bool // which computed values are there; empty in a scope without
	anyComputed bool
	item        Value   // what # means inside any, all and none
	template    *string // a line, when all that is known of the event is that it is a line of that one's template
}

// A page holds the values of some slots that follow each other. A situation has a thousand of them, and a diagnosis keeps a thousand
// situations that differ in five: so a clone has the pages of what it was made of, until one of both changes.
type page [pageSize]Value

const pageSize = 16 // slots

type part struct {
	*page
	shared bool // with another situation: it is copied before it is changed
}

// NewSituation is a situation in which nothing is known. Every name must have been declared before.
func (s *Scope) NewSituation() *Situation {
	all := make([]page, (len(s.slots)+pageSize-1)/pageSize)
	situation := &Situation{scope: s, pages: make([]part, len(all))}
	for i := range all {
		situation.pages[i].page = &all[i]
	}
	if s.computes {
		situation.computed = make([]bool, len(s.slots))
	}
	return situation
}

// Clone is a copy that can be changed on its own. It shares the Context.
func (s *Situation) Clone() *Situation {
	for i := range s.pages {
		s.pages[i].shared = true
	}
	clone := *s
	clone.pages, clone.computed = slices.Clone(s.pages), slices.Clone(s.computed)
	return &clone
}

// CopyFrom makes s what another situation of the same scope is, but for the Context.
func (s *Situation) CopyFrom(other *Situation) {
	for i, p := range other.pages {
		*s.own(i) = *p.page
	}
	copy(s.computed, other.computed)
	s.anyComputed = other.anyComputed
}

// own is a page that may be changed.
func (s *Situation) own(i int) *page {
	p := &s.pages[i]
	if p.shared {
		copied := *p.page
		*p = part{page: &copied}
	}
	return p.page
}

// stated is what was put into a slot.
func (s *Situation) stated(slot Slot) Value {
	return s.pages[uint(slot)/pageSize].page[uint(slot)%pageSize]
}

func (s *Situation) state(slot Slot, v Value) {
	s.own(int(slot) / pageSize)[uint(slot)%pageSize] = v
}

// Clear makes everything unknown.
func (s *Situation) Clear() {
	for i := range s.pages {
		clear(s.own(i)[:])
	}
	s.Recompute()
}

// Recompute forgets what was computed: for when the Context has changed.
func (s *Situation) Recompute() {
	if s.anyComputed {
		clear(s.computed)
		s.anyComputed = false
	}
}

// Set says what a name is worth; a name that the scope lacks is ignored, since no rule asks for it.
func (s *Situation) Set(name string, v Value) {
	if slot, ok := s.scope.byName[name]; ok {
		s.Put(slot, v)
	}
}

// Put is Set by slot.
func (s *Situation) Put(slot Slot, v Value) {
	s.state(slot, v)
	s.Recompute()
}

// Value is what a name is worth.
func (s *Situation) Value(name string) Value {
	slot, ok := s.scope.byName[name]
	if !ok {
		return Value{}
	}
	return s.At(slot)
}

// At is Value by slot.
func (s *Situation) At(slot Slot) Value {
	computed := s.scope.slots[slot].computed
	if computed == nil || s.computed[slot] {
		return s.stated(slot)
	}
	v := computed.Value(s)
	s.state(slot, v)
	s.computed[slot], s.anyComputed = true, true
	return v
}

// SetLineTemplate makes a pattern that is asked about a text answer for all lines that differ from this one in numbers only: unknown
// where that depends on the numbers.
func (s *Situation) SetLineTemplate(line string) { s.template = &line }

// SetLogPattern says whether the i-th of the scope's LogPatterns stands in the log.
func (s *Situation) SetLogPattern(i int, found bool) {
	s.Put(s.scope.patternSlots[i], BoolValue(found))
}
