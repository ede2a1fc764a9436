package condition

import "github.com/expr-lang/expr/ast"

// Asks counts what an expression asks for: the operands of its outermost "and", but not those that are denials.
func (e *Expression) Asks() int { return e.asks }

func asks(n ast.Node) int {
	switch n := n.(type) {
	case *ast.BinaryNode:
		if n.Operator == "and" || n.Operator == "&&" {
			return asks(n.Left) + asks(n.Right)
		}
	case *ast.UnaryNode:
		if n.Operator == "not" || n.Operator == "!" {
			return 0
		}
	case *ast.BuiltinNode:
		if n.Name == "none" {
			return 0
		}
	}
	return 1
}
