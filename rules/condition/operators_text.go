package condition

import (
	"regexp"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/gpu-triage/triage/rules/pattern"
)

func (c *compiler) matches(n *ast.BinaryNode) *node {
	left, right := c.text(n.Left), c.compile(n.Right)
	if right.constant == nil || right.constant.typ != String {
		return c.fail(n.Right, "matches needs a constant regular expression")
	}
	compiled, err := pattern.New(right.constant.text)
	if err != nil {
		return c.fail(n.Right, "%v", err)
	}
	eval := func(s *Situation) Value {
		v := left.eval(s)
		if !v.Known() {
			return v
		}
		return BoolValue(v.state == present && compiled.Matches(v.text))
	}
	matched := &node{shape: Shape{Type: Bool}, slot: noSlot, operands: []*node{left}, eval: eval}
	if ofEvent(n.Left) {
		matched.pattern = compiled
	}
	matched.answerForTemplates(n.Left)
	return matched
}

// requireOne notes that the node is true only where an operand, if that is of an event, has one of the constants in it.
func (n *node) requireOne(operand ast.Node, constants ...Value) {
	if !ofEvent(operand) || len(constants) == 0 {
		return
	}
	quoted := make([]string, len(constants))
	for i, c := range constants {
		if c.state != present || c.typ != String {
			return
		}
		quoted[i] = regexp.QuoteMeta(c.text)
	}
	if compiled, err := pattern.New(strings.Join(quoted, "|")); err == nil { // no expression has all bytes that a text may have
		n.pattern = compiled
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

// answerForTemplates lets a node that asks only whether its pattern matches a line answer for line templates, too.
func (n *node) answerForTemplates(operand ast.Node) {
	eval, pattern := n.eval, n.pattern
	if _, isLine := operand.(*ast.IdentifierNode); !isLine || pattern == nil {
		return
	}
	n.eval = func(s *Situation) Value {
		if s.template != nil {
			matches, known := pattern.MatchesTemplate(*s.template)
			if !known {
				return Value{}
			}
			return BoolValue(matches)
		}
		return eval(s)
	}
}

// text compiles an operand that must be a text.
func (c *compiler) text(n ast.Node) *node {
	compiled := c.compile(n)
	if t := compiled.shape.Type; t != String && t != Any && c.err == nil {
		return c.fail(n, "this is a %s where a text is needed", t)
	}
	return compiled
}

var textTests = map[string]func(text, part string) bool{
	"contains": strings.Contains, "startsWith": strings.HasPrefix, "endsWith": strings.HasSuffix,
}

func (c *compiler) textual(n *ast.BinaryNode) *node {
	left, right, test := c.text(n.Left), c.text(n.Right), textTests[n.Operator]
	tested := &node{shape: Shape{Type: Bool}, slot: noSlot, operands: []*node{left, right}, eval: func(s *Situation) Value {
		x, y := left.eval(s), right.eval(s)
		if !x.Known() || !y.Known() {
			return Value{}
		}
		return BoolValue(x.state == present && y.state == present && test(x.text, y.text))
	}}
	if right.constant != nil {
		tested.requireOne(n.Left, *right.constant)
	}
	if n.Operator == "contains" {
		tested.answerForTemplates(n.Left)
	}
	return tested
}
