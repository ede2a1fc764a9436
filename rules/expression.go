package rules

import (
	"errors"
	"fmt"
	"slices"

	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
)

// Bounds of one expression. Evaluation is linear in the number of nodes and in the length of the lists it walks.
const (
	maxSource = 4096
	maxNodes  = 500
)

// Expression is a compiled, typed expression over the names of a scope.
type Expression struct {
	source string
	root   *node
	asks   int // see Signature.Asks
}

// node is one operation. Its value is unknown when what it needs is unknown, unless the known part decides.
type node struct {
	shape Shape
	eval  func(*Situation) Value
	kids  []*node
	slot  int // of a name, else -1
	fixed *Value

	pattern *Pattern // what the text of an event must match, when that is all there is to the node

	choose func(*Situation) *node // the kid that the situation makes valid, when the kids are alternatives
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
	return &Expression{source: source, root: root, asks: asks(tree.Node)}, nil
}

// CompileCondition is Compile for an expression that must be true, false or unknown.
func (s *Scope) CompileCondition(source string) (*Expression, error) {
	e, err := s.Compile(source)
	if err != nil {
		return nil, err
	}
	if t := e.root.shape.Type; t != Bool && t != Any {
		return nil, &ExpressionError{1, 1, fmt.Sprintf("a condition must be true or false, this is a %s", t)}
	}
	return e, nil
}

// Source is the expression as it was written.
func (e *Expression) Source() string { return e.source }

// Type is the type of the expression's value.
func (e *Expression) Type() Type { return e.root.shape.Type }

// Eval is the value of the expression in a situation, unknown when the situation does not decide it.
func (e *Expression) Eval(s *Situation) Value { return e.root.eval(s) }

// Unknowns are the names whose unknown values keep the expression from having one, in the order of their appearance.
func (e *Expression) Unknowns(s *Situation) []string {
	var names []string
	met := make(map[int]bool)
	var walk func(*node)
	walk = func(n *node) {
		if n.eval(s).Known() {
			return
		}
		if n.slot >= 0 && !met[n.slot] {
			met[n.slot] = true
			if defined := s.scope.slots[n.slot].defined; defined != nil {
				walk(defined.root)
			} else {
				names = append(names, s.scope.slots[n.slot].name)
			}
		}
		if n.choose != nil {
			walk(n.choose(s))
			return
		}
		for _, kid := range n.kids {
			walk(kid)
		}
	}
	walk(e.root)
	return names
}

// Names are the declared names that the expression reads, directly or through definitions.
func (e *Expression) Names(s *Scope) []string {
	var names []string
	e.reads(s, func(i int) {
		if !s.slots[i].hidden {
			names = append(names, s.slots[i].name)
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
func (e *Expression) Requires() *Pattern { return e.root.pattern }

// reads calls yield once with each slot that the expression reads and that is not itself computed.
func (e *Expression) reads(s *Scope, yield func(slot int)) {
	met := make(map[int]bool)
	var walk func(*node)
	walk = func(n *node) {
		if n.slot >= 0 && !met[n.slot] {
			met[n.slot] = true
			if defined := s.slots[n.slot].defined; defined != nil {
				walk(defined.root)
			} else {
				yield(n.slot)
			}
		}
		for _, kid := range n.kids {
			walk(kid)
		}
	}
	walk(e.root)
}
