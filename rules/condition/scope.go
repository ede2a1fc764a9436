package condition

import (
	"fmt"
	"slices"
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
	byName       map[string]Slot // the names that expressions can write
	slots        []declared
	computes     bool            // some of them are computed
	byPattern    map[string]Slot // log patterns, by how they are written
	patterns     []*pattern.Pattern
	patternSlots []Slot
}

// Slot is the place of a name in the situations of its scope. Going by it is faster than by the name.
type Slot int

const noSlot Slot = -1

// declared is what is known of the name of a slot.
type declared struct {
	name       string
	shape      Shape
	computed   *Computed // the value is computed from others
	logPattern bool      // it is no name but the answer to seen("...")
}

// Environment is the prefix of facts that are environment variables; they need no declaration.
const Environment = "env."

// NewScope is a scope without names.
func NewScope() *Scope {
	return &Scope{byName: make(map[string]Slot), byPattern: make(map[string]Slot)}
}

func (s *Scope) add(d declared) Slot {
	s.slots = append(s.slots, d)
	s.computes = s.computes || d.computed != nil
	return Slot(len(s.slots) - 1)
}

// Declare adds a name. Declaring it again with the same type is no error.
func (s *Scope) Declare(name string, shape Shape) error {
	if slot, ok := s.byName[name]; ok {
		if t := s.slots[slot].shape.Type; t != shape.Type {
			return fmt.Errorf("%s is a %s already and cannot be a %s too", name, t, shape.Type)
		}
		return nil
	}
	s.byName[name] = s.add(declared{name: name, shape: shape})
	return nil
}

// Define adds a name that stands for an expression over names that exist already. It is computed once per situation.
func (s *Scope) Define(name string, e *Expression) error {
	return s.define(name, e.root.shape, &Computed{Value: e.root.eval, Needs: []*Expression{e}})
}

// DefineChoice adds a name that stands for one of some expressions. choose says for which, by its place, and is negative where the
// name has no value.
func (s *Scope) DefineChoice(name string, alternatives []*Expression, choose func(*Situation) int) error {
	shape := alternatives[0].root.shape
	for _, e := range alternatives {
		if e.root.shape.Type != shape.Type {
			shape = Shape{}
		}
	}
	value := func(s *Situation) Value {
		if i := choose(s); i >= 0 {
			return alternatives[i].root.eval(s)
		}
		return Nil
	}
	return s.define(name, shape, &Computed{Value: value, Needs: alternatives, choose: choose})
}

func (s *Scope) define(name string, shape Shape, c *Computed) error {
	if _, ok := s.byName[name]; ok {
		return fmt.Errorf("%s is defined already", name)
	}
	s.byName[name] = s.add(declared{name: name, shape: shape, computed: c})
	return nil
}

// Bind lets the expressions that are compiled from now on write a name for what is computed in a slot.
func (s *Scope) Bind(name string, slot Slot) { s.byName[name] = slot }

// Unbind takes a name back. What was compiled with it goes on to mean the slot.
func (s *Scope) Unbind(name string) { delete(s.byName, name) }

// Has tells whether expressions may write the name.
func (s *Scope) Has(name string) bool {
	_, ok := s.byName[name]
	return ok
}

// Slot is the slot of a name.
func (s *Scope) Slot(name string) (slot Slot, ok bool) {
	slot, ok = s.byName[name]
	return slot, ok
}

// resolve is Slot for an expression: environment variables are declared when they are first used.
func (s *Scope) resolve(name string) (Slot, bool) {
	if slot, ok := s.byName[name]; ok {
		return slot, true
	}
	if !strings.HasPrefix(name, Environment) {
		return noSlot, false
	}
	slot := s.add(declared{name: name, shape: Shape{Type: String}})
	s.byName[name] = slot
	return slot, true
}

// Names are the names that expressions may write, in the order in which they were added.
func (s *Scope) Names() []string {
	names := make([]string, 0, len(s.byName))
	for name := range s.byName {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return int(s.byName[a] - s.byName[b]) })
	return names
}

// DeclareLogPattern adds a regular expression that conditions look for anywhere in the log, with seen("..."). Declaring it again is no
// error.
func (s *Scope) DeclareLogPattern(source string) error {
	_, err := s.logPattern(source)
	return err
}

// logPattern is the slot that says whether some line of the log matches a pattern.
func (s *Scope) logPattern(source string) (Slot, error) {
	if slot, ok := s.byPattern[source]; ok {
		return slot, nil
	}
	compiled, err := pattern.New(source)
	if err != nil {
		return noSlot, err
	}
	slot := s.add(declared{name: "seen " + source, shape: Shape{Type: Bool}, logPattern: true})
	s.byPattern[source] = slot
	s.patterns, s.patternSlots = append(s.patterns, compiled), append(s.patternSlots, slot)
	return slot, nil
}

// LogPatterns are the patterns that conditions look for anywhere in the log, in the order that Situation.SetLogPattern takes.
func (s *Scope) LogPatterns() []*pattern.Pattern { return s.patterns }
