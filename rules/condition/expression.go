package condition

import (
	"errors"
	"fmt"
	"slices"

	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/gpu-triage/triage/rules/pattern"
)

// Bounds of one expression. Evaluation is linear in the number of nodes and in the length of the lists it walks.
const (
	maxSource = 4096
	maxNodes  = 500
)

// Expression is a compiled, typed expression over the names of a scope.
type Expression struct {
	Written string
	Root    *Node
}

// node is one operation. Its value is unknown when what it needs is unknown, unless the known part decides.
type Node struct {
	Shape Shape
	Eval  func(*Situation) Value
	Kids  []*Node
	Slot  int // of a name, else -1
	Fixed *Value

	pattern *pattern.Pattern // what the text of an event must match, when that is all there is to the node

	Choose func(*Situation) *Node // the kid that the situation makes valid, when the kids are alternatives
}

// ExpressionError is a mistake in an expression, with its place inside it.
type ExpressionError struct {
	Line, Column int // from 1
	Message      string
}

func (e *ExpressionError) Error() string {
	return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Message)
}

// Compile reads an expression, checks its types and refuses whatever this package does not evaluate.
func (s *Scope) Compile(source string) (*Expression, error) {
	if len(source) > maxSource {
		return nil, &ExpressionError{1, 1, fmt.Sprintf("the expression has %d bytes, at most %d are allowed", len(source), maxSource)}
	}
	tree, err := parser.Parse(source)
	if err != nil {
		var at *file.Error
		if errors.As(err, &at) {
			return nil, &ExpressionError{max(at.Line, 1), at.Column + 1, at.Message}
		}
		return nil, &ExpressionError{1, 1, err.Error()}
	}
	c := compiler{scope: s, source: source}
	root := c.compile(tree.Node)
	if c.err != nil {
		return nil, c.err
	}
	return &Expression{Written: source, Root: root}, nil
}

// CompileCondition is Compile for an expression that must be true, false or unknown.
func (s *Scope) CompileCondition(source string) (*Expression, error) {
	e, err := s.Compile(source)
	if err != nil {
		return nil, err
	}
	if t := e.Root.Shape.Type; t != Bool && t != Any {
		return nil, &ExpressionError{1, 1, fmt.Sprintf("a condition must be true or false, this is a %s", t)}
	}
	return e, nil
}

// Source is the expression as it was written.
func (e *Expression) Source() string { return e.Written }

// Type is the type of the expression's value.
func (e *Expression) Type() Type { return e.Root.Shape.Type }

// Eval is the value of the expression in a situation, unknown when the situation does not decide it.
func (e *Expression) Eval(s *Situation) Value { return e.Root.Eval(s) }

// Unknowns are the names whose unknown values keep the expression from having one, in the order of their appearance.
func (e *Expression) Unknowns(s *Situation) []string {
	var names []string
	met := make(map[int]bool)
	var walk func(*Node)
	walk = func(n *Node) {
		if n.Eval(s).Known() {
			return
		}
		if n.Slot >= 0 && !met[n.Slot] {
			met[n.Slot] = true
			if defined := s.Scope.Slots[n.Slot].Defined; defined != nil {
				walk(defined.Root)
			} else {
				names = append(names, s.Scope.Slots[n.Slot].Name)
			}
		}
		if n.Choose != nil {
			walk(n.Choose(s))
			return
		}
		for _, kid := range n.Kids {
			walk(kid)
		}
	}
	walk(e.Root)
	return names
}

// Names are the declared names that the expression reads, directly or through definitions.
func (e *Expression) Names(s *Scope) []string {
	var names []string
	e.reads(s, func(i int) {
		if !s.Slots[i].Hidden {
			names = append(names, s.Slots[i].Name)
		}
	})
	return names
}

// Seen are the numbers of the scope's SeenPatterns that the expression looks for.
func (e *Expression) Seen(s *Scope) []int {
	var numbers []int
	e.reads(s, func(i int) {
		if n := slices.Index(s.seenAt, i); n >= 0 {
			numbers = append(numbers, n)
		}
	})
	return numbers
}

// Requires is a regular expression that matches in the text of every event for which the expression is true, or nil when it cannot
// tell of one.
func (e *Expression) Requires() *pattern.Pattern { return e.Root.pattern }

// reads calls yield once with each slot that the expression reads and that is not itself computed.
func (e *Expression) reads(s *Scope, yield func(slot int)) {
	met := make(map[int]bool)
	var walk func(*Node)
	walk = func(n *Node) {
		if n.Slot >= 0 && !met[n.Slot] {
			met[n.Slot] = true
			if defined := s.Slots[n.Slot].Defined; defined != nil {
				walk(defined.Root)
			} else {
				yield(n.Slot)
			}
		}
		for _, kid := range n.Kids {
			walk(kid)
		}
	}
	walk(e.Root)
}
