package condition

import (
	"fmt"

	"github.com/expr-lang/expr/ast"
	"github.com/gpu-triage/triage/rules/rulefile"
)

// compiler turns a syntax tree into nodes; it keeps the first mistake.
type compiler struct {
	scope     *Scope
	source    string
	nodes     int
	predicate *Shape // what # is, inside any, all and none
	err       *ExpressionError
}

func (c *compiler) fail(at ast.Node, format string, args ...any) *Node {
	if c.err == nil {
		line, column := 1, 1
		for i, r := range []rune(c.source) {
			if i == at.Location().From {
				break
			}
			column++
			if r == '\n' {
				line, column = line+1, 1
			}
		}
		c.err = &ExpressionError{line, column, fmt.Sprintf(format, args...)}
	}
	return Constant(Value{})
}

func Constant(v Value) *Node {
	shape := Shape{Type: v.Typ}
	if items := v.list(); v.Typ == List && len(items) > 0 {
		shape.Items = &Shape{Type: items[0].Typ}
	}
	return &Node{Shape: shape, Slot: -1, Fixed: &v, Eval: func(*Situation) Value { return v }}
}

func (c *compiler) compile(n ast.Node) *Node {
	if c.nodes++; c.nodes > maxNodes {
		return c.fail(n, "the expression has more than %d parts", maxNodes)
	}
	switch n := n.(type) {
	case *ast.NilNode:
		return Constant(Nil)
	case *ast.BoolNode:
		return Constant(BoolValue(n.Value))
	case *ast.IntegerNode:
		return Constant(NumberValue(float64(n.Value)))
	case *ast.FloatNode:
		return Constant(NumberValue(n.Value))
	case *ast.StringNode:
		return Constant(StringValue(n.Value))
	case *ast.IdentifierNode:
		return c.name(n, n.Value)
	case *ast.PointerNode:
		return c.pointer(n)
	case *ast.ChainNode:
		return c.compile(n.Node)
	case *ast.MemberNode:
		return c.member(n)
	case *ast.UnaryNode:
		return c.unary(n)
	case *ast.BinaryNode:
		return c.binary(n)
	case *ast.ConditionalNode:
		return c.conditional(n)
	case *ast.ArrayNode:
		return c.array(n)
	case *ast.BuiltinNode:
		return c.call(n, n.Name, n.Arguments)
	case *ast.CallNode:
		if callee, ok := n.Callee.(*ast.IdentifierNode); ok {
			return c.call(n, callee.Value, n.Arguments)
		}
	}
	return c.fail(n, "this form of expression is not allowed in rules")
}

func (c *compiler) name(at ast.Node, name string) *Node {
	i, ok := c.scope.resolve(name)
	if !ok {
		if near := rulefile.Nearest(name, c.scope.names()); near != "" {
			return c.fail(at, "unknown name %s, did you mean %s?", name, near)
		}
		return c.fail(at, "unknown name %s: facts are listed in facts.yaml", name)
	}
	return &Node{Shape: c.scope.Slots[i].Shape, Slot: i, Eval: func(s *Situation) Value { return s.at(i) }}
}

func (c *compiler) pointer(n *ast.PointerNode) *Node {
	if c.predicate == nil || n.Name != "" {
		return c.fail(n, "# stands only for the item inside any, all and none")
	}
	return &Node{Shape: *c.predicate, Slot: -1, Eval: func(s *Situation) Value { return s.item }}
}

func (c *compiler) member(n *ast.MemberNode) *Node {
	if of, ok := n.Node.(*ast.IdentifierNode); ok && of.Value == "env" {
		if variable, ok := n.Property.(*ast.StringNode); ok {
			return c.name(n, Environment+variable.Value)
		}
	}
	object := c.compile(n.Node)
	switch property := n.Property.(type) {
	case *ast.StringNode:
		return c.named(n, object, property.Value)
	case *ast.IntegerNode:
		if t := object.Shape.Type; t != List && t != Any {
			return c.fail(n, "a %s has no items", t)
		}
		return item(object, property.Value)
	case *ast.UnaryNode:
		if inner, ok := property.Node.(*ast.IntegerNode); ok && property.Operator == "-" {
			return item(object, -inner.Value)
		}
	}
	return c.fail(n, "only a constant index or member name is allowed")
}

func (c *compiler) named(at ast.Node, object *Node, name string) *Node {
	shape := Shape{}
	if members := object.Shape.Members; members != nil {
		var ok bool
		if shape, ok = members[name]; !ok {
			known := make([]string, 0, len(members))
			for m := range members {
				known = append(known, m)
			}
			return c.fail(at, "no member %s, did you mean %s?", name, rulefile.Nearest(name, known))
		}
	} else if t := object.Shape.Type; t != Object && t != Any {
		return c.fail(at, "a %s has no member %s", t, name)
	}
	return &Node{Shape: shape, Slot: -1, Kids: []*Node{object}, Eval: func(s *Situation) Value {
		v := object.Eval(s)
		if v.State != Present {
			return v
		}
		return v.Member(name)
	}}
}

func item(list *Node, index int) *Node {
	shape := Shape{}
	if list.Shape.Items != nil {
		shape = *list.Shape.Items
	}
	return &Node{Shape: shape, Slot: -1, Kids: []*Node{list}, Eval: func(s *Situation) Value {
		v := list.Eval(s)
		if v.State != Present {
			return v
		}
		items, i := v.list(), index
		if i < 0 {
			i += len(items)
		}
		if i < 0 || i >= len(items) {
			return Nil
		}
		return items[i]
	}}
}

func (c *compiler) array(n *ast.ArrayNode) *Node {
	items := make([]Value, len(n.Nodes))
	for i, element := range n.Nodes {
		compiled := c.compile(element)
		if compiled.Fixed == nil {
			return c.fail(element, "a list holds constants only")
		}
		items[i] = *compiled.Fixed
	}
	return Constant(ListValue(items...))
}

func (c *compiler) conditional(n *ast.ConditionalNode) *Node {
	condition, yes, no := c.boolean(n.Cond), c.compile(n.Exp1), c.compile(n.Exp2)
	shape := yes.Shape
	if shape.Type != no.Shape.Type {
		shape = Shape{}
		if yes.Shape.Type == Null {
			shape = no.Shape
		} else if no.Shape.Type == Null {
			shape = yes.Shape
		}
	}
	return &Node{Shape: shape, Slot: -1, Kids: []*Node{condition, yes, no}, Eval: func(s *Situation) Value {
		switch test := condition.Eval(s); {
		case test.True():
			return yes.Eval(s)
		case test.Known():
			return no.Eval(s)
		}
		if a, b := yes.Eval(s), no.Eval(s); a.Known() && a.Equal(b) {
			return a
		}
		return Value{}
	}}
}
