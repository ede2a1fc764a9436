package condition

import (
	"errors"
	"fmt"
	"slices"

	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/gpu-triage/triage/rules/pattern"
	"github.com/gpu-triage/triage/rules/rulefile"
)

// Bounds of one expression. Evaluation is linear in the number of nodes and in the length of the lists it walks.
const (
	maxSource = 4096
	maxNodes  = 500
)

// Expression is a compiled, typed expression over the names of a scope.
type Expression struct {
	scope  *Scope
	source string
	root   *node
	asks   int
}

// node is one operation. Its value is unknown when what it needs is unknown, unless the known part decides.
type node struct {
	shape    Shape
	eval     func(*Situation) Value
	operands []*node
	slot     Slot   // of a name, else noSlot
	constant *Value // of what is worth the same everywhere

	pattern *pattern.Pattern // what the text of an event must match, when that is all there is to the node
}

// mistake is what is wrong with an expression, with its place inside it.
type mistake struct {
	Line, Column int // from 1
	Message      string
}

func (e *mistake) Error() string {
	return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Message)
}

// compile reads an expression, checks its types and refuses whatever this package does not evaluate. The error is a *mistake.
func (s *Scope) compile(source string) (*Expression, error) {
	if len(source) > maxSource {
		return nil, &mistake{1, 1, fmt.Sprintf("the expression has %d bytes, at most %d are allowed", len(source), maxSource)}
	}
	tree, err := parser.Parse(source)
	if err != nil {
		var at *file.Error
		if errors.As(err, &at) {
			return nil, &mistake{max(at.Line, 1), at.Column + 1, at.Message}
		}
		return nil, &mistake{1, 1, err.Error()}
	}
	c := compiler{scope: s, source: source}
	root := c.compile(tree.Node)
	if c.err != nil {
		return nil, c.err
	}
	return &Expression{s, source, root, asks(tree.Node)}, nil
}

// compileCondition is compile for an expression that must be true, false or unknown.
func (s *Scope) compileCondition(source string) (*Expression, error) {
	e, err := s.compile(source)
	if err != nil {
		return nil, err
	}
	if t := e.Type(); t != Bool && t != Any {
		return nil, &mistake{1, 1, fmt.Sprintf("a condition must be true or false, this is a %s", t)}
	}
	return e, nil
}

// Read compiles an expression of a rule file. A mistake is noted at its place in the file, and nil returned.
func (s *Scope) Read(d *rulefile.Decoder, t rulefile.Text) *Expression {
	return read(d, t, s.compile)
}

// ReadCondition is Read for an expression that must be true, false or unknown.
func (s *Scope) ReadCondition(d *rulefile.Decoder, t rulefile.Text) *Expression {
	return read(d, t, s.compileCondition)
}

func read(d *rulefile.Decoder, t rulefile.Text, compile func(string) (*Expression, error)) *Expression {
	if t.Line == 0 { // it was no text, which is noted already
		return nil
	}
	e, err := compile(t.Value)
	if err == nil {
		return e
	}
	var at *mistake
	if !errors.As(err, &at) {
		d.Problem(t.Line, t.Column, "%v", err)
		return nil
	}
	column := at.Column
	if at.Line == 1 {
		column += t.Column - 1
	}
	d.Problem(t.Line+at.Line-1, column, "%s", at.Message)
	return nil
}

// Constant is an expression that is worth the same in every situation.
func Constant(v Value) *Expression { return &Expression{source: v.String(), root: constantNode(v)} }

// Constant is what the expression is worth in every situation, if it is written without names and operators.
func (e *Expression) Constant() (v Value, ok bool) {
	if e.root.constant == nil {
		return Value{}, false
	}
	return *e.root.constant, true
}

// Source is the expression as it was written.
func (e *Expression) Source() string { return e.source }

// Type is the type of the expression's value.
func (e *Expression) Type() Type { return e.root.shape.Type }

// Eval is the value of the expression in a situation of its scope, unknown when the situation does not decide it.
func (e *Expression) Eval(s *Situation) Value { return e.root.eval(s) }

// Unknowns are the names whose unknown values keep the expression from having one, in the order of their appearance.
func (e *Expression) Unknowns(s *Situation) []string {
	var names []string
	visited := make(map[Slot]bool)
	var walk func(*node)
	walk = func(n *node) {
		if n.eval(s).Known() {
			return
		}
		if n.slot != noSlot && !visited[n.slot] {
			visited[n.slot] = true
			declared := s.scope.slots[n.slot]
			if declared.computed == nil {
				names = append(names, declared.name)
			} else {
				for _, needed := range declared.computed.neededIn(s) {
					walk(needed.root)
				}
			}
		}
		for _, operand := range n.operands {
			walk(operand)
		}
	}
	walk(e.root)
	return names
}

// Names are the declared names that the expression reads, directly or through computed ones.
func (e *Expression) Names() []string {
	var names []string
	e.reads(func(slot Slot) {
		if declared := e.scope.slots[slot]; !declared.logPattern {
			names = append(names, declared.name)
		}
	})
	return names
}

// LogPatterns are the numbers of the scope's LogPatterns that the expression asks for.
func (e *Expression) LogPatterns() []int {
	var numbers []int
	e.reads(func(slot Slot) {
		if n := slices.Index(e.scope.patternSlots, slot); n >= 0 {
			numbers = append(numbers, n)
		}
	})
	return numbers
}

// Requires is a regular expression that matches in the text of every event for which the expression is true, or nil when it cannot
// tell of one.
func (e *Expression) Requires() *pattern.Pattern { return e.root.pattern }

// reads calls yield once with each slot that the expression reads and that is not itself computed.
func (e *Expression) reads(yield func(Slot)) {
	visited := make(map[Slot]bool)
	var walk func(*node)
	walk = func(n *node) {
		if n.slot != noSlot && !visited[n.slot] {
			visited[n.slot] = true
			computed := e.scope.slots[n.slot].computed
			if computed == nil {
				yield(n.slot)
			} else {
				for _, needed := range computed.Needs {
					walk(needed.root)
				}
			}
		}
		for _, operand := range n.operands {
			walk(operand)
		}
	}
	walk(e.root)
}
