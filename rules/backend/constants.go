package backend

import (
	"slices"
	"sort"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
	"github.com/gpu-triage/triage/rules/condition"
	"gopkg.in/yaml.v3"
)

// finish collects, for every fact, what the expressions compare it with: from that, values are chosen when the fact is missing.
func (b *libraryBuilder) finish() {
	for _, file := range b.files {
		nodes := []*yaml.Node{file.Define}
		for _, r := range file.Rules {
			nodes = append(nodes, r.When, r.Requires)
		}
		for _, n := range nodes {
			b.constantsIn(n)
		}
	}
	for i := range b.library.facts {
		f := &b.library.facts[i]
		sort.Float64s(f.numbers)
		f.numbers = slices.Compact(f.numbers)
		sort.Float64s(f.divides)
		f.divides = slices.Compact(f.divides)
		slices.SortFunc(f.texts, func(x, y condition.Value) int { order, _ := condition.Compare(x, y); return order })
		f.texts = distinct(f.texts)
	}
}

func (b *libraryBuilder) constantsIn(n *yaml.Node) {
	if n == nil {
		return
	}
	for _, kid := range n.Content {
		b.constantsIn(kid)
	}
	if n.Kind != yaml.ScalarNode {
		return
	}
	if tree, err := parser.Parse(n.Value); err == nil { // keys of mappings are ranges, not expressions
		ast.Walk(&tree.Node, (*constantVisitor)(b))
	}
}

// constantVisitor notes for every comparison which facts and which constants stand in it.
type constantVisitor libraryBuilder

// Visit implements ast.Visitor.
func (v *constantVisitor) Visit(n *ast.Node) {
	binary, ok := (*n).(*ast.BinaryNode)
	if !ok {
		return
	}
	switch binary.Operator {
	case "==", "!=", "<", "<=", ">", ">=", "in", "%", "contains", "startsWith", "endsWith":
	default:
		return
	}
	parts := &comparisonParts{library: v.library}
	ast.Walk(n, parts)
	for _, i := range parts.facts {
		f := &v.library.facts[i]
		for _, number := range parts.numbers {
			if binary.Operator == "%" {
				if number >= 1 {
					f.divides = append(f.divides, number)
				}
			} else {
				f.numbers = append(f.numbers, number)
			}
		}
		for _, text := range parts.texts {
			if value, err := condition.FromText(text, f.Type); err == nil && (f.Type == condition.VersionType || f.Type == condition.String && binary.Operator != "contains" && binary.Operator != "startsWith" && binary.Operator != "endsWith") {
				f.texts = append(f.texts, value)
			}
		}
	}
}

// comparisonParts are the facts and constants of a comparison.
type comparisonParts struct {
	library *Library
	facts   []int
	numbers []float64
	texts   []string
}

// Visit implements ast.Visitor.
func (p *comparisonParts) Visit(n *ast.Node) {
	switch n := (*n).(type) {
	case *ast.IntegerNode:
		p.numbers = append(p.numbers, float64(n.Value))
	case *ast.FloatNode:
		p.numbers = append(p.numbers, n.Value)
	case *ast.StringNode:
		p.texts = append(p.texts, n.Value)
	case *ast.IdentifierNode:
		p.add(n.Value)
	}
}

// add notes a fact, or the facts that a definition reads.
func (p *comparisonParts) add(name string) {
	if i, ok := p.library.byName[name]; ok {
		p.facts = append(p.facts, i)
		return
	}
	if i, ok := p.library.scope.Index[name]; ok && p.library.scope.Slots[i].Defined != nil {
		for _, fact := range p.library.scope.Slots[i].Defined.Names(p.library.scope) {
			if i, ok := p.library.byName[fact]; ok {
				p.facts = append(p.facts, i)
			}
		}
	}
}
