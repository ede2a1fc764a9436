package rules

import (
	"fmt"
	"sort"
	"strings"
)

// Shape is the type of a name, and for objects and lists what is inside them. An Object without Members may hold anything.
type Shape struct {
	Type    Type
	Members map[string]Shape
	Items   *Shape
}

// Scope is the set of names that expressions may use, each with a slot in the situations made for it. Names are added while rules
// are loaded; afterwards a Scope is only read and may be shared.
type Scope struct {
	index    map[string]int
	slots    []slot
	patterns []*Pattern // of seen(...), each with a slot
	seenAt   []int
}

type slot struct {
	name    string
	shape   Shape
	defined *Expression // the value is computed from others
	hidden  bool        // not a name that expressions can write
}

// NewScope is a scope without names.
func NewScope() *Scope { return &Scope{index: make(map[string]int)} }

// Declare adds a name. Declaring it again with the same type is no error.
func (s *Scope) Declare(name string, shape Shape) error {
	if i, ok := s.index[name]; ok {
		if s.slots[i].shape.Type != shape.Type {
			return fmt.Errorf("%s is a %s already and cannot be a %s too", name, s.slots[i].shape.Type, shape.Type)
		}
		return nil
	}
	s.index[name] = len(s.slots)
	s.slots = append(s.slots, slot{name: name, shape: shape})
	return nil
}

// Define adds a name whose value is computed from an expression over names that exist already, once per situation.
func (s *Scope) Define(name, source string) error {
	if _, ok := s.index[name]; ok {
		return fmt.Errorf("%s is defined already", name)
	}
	e, err := s.Compile(source)
	if err != nil {
		return err
	}
	s.index[name] = len(s.slots)
	s.slots = append(s.slots, slot{name: name, shape: e.root.shape, defined: e})
	return nil
}

// Has tells whether expressions may use the name.
func (s *Scope) Has(name string) bool {
	i, ok := s.index[name]
	return ok && !s.slots[i].hidden
}

// environment is the prefix of facts that are environment variables; they need no declaration.
const environment = "env."

func (s *Scope) resolve(name string) (int, bool) {
	i, ok := s.index[name]
	if !ok && strings.HasPrefix(name, environment) {
		i, ok = len(s.slots), true
		s.index[name] = i
		s.slots = append(s.slots, slot{name: name, shape: Shape{Type: String}})
	}
	return i, ok && !s.slots[i].hidden
}

// seen is the slot that says whether some line of the log matches a pattern.
func (s *Scope) seen(source string) (int, error) {
	name := "seen " + source
	if i, ok := s.index[name]; ok {
		return i, nil
	}
	pattern, err := NewPattern(source)
	if err != nil {
		return 0, err
	}
	i := len(s.slots)
	s.index[name] = i
	s.slots = append(s.slots, slot{name: name, shape: Shape{Type: Bool}, hidden: true})
	s.patterns = append(s.patterns, pattern)
	s.seenAt = append(s.seenAt, i)
	return i, nil
}

// SeenPatterns are the patterns that conditions look for anywhere in a log, in the order that Situation.SetSeen takes.
func (s *Scope) SeenPatterns() []*Pattern { return s.patterns }

func (s *Scope) names() []string {
	var names []string
	for _, slot := range s.slots {
		if !slot.hidden {
			names = append(names, slot.name)
		}
	}
	sort.Strings(names)
	return names
}

// Situation is what is known at one moment: a value for each name of a scope, unknown until it is set.
type Situation struct {
	scope    *Scope
	values   []Value
	computed []bool
	some     bool    // of computed are true
	item     Value   // what # means inside any, all and none
	fired    []uint8 // of a library's rules, by their index: 0 when not asked yet, else a verdict + 1
	kind     *string // a line, when all that is known of the event is that it is a line of that one's kind
}

// NewSituation is a situation in which nothing is known. Every name must have been declared before.
func (s *Scope) NewSituation() *Situation {
	return &Situation{scope: s, values: make([]Value, len(s.slots)), computed: make([]bool, len(s.slots))}
}

// Clone is a copy that can be changed on its own.
func (s *Situation) Clone() *Situation {
	return &Situation{scope: s.scope, values: append([]Value(nil), s.values...), computed: append([]bool(nil), s.computed...), some: s.some, fired: append([]uint8(nil), s.fired...)}
}

// Set says what a name is worth; a name that the scope lacks is ignored, since no rule asks for it.
func (s *Situation) Set(name string, v Value) {
	if i, ok := s.scope.index[name]; ok {
		s.values[i] = v
		if s.some {
			clear(s.computed)
			s.some = false
		}
	}
}

// SetKind makes a pattern that is asked about a text answer for all lines of the kind of this one: unknown where that depends on numbers.
func (s *Situation) SetKind(line string) { s.kind = &line }

// SetSeen says whether the i-th of the scope's SeenPatterns stands in the log.
func (s *Situation) SetSeen(i int, seen bool) { s.values[s.scope.seenAt[i]] = BoolValue(seen) }

// Value is what a name is worth.
func (s *Situation) Value(name string) Value {
	i, ok := s.scope.index[name]
	if !ok {
		return Value{}
	}
	return s.at(i)
}

// assign sets a fact by its slot; forget must follow before anything is evaluated.
func (s *Situation) assign(slot int, v Value) { s.values[slot] = v }

// forget drops what was computed from facts.
func (s *Situation) forget() {
	clear(s.computed)
	clear(s.fired)
}

func (s *Situation) at(i int) Value {
	defined := s.scope.slots[i].defined
	if defined == nil || s.computed[i] {
		return s.values[i]
	}
	v := defined.root.eval(s)
	s.values[i], s.computed[i], s.some = v, true, true
	return v
}
