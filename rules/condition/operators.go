package condition

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/gpu-triage/triage/rules/pattern"
)

// boolean compiles an operand that must be true or false.
func (c *compiler) boolean(n ast.Node) *Node {
	compiled := c.compile(n)
	if t := compiled.Shape.Type; t != Bool && t != Any && t != Null && c.err == nil {
		return c.fail(n, "this is a %s where true or false is needed", t)
	}
	return compiled
}

func (c *compiler) unary(n *ast.UnaryNode) *Node {
	switch n.Operator {
	case "not", "!":
		operand := c.boolean(n.Node)
		return &Node{Shape: Shape{Type: Bool}, Slot: -1, Kids: []*Node{operand}, Eval: func(s *Situation) Value {
			v := operand.Eval(s)
			if !v.Known() {
				return v
			}
			return BoolValue(!v.True())
		}}
	case "-", "+":
		operand := c.compile(n.Node)
		if t := operand.Shape.Type; t != Number && t != Any {
			return c.fail(n, "%s needs a number, this is a %s", n.Operator, t)
		}
		negative := n.Operator == "-"
		eval := func(s *Situation) Value {
			v := operand.Eval(s)
			if v.State != Present || !negative {
				return v
			}
			return NumberValue(-v.Number)
		}
		if operand.Fixed != nil {
			return Constant(eval(nil))
		}
		return &Node{Shape: Shape{Type: Number}, Slot: -1, Kids: []*Node{operand}, Eval: eval}
	}
	return c.fail(n, "the operator %s is not allowed in rules", n.Operator)
}

func (c *compiler) binary(n *ast.BinaryNode) *Node {
	switch n.Operator {
	case "and", "&&":
		return logical(c.boolean(n.Left), c.boolean(n.Right), false)
	case "or", "||":
		return logical(c.boolean(n.Left), c.boolean(n.Right), true)
	case "==", "!=", "<", "<=", ">", ">=":
		return c.comparison(n)
	case "in":
		return c.in(n)
	case "matches":
		return c.matches(n)
	case "contains", "startsWith", "endsWith":
		return c.textual(n)
	case "+", "-", "*", "/", "%":
		return c.arithmetic(n)
	case "??":
		left, right := c.compile(n.Left), c.compile(n.Right)
		return &Node{Shape: left.Shape, Slot: -1, Kids: []*Node{left, right}, Eval: func(s *Situation) Value {
			if v := left.Eval(s); !v.IsNil() {
				return v
			}
			return right.Eval(s)
		}}
	}
	return c.fail(n, "the operator %s is not allowed in rules", n.Operator)
}

// logical is Kleene's and (decisive: false) or or (decisive: true): one decisive side decides, whatever the other is.
func logical(left, right *Node, decisive bool) *Node {
	return &Node{Shape: Shape{Type: Bool}, Slot: -1, Kids: []*Node{left, right}, Eval: func(s *Situation) Value {
		a := left.Eval(s)
		if a.Known() && a.True() == decisive {
			return BoolValue(decisive)
		}
		b := right.Eval(s)
		if b.Known() && b.True() == decisive {
			return BoolValue(decisive)
		}
		if !a.Known() || !b.Known() {
			return Value{}
		}
		return BoolValue(!decisive)
	}}
}

func (c *compiler) comparison(n *ast.BinaryNode) *Node {
	left, right := c.compile(n.Left), c.compile(n.Right)
	left, right = c.versionLiteral(n.Left, left, right), c.versionLiteral(n.Right, right, left)
	a, b, ordering := left.Shape.Type, right.Shape.Type, n.Operator != "==" && n.Operator != "!="
	if c.err == nil && a != b && a != Any && b != Any && (ordering || a != Null && b != Null) {
		if a == VersionType || b == VersionType {
			return c.fail(n, `a version is compared with a quoted version such as "2.6.0"`)
		}
		return c.fail(n, "a %s cannot be compared with a %s", a, b)
	}
	if ordering && (a == List || a == Object || a == Bool) {
		return c.fail(n, "a %s has no order", a)
	}
	accept := orderings[n.Operator]
	compared := &Node{Shape: Shape{Type: Bool}, Slot: -1, Kids: []*Node{left, right}, Eval: func(s *Situation) Value {
		x, y := left.Eval(s), right.Eval(s)
		if !x.Known() || !y.Known() {
			return Value{}
		}
		if !ordering {
			return BoolValue(x.Equal(y) == (n.Operator == "=="))
		}
		order, ok := Compare(x, y)
		return BoolValue(ok && accept(order))
	}}
	if n.Operator == "==" && right.Fixed != nil {
		compared.requireOne(n.Left, *right.Fixed)
	}
	return compared
}

var orderings = map[string]func(int) bool{
	"<": func(o int) bool { return o < 0 }, "<=": func(o int) bool { return o <= 0 },
	">": func(o int) bool { return o > 0 }, ">=": func(o int) bool { return o >= 0 },
}

// versionLiteral makes a constant text that stands beside a version one too, so that a mistyped version is found at load.
func (c *compiler) versionLiteral(at ast.Node, side, other *Node) *Node {
	if other.Shape.Type != VersionType || side.Fixed == nil || side.Fixed.Typ != String {
		return side
	}
	v, err := ParseVersion(side.Fixed.Text)
	if err != nil {
		return c.fail(at, "%v", err)
	}
	return Constant(VersionValue(v))
}

// compare orders two known values of one type; without an order, for instance with nil, ok is false.
func Compare(x, y Value) (order int, ok bool) {
	if x.State != Present || y.State != Present || x.Typ != y.Typ {
		return 0, false
	}
	switch x.Typ {
	case Number:
		switch {
		case x.Number < y.Number:
			return -1, true
		case x.Number > y.Number:
			return 1, true
		}
		return 0, true
	case String:
		return strings.Compare(x.Text, y.Text), true
	case VersionType:
		return x.Ref.(*Version).Compare(*y.Ref.(*Version)), true
	}
	return 0, false
}

func (c *compiler) in(n *ast.BinaryNode) *Node {
	left, right := c.compile(n.Left), c.compile(n.Right)
	if right.Shape.Type != List && right.Shape.Type != Any {
		return c.fail(n.Right, "in needs a list, this is a %s", right.Shape.Type)
	}
	if right.Fixed != nil {
		items := append([]Value(nil), right.Fixed.list()...)
		for i := range items {
			items[i] = *c.versionLiteral(n.Right, Constant(items[i]), left).Fixed
			if t := items[i].Typ; left.Shape.Type != Any && t != Null && t != left.Shape.Type && c.err == nil {
				return c.fail(n.Right, "a %s is never in a list of %ss", left.Shape.Type, t)
			}
		}
		right = Constant(ListValue(items...))
	}
	found := &Node{Shape: Shape{Type: Bool}, Slot: -1, Kids: []*Node{left, right}, Eval: func(s *Situation) Value {
		x, list := left.Eval(s), right.Eval(s)
		if !x.Known() || !list.Known() {
			return Value{}
		}
		for _, item := range list.list() {
			if item.Equal(x) {
				return TrueValue
			}
		}
		return FalseValue
	}}
	if right.Fixed != nil {
		found.requireOne(n.Left, right.Fixed.list()...)
	}
	return found
}

func (c *compiler) matches(n *ast.BinaryNode) *Node {
	left, right := c.text(n.Left), c.compile(n.Right)
	if right.Fixed == nil || right.Fixed.Typ != String {
		return c.fail(n.Right, "matches needs a constant regular expression")
	}
	pattern, err := pattern.New(right.Fixed.Text)
	if err != nil {
		return c.fail(n.Right, "%v", err)
	}
	eval := func(s *Situation) Value {
		v := left.Eval(s)
		if !v.Known() {
			return v
		}
		return BoolValue(v.State == Present && pattern.Matches(v.Text))
	}
	matched := &Node{Shape: Shape{Type: Bool}, Slot: -1, Kids: []*Node{left}, Eval: eval}
	if ofEvent(n.Left) {
		matched.pattern = pattern
	}
	matched.askKinds(n.Left)
	return matched
}

// requireOne notes that the node is true only where an operand, if that is of an event, has one of the constants in it.
func (n *Node) requireOne(operand ast.Node, constants ...Value) {
	if !ofEvent(operand) || len(constants) == 0 {
		return
	}
	quoted := make([]string, len(constants))
	for i, c := range constants {
		if c.State != Present || c.Typ != String {
			return
		}
		quoted[i] = regexp.QuoteMeta(c.Text)
	}
	if pattern, err := pattern.New(strings.Join(quoted, "|")); err == nil { // no expression has all bytes that a text may have
		n.pattern = pattern
	}
}

// ofEvent tells whether an operand is the text of an event or a part of it.
func ofEvent(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return n.Value == "text" || n.Value == "line"
	case *ast.MemberNode:
		base, isName := n.Node.(*ast.IdentifierNode)
		member, isText := n.Property.(*ast.StringNode)
		return isName && isText && base.Value == "error" && slices.Contains([]string{"type", "name", "message"}, member.Value)
	}
	return false
}

// askKinds lets a node that asks only whether its pattern matches a line answer for kinds of lines.
func (n *Node) askKinds(operand ast.Node) {
	eval, pattern := n.Eval, n.pattern
	if _, isLine := operand.(*ast.IdentifierNode); !isLine || pattern == nil {
		return
	}
	n.Eval = func(s *Situation) Value {
		if s.kind != nil {
			matches, known := pattern.MatchesTemplate(*s.kind)
			if !known {
				return Value{}
			}
			return BoolValue(matches)
		}
		return eval(s)
	}
}

// text compiles an operand that must be a text.
func (c *compiler) text(n ast.Node) *Node {
	compiled := c.compile(n)
	if t := compiled.Shape.Type; t != String && t != Any && c.err == nil {
		return c.fail(n, "this is a %s where a text is needed", t)
	}
	return compiled
}

var textTests = map[string]func(text, part string) bool{
	"contains": strings.Contains, "startsWith": strings.HasPrefix, "endsWith": strings.HasSuffix,
}

func (c *compiler) textual(n *ast.BinaryNode) *Node {
	left, right, test := c.text(n.Left), c.text(n.Right), textTests[n.Operator]
	tested := &Node{Shape: Shape{Type: Bool}, Slot: -1, Kids: []*Node{left, right}, Eval: func(s *Situation) Value {
		x, y := left.Eval(s), right.Eval(s)
		if !x.Known() || !y.Known() {
			return Value{}
		}
		return BoolValue(x.State == Present && y.State == Present && test(x.Text, y.Text))
	}}
	if right.Fixed != nil {
		tested.requireOne(n.Left, *right.Fixed)
	}
	if n.Operator == "contains" {
		tested.askKinds(n.Left)
	}
	return tested
}

var calculations = map[string]func(a, b float64) float64{
	"+": func(a, b float64) float64 { return a + b }, "-": func(a, b float64) float64 { return a - b },
	"*": func(a, b float64) float64 { return a * b }, "/": func(a, b float64) float64 { return a / b },
	"%": math.Mod,
}

// arithmetic is on numbers alone: joining texts could grow without bound.
func (c *compiler) arithmetic(n *ast.BinaryNode) *Node {
	left, right := c.compile(n.Left), c.compile(n.Right)
	for _, side := range []*Node{left, right} {
		if t := side.Shape.Type; t != Number && t != Any && c.err == nil {
			return c.fail(n, "%s needs numbers, this is a %s", n.Operator, t)
		}
	}
	calculate, divides := calculations[n.Operator], n.Operator == "/" || n.Operator == "%"
	return &Node{Shape: Shape{Type: Number}, Slot: -1, Kids: []*Node{left, right}, Eval: func(s *Situation) Value {
		x, y := left.Eval(s), right.Eval(s)
		if !x.Known() || !y.Known() {
			return Value{}
		}
		if x.Typ != Number || y.Typ != Number || divides && y.Number == 0 {
			return Nil
		}
		return NumberValue(calculate(x.Number, y.Number))
	}}
}
