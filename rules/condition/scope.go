package condition

import (
	"fmt"
	"sort"
	"strings"

	"github.com/gpu-triage/triage/rules/pattern"
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
	Index    map[string]int
	Slots    []Slot
	patterns []*pattern.Pattern // of seen(...), each with a slot
	seenAt   []int
}

type Slot struct {
	Name    string
	Shape   Shape
	Defined *Expression // the value is computed from others
	Hidden  bool        // not a name that expressions can write
}

// NewScope is a scope without names.
func NewScope() *Scope { return &Scope{Index: make(map[string]int)} }

// Declare adds a name. Declaring it again with the same type is no error.
func (s *Scope) Declare(name string, shape Shape) error {
	if i, ok := s.Index[name]; ok {
		if s.Slots[i].Shape.Type != shape.Type {
			return fmt.Errorf("%s is a %s already and cannot be a %s too", name, s.Slots[i].Shape.Type, shape.Type)
		}
		return nil
	}
	s.Index[name] = len(s.Slots)
	s.Slots = append(s.Slots, Slot{Name: name, Shape: shape})
	return nil
}

// Define adds a name whose value is computed from an expression over names that exist already, once per situation.
func (s *Scope) Define(name, source string) error {
	if _, ok := s.Index[name]; ok {
		return fmt.Errorf("%s is defined already", name)
	}
	e, err := s.Compile(source)
	if err != nil {
		return err
	}
	s.Index[name] = len(s.Slots)
	s.Slots = append(s.Slots, Slot{Name: name, Shape: e.Root.Shape, Defined: e})
	return nil
}

// Has tells whether expressions may use the name.
func (s *Scope) Has(name string) bool {
	i, ok := s.Index[name]
	return ok && !s.Slots[i].Hidden
}

// environment is the prefix of facts that are environment variables; they need no declaration.
const Environment = "env."

func (s *Scope) resolve(name string) (int, bool) {
	i, ok := s.Index[name]
	if !ok && strings.HasPrefix(name, Environment) {
		i, ok = len(s.Slots), true
		s.Index[name] = i
		s.Slots = append(s.Slots, Slot{Name: name, Shape: Shape{Type: String}})
	}
	return i, ok && !s.Slots[i].Hidden
}

// seen is the slot that says whether some line of the log matches a pattern.
func (s *Scope) Seen(source string) (int, error) {
	name := "seen " + source
	if i, ok := s.Index[name]; ok {
		return i, nil
	}
	pattern, err := pattern.New(source)
	if err != nil {
		return 0, err
	}
	i := len(s.Slots)
	s.Index[name] = i
	s.Slots = append(s.Slots, Slot{Name: name, Shape: Shape{Type: Bool}, Hidden: true})
	s.patterns = append(s.patterns, pattern)
	s.seenAt = append(s.seenAt, i)
	return i, nil
}

// SeenPatterns are the patterns that conditions look for anywhere in a log, in the order that Situation.SetSeen takes.
func (s *Scope) SeenPatterns() []*pattern.Pattern { return s.patterns }

func (s *Scope) names() []string {
	var names []string
	for _, slot := range s.Slots {
		if !slot.Hidden {
			names = append(names, slot.Name)
		}
	}
	sort.Strings(names)
	return names
}

// Situation is what is known at one moment: a value for each name of a scope, unknown until it is set.
type Situation struct {
	Scope    *Scope
	Values   []Value
	computed []bool
	some     bool    // of computed are true
	item     Value   // what # means inside any, all and none
	Fired    []uint8 // of a library's rules, by their index: 0 when not asked yet, else a verdict + 1
	kind     *string // a line, when all that is known of the event is that it is a line of that one's kind
}

// NewSituation is a situation in which nothing is known. Every name must have been declared before.
func (s *Scope) NewSituation() *Situation {
	return &Situation{Scope: s, Values: make([]Value, len(s.Slots)), computed: make([]bool, len(s.Slots))}
}

// Clone is a copy that can be changed on its own.
func (s *Situation) Clone() *Situation {
	return &Situation{Scope: s.Scope, Values: append([]Value(nil), s.Values...), computed: append([]bool(nil), s.computed...), some: s.some, Fired: append([]uint8(nil), s.Fired...)}
}

// Set says what a name is worth; a name that the scope lacks is ignored, since no rule asks for it.
func (s *Situation) Set(name string, v Value) {
	if i, ok := s.Scope.Index[name]; ok {
		s.Values[i] = v
		if s.some {
			clear(s.computed)
			s.some = false
		}
	}
}

// SetKind makes a pattern that is asked about a text answer for all lines of the kind of this one: unknown where that depends on numbers.
func (s *Situation) SetLineTemplate(line string) { s.kind = &line }

// SetSeen says whether the i-th of the scope's SeenPatterns stands in the log.
func (s *Situation) SetSeen(i int, seen bool) { s.Values[s.Scope.seenAt[i]] = BoolValue(seen) }

// Value is what a name is worth.
func (s *Situation) Value(name string) Value {
	i, ok := s.Scope.Index[name]
	if !ok {
		return Value{}
	}
	return s.at(i)
}

// assign sets a fact by its slot; forget must follow before anything is evaluated.
func (s *Situation) Assign(slot int, v Value) { s.Values[slot] = v }

// forget drops what was computed from facts.
func (s *Situation) Forget() {
	clear(s.computed)
	clear(s.Fired)
}

func (s *Situation) at(i int) Value {
	defined := s.Scope.Slots[i].Defined
	if defined == nil || s.computed[i] {
		return s.Values[i]
	}
	v := defined.Root.Eval(s)
	s.Values[i], s.computed[i], s.some = v, true, true
	return v
}
