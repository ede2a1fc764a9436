package condition

import (
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
)

// Comparison is what stands in one comparison of an expression: whoever looks for values of a fact that make a difference finds them
// beside its name.
type Comparison struct {
	Operator string    // ==, !=, <, <=, >, >=, in, %, contains, startsWith or endsWith
	Names    []string  // that are compared, directly or through definitions
	Numbers  []float64 // constants, with those inside calculations
	Texts    []string  // constants, with those inside lists
}

// Comparisons are the comparisons of the expression, those inside others, too.
func (e *Expression) Comparisons() []Comparison {
	if e.scope == nil { // a Constant
		return nil
	}
	tree, err := parser.Parse(e.source)
	if err != nil { // it was parsed before
		return nil
	}
	found := comparisons{scope: e.scope}
	ast.Walk(&tree.Node, &found)
	return found.all
}

type comparisons struct {
	scope *Scope
	all   []Comparison
}

// Visit implements ast.Visitor.
func (c *comparisons) Visit(n *ast.Node) {
	binary, ok := (*n).(*ast.BinaryNode)
	if !ok {
		return
	}
	switch binary.Operator {
	case "==", "!=", "<", "<=", ">", ">=", "in", "%", "contains", "startsWith", "endsWith":
		sides := compared{scope: c.scope, Comparison: Comparison{Operator: binary.Operator}}
		ast.Walk(n, &sides)
		c.all = append(c.all, sides.Comparison)
	}
}

// compared collects both sides of a comparison.
type compared struct {
	scope *Scope
	Comparison
}

// Visit implements ast.Visitor.
func (c *compared) Visit(n *ast.Node) {
	switch n := (*n).(type) {
	case *ast.IntegerNode:
		c.Numbers = append(c.Numbers, float64(n.Value))
	case *ast.FloatNode:
		c.Numbers = append(c.Numbers, n.Value)
	case *ast.StringNode:
		c.Texts = append(c.Texts, n.Value)
	case *ast.IdentifierNode:
		c.name(n.Value)
	}
}

func (c *compared) name(name string) {
	slot, ok := c.scope.byName[name]
	if !ok {
		return
	}
	if c.scope.slots[slot].computed == nil {
		c.Names = append(c.Names, name)
		return
	}
	through := Expression{scope: c.scope, root: &node{slot: slot}}
	c.Names = append(c.Names, through.Names()...)
}
