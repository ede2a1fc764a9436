package condition

import (
	"math"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// boolean compiles an operand that must be true or false.
func (c *compiler) boolean(n ast.Node) *node {
	compiled := c.compile(n)
	if t := compiled.shape.Type; t != Bool && t != Any && t != Null && c.err == nil {
		return c.fail(n, "this is a %s where true or false is needed", t)
	}
	return compiled
}

func (c *compiler) unary(n *ast.UnaryNode) *node {
	switch n.Operator {
	case "not", "!":
		operand := c.boolean(n.Node)
		return &node{shape: Shape{Type: Bool}, slot: noSlot, operands: []*node{operand}, eval: func(s *Situation) Value {
			v := operand.eval(s)
			if !v.Known() {
				return v
			}
			return BoolValue(!v.True())
		}}
	case "-", "+":
		operand := c.compile(n.Node)
		if t := operand.shape.Type; t != Number && t != Any {
			return c.fail(n, "%s needs a number, this is a %s", n.Operator, t)
		}
		negative := n.Operator == "-"
		eval := func(s *Situation) Value {
			v := operand.eval(s)
			if v.state != present || !negative {
				return v
			}
			return NumberValue(-v.number)
		}
		if operand.constant != nil {
			return constantNode(eval(nil))
		}
		return &node{shape: Shape{Type: Number}, slot: noSlot, operands: []*node{operand}, eval: eval}
	}
	return c.fail(n, "the operator %s is not allowed in rules", n.Operator)
}

func (c *compiler) binary(n *ast.BinaryNode) *node {
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
		return &node{shape: left.shape, slot: noSlot, operands: []*node{left, right}, eval: func(s *Situation) Value {
			if v := left.eval(s); !v.IsNil() {
				return v
			}
			return right.eval(s)
		}}
	}
	return c.fail(n, "the operator %s is not allowed in rules", n.Operator)
}

// logical is Kleene's and (decisive: false) or or (decisive: true): one decisive side decides, whatever the other is.
func logical(left, right *node, decisive bool) *node {
	return &node{shape: Shape{Type: Bool}, slot: noSlot, operands: []*node{left, right}, eval: func(s *Situation) Value {
		a := left.eval(s)
		if a.Known() && a.True() == decisive {
			return BoolValue(decisive)
		}
		b := right.eval(s)
		if b.Known() && b.True() == decisive {
			return BoolValue(decisive)
		}
		if !a.Known() || !b.Known() {
			return Value{}
		}
		return BoolValue(!decisive)
	}}
}

func (c *compiler) comparison(n *ast.BinaryNode) *node {
	left, right := c.compile(n.Left), c.compile(n.Right)
	left, right = c.versionLiteral(n.Left, left, right), c.versionLiteral(n.Right, right, left)
	a, b, ordering := left.shape.Type, right.shape.Type, n.Operator != "==" && n.Operator != "!="
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
	compared := &node{shape: Shape{Type: Bool}, slot: noSlot, operands: []*node{left, right}, eval: func(s *Situation) Value {
		x, y := left.eval(s), right.eval(s)
		if !x.Known() || !y.Known() {
			return Value{}
		}
		if !ordering {
			return BoolValue(x.Equal(y) == (n.Operator == "=="))
		}
		order, ok := Compare(x, y)
		return BoolValue(ok && accept(order))
	}}
	if n.Operator == "==" && right.constant != nil {
		compared.requireOne(n.Left, *right.constant)
	}
	return compared
}

var orderings = map[string]func(int) bool{
	"<": func(o int) bool { return o < 0 }, "<=": func(o int) bool { return o <= 0 },
	">": func(o int) bool { return o > 0 }, ">=": func(o int) bool { return o >= 0 },
}

// versionLiteral makes a constant text that stands beside a version one too, so that a mistyped version is found at load.
func (c *compiler) versionLiteral(at ast.Node, side, other *node) *node {
	if other.shape.Type != VersionType || side.constant == nil || side.constant.typ != String {
		return side
	}
	v, err := ParseVersion(side.constant.text)
	if err != nil {
		return c.fail(at, "%v", err)
	}
	return constantNode(VersionValue(v))
}

// Compare orders two known values of one type; without an order, for instance with nil, ok is false.
func Compare(x, y Value) (order int, ok bool) {
	if x.state != present || y.state != present || x.typ != y.typ {
		return 0, false
	}
	switch x.typ {
	case Number:
		switch {
		case x.number < y.number:
			return -1, true
		case x.number > y.number:
			return 1, true
		}
		return 0, true
	case String:
		return strings.Compare(x.text, y.text), true
	case VersionType:
		return x.ref.(*Version).Compare(*y.ref.(*Version)), true
	}
	return 0, false
}

func (c *compiler) in(n *ast.BinaryNode) *node {
	left, right := c.compile(n.Left), c.compile(n.Right)
	if right.shape.Type != List && right.shape.Type != Any {
		return c.fail(n.Right, "in needs a list, this is a %s", right.shape.Type)
	}
	if right.constant != nil {
		items := append([]Value(nil), right.constant.list()...)
		for i := range items {
			items[i] = *c.versionLiteral(n.Right, constantNode(items[i]), left).constant
			if t := items[i].typ; left.shape.Type != Any && t != Null && t != left.shape.Type && c.err == nil {
				return c.fail(n.Right, "a %s is never in a list of %ss", left.shape.Type, t)
			}
		}
		right = constantNode(ListValue(items...))
	}
	found := &node{shape: Shape{Type: Bool}, slot: noSlot, operands: []*node{left, right}, eval: func(s *Situation) Value {
		x, list := left.eval(s), right.eval(s)
		if !x.Known() || !list.Known() {
			return Value{}
		}
		for _, item := range list.list() {
			if item.Equal(x) {
				return trueValue
			}
		}
		return falseValue
	}}
	if right.constant != nil {
		found.requireOne(n.Left, right.constant.list()...)
	}
	return found
}

var calculations = map[string]func(a, b float64) float64{
	"+": func(a, b float64) float64 { return a + b }, "-": func(a, b float64) float64 { return a - b },
	"*": func(a, b float64) float64 { return a * b }, "/": func(a, b float64) float64 { return a / b },
	"%": math.Mod,
}

// arithmetic is on numbers alone: joining texts could grow without bound.
func (c *compiler) arithmetic(n *ast.BinaryNode) *node {
	left, right := c.compile(n.Left), c.compile(n.Right)
	for _, side := range []*node{left, right} {
		if t := side.shape.Type; t != Number && t != Any && c.err == nil {
			return c.fail(n, "%s needs numbers, this is a %s", n.Operator, t)
		}
	}
	calculate, divides := calculations[n.Operator], n.Operator == "/" || n.Operator == "%"
	return &node{shape: Shape{Type: Number}, slot: noSlot, operands: []*node{left, right}, eval: func(s *Situation) Value {
		x, y := left.eval(s), right.eval(s)
		if !x.Known() || !y.Known() {
			return Value{}
		}
		if x.typ != Number || y.typ != Number || divides && y.number == 0 {
			return Nil
		}
		return NumberValue(calculate(x.number, y.number))
	}}
}
