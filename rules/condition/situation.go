package condition

import "slices"

// Situation is what is known at one moment: a value for each name of a scope, unknown until it is set. Computed values are kept until
// the next change.
type Situation struct {
	Context any // for the functions of Computed values; conditions do not look at it

	scope       *Scope
	values      []Value
	computed    []bool // which computed values are there
	anyComputed bool
	item        Value   // what # means inside any, all and none
	template    *string // a line, when all that is known of the event is that it is a line of that one's template
}

// NewSituation is a situation in which nothing is known. Every name must have been declared before.
func (s *Scope) NewSituation() *Situation {
	return &Situation{scope: s, values: make([]Value, len(s.slots)), computed: make([]bool, len(s.slots))}
}

// Clone is a copy that can be changed on its own. It shares the Context.
func (s *Situation) Clone() *Situation {
	clone := *s
	clone.values, clone.computed = slices.Clone(s.values), slices.Clone(s.computed)
	return &clone
}

// CopyFrom makes s what another situation of the same scope is, but for the Context.
func (s *Situation) CopyFrom(other *Situation) {
	copy(s.values, other.values)
	copy(s.computed, other.computed)
	s.anyComputed = other.anyComputed
}

// Clear makes everything unknown.
func (s *Situation) Clear() {
	clear(s.values)
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
	s.values[slot] = v
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
		return s.values[slot]
	}
	v := computed.Value(s)
	s.values[slot], s.computed[slot], s.anyComputed = v, true, true
	return v
}

// SetLineTemplate makes a pattern that is asked about a text answer for all lines that differ from this one in numbers only: unknown
// where that depends on the numbers.
func (s *Situation) SetLineTemplate(line string) { s.template = &line }

// SetLogPattern says whether the i-th of the scope's LogPatterns stands in the log.
func (s *Situation) SetLogPattern(i int, found bool) {
	s.Put(s.scope.patternSlots[i], BoolValue(found))
}
