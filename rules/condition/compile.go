package condition

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/gpu-triage/triage/rules/spelling"
)

// compiler turns a syntax tree into nodes; it keeps the first mistake.
type compiler struct {
	scope     *Scope
	source    string
	nodes     int
	predicate *Shape // what # is, inside any, all and none
	err       *mistake
}

// fail notes a mistake at a node.
func (c *compiler) fail(at ast.Node, format string, args ...any) *node {
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
		c.err = &mistake{line, column, fmt.Sprintf(format, args...)}
	}
	return constantNode(Value{})
}

// constantNode is a value as it was written.
func constantNode(v Value) *node {
	shape := Shape{Type: v.typ}
	if items := v.list(); v.typ == List && len(items) > 0 {
		shape.Items = &Shape{Type: items[0].typ}
	}
	return &node{shape: shape, slot: noSlot, constant: &v, eval: func(*Situation) Value { return v }}
}

func (c *compiler) compile(n ast.Node) *node {
	if c.nodes++; c.nodes > maxNodes {
		return c.fail(n, "the expression has more than %d parts", maxNodes)
	}
	switch n := n.(type) {
	case *ast.NilNode:
		return constantNode(Nil)
	case *ast.BoolNode:
		return constantNode(BoolValue(n.Value))
	case *ast.IntegerNode:
		return constantNode(NumberValue(float64(n.Value)))
	case *ast.FloatNode:
		return constantNode(NumberValue(n.Value))
	case *ast.StringNode:
		return constantNode(StringValue(n.Value))
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

func (c *compiler) name(at ast.Node, name string) *node {
	slot, ok := c.scope.resolve(name)
	if !ok {
		if near := spelling.Nearest(name, slices.Sorted(slices.Values(c.scope.Names()))); near != "" {
			return c.fail(at, "unknown name %s, did you mean %s?", name, near)
		}
		return c.fail(at, "unknown name %s: facts are listed in facts.yaml", name)
	}
	declared := c.scope.slots[slot]
	eval := func(s *Situation) Value { return s.stated(slot) } // At, without its question, which is most of what an evaluation takes
	if declared.computed != nil {
		eval = func(s *Situation) Value { return s.At(slot) }
	}
	return &node{shape: declared.shape, slot: slot, eval: eval}
}

func (c *compiler) pointer(n *ast.PointerNode) *node {
	if c.predicate == nil || n.Name != "" {
		return c.fail(n, "# stands only for the item inside any, all and none")
	}
	return &node{shape: *c.predicate, slot: noSlot, eval: func(s *Situation) Value { return s.item }}
}

func (c *compiler) member(n *ast.MemberNode) *node {
	if of, ok := n.Node.(*ast.IdentifierNode); ok && of.Value == "env" {
		if variable, ok := n.Property.(*ast.StringNode); ok {
			return c.name(n, Environment+variable.Value)
		}
	}
	object := c.compile(n.Node)
	switch property := n.Property.(type) {
	case *ast.StringNode:
		return c.memberNamed(n, object, property.Value)
	case *ast.IntegerNode:
		if t := object.shape.Type; t != List && t != Any {
			return c.fail(n, "a %s has no items", t)
		}
		return itemAt(object, property.Value)
	case *ast.UnaryNode:
		if inner, ok := property.Node.(*ast.IntegerNode); ok && property.Operator == "-" {
			return itemAt(object, -inner.Value)
		}
	}
	return c.fail(n, "only a constant index or member name is allowed")
}

// memberNamed is a member of an object.
func (c *compiler) memberNamed(at ast.Node, object *node, name string) *node {
	shape, known := object.shape.Members[name]
	switch t := object.shape.Type; {
	case object.shape.Members != nil && !known:
		members := slices.Sorted(maps.Keys(object.shape.Members))
		hint := ""
		if near := spelling.Nearest(name, members); near != "" {
			hint = fmt.Sprintf(", did you mean %s?", near)
		}
		return c.fail(at, "no member %s%s; members are %s", name, hint, strings.Join(members, ", "))
	case t != Object && t != Any:
		return c.fail(at, "a %s has no member %s", t, name)
	}
	return &node{shape: shape, slot: noSlot, operands: []*node{object}, eval: func(s *Situation) Value {
		v := object.eval(s)
		if v.state != present {
			return v
		}
		return v.Member(name)
	}}
}

// itemAt is an item of a list, counted from the end when the index is negative.
func itemAt(list *node, index int) *node {
	shape := Shape{}
	if list.shape.Items != nil {
		shape = *list.shape.Items
	}
	return &node{shape: shape, slot: noSlot, operands: []*node{list}, eval: func(s *Situation) Value {
		v := list.eval(s)
		if v.state != present {
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

func (c *compiler) array(n *ast.ArrayNode) *node {
	items := make([]Value, len(n.Nodes))
	for i, element := range n.Nodes {
		compiled := c.compile(element)
		if compiled.constant == nil {
			return c.fail(element, "a list holds constants only")
		}
		items[i] = *compiled.constant
	}
	return constantNode(ListValue(items...))
}

func (c *compiler) conditional(n *ast.ConditionalNode) *node {
	condition, yes, no := c.boolean(n.Cond), c.compile(n.Exp1), c.compile(n.Exp2)
	shape := yes.shape
	if shape.Type != no.shape.Type {
		shape = Shape{}
		if yes.shape.Type == Null {
			shape = no.shape
		} else if no.shape.Type == Null {
			shape = yes.shape
		}
	}
	return &node{shape: shape, slot: noSlot, operands: []*node{condition, yes, no}, eval: func(s *Situation) Value {
		switch test := condition.eval(s); {
		case test.True():
			return yes.eval(s)
		case test.Known():
			return no.eval(s)
		}
		if a, b := yes.eval(s), no.eval(s); a.Known() && a.Equal(b) {
			return a
		}
		return Value{}
	}}
}
