package backend

import (
	"slices"
	"strings"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/rulefile"
	"gopkg.in/yaml.v3"
)

// hidden adds a slot that rule files cannot name, with a value computed by eval when there is one.
func (b *libraryBuilder) hidden(name string, shape condition.Shape, eval func(*condition.Situation) condition.Value) int {
	s := b.library.scope
	i := len(s.Slots)
	s.Index[" "+name] = i
	s.Slots = append(s.Slots, condition.Slot{Name: name, Shape: shape, Hidden: true})
	if eval != nil {
		s.Slots[i].Defined = &condition.Expression{Written: name, Root: &condition.Node{Shape: shape, Slot: -1, Eval: eval}}
	}
	return i
}

// now is the index of the situation's release.
func (l *Library) at(s *condition.Situation) int { return int(s.Values[l.now].Number) }

// rangeOf is the releases of a range, as a set of indices.
func (b *libraryBuilder) rangeOf(t rulefile.Text) []bool {
	set := make([]bool, len(b.library.releases))
	r, err := parseRange(t.Value)
	if err != nil {
		b.Problem(t.Line, t.Column, "%v", err)
	}
	for i := range set {
		set[i] = r.has(b.library.releases[i].version)
	}
	return set
}

// parts reads a node that is either one thing for all releases or a mapping from ranges to things.
func parts[T any](b *libraryBuilder, n *yaml.Node, within []bool, read func(*yaml.Node) T) ranged[T] {
	r := ranged[T]{of: slices.Repeat([]int8{-1}, len(b.library.releases))}
	if n == nil {
		return r
	}
	add := func(value *yaml.Node, set []bool) {
		r.parts = append(r.parts, read(value))
		for i := range set {
			if !set[i] || !within[i] {
				continue
			}
			if r.of[i] >= 0 {
				b.Problem(value.Line, value.Column, "two entries hold for release %s", b.library.releases[i].version)
			}
			r.of[i] = int8(len(r.parts) - 1)
		}
	}
	if n.Kind != yaml.MappingNode {
		add(n, within)
		return r
	}
	b.Pairs(n, func(key, value *yaml.Node) { add(value, b.rangeOf(rulefile.Place(key))) })
	return r
}

// conditions reads one condition or a list of them.
func (b *libraryBuilder) conditions(n *yaml.Node) []*condition.Expression {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	var list []*condition.Expression
	for _, item := range items {
		if !b.Scalar(item, "a condition") {
			continue
		}
		if e := condition.CompileText(b.Decoder, b.library.scope, rulefile.Place(item), true); e != nil {
			list = append(list, e)
		}
	}
	return list
}

func (b *libraryBuilder) text(n *yaml.Node) string {
	if !b.Scalar(n, "a text") {
		return ""
	}
	return n.Value
}

func (b *libraryBuilder) all() []bool { return slices.Repeat([]bool{true}, len(b.library.releases)) }

// definition is one name that is computed, in the order in which names need each other.
type definition struct {
	name   string
	file   string
	node   *yaml.Node
	placed bool
}

// define adds the computed names. They may need each other in any order, so those whose names are missing wait for the others.
func (b *libraryBuilder) define() {
	var waiting []*definition
	for _, file := range b.files {
		b.File = file.name
		if file.Define == nil {
			continue
		}
		b.Pairs(file.Define, func(key, value *yaml.Node) {
			waiting = append(waiting, &definition{name: key.Value, file: file.name, node: value})
		})
	}
	defined := make(map[string]*definition)
	for _, d := range waiting {
		if b.File = d.file; defined[d.name] != nil || b.library.scope.Has(d.name) {
			b.Problem(d.node.Line, d.node.Column, "%s is defined already", d.name)
		}
		defined[d.name] = d
	}
	var place func(d *definition, depth int)
	place = func(d *definition, depth int) {
		if d.placed || depth > len(waiting) {
			return
		}
		d.placed = true
		for _, name := range wordsOf(d.node) {
			if needed := defined[name]; needed != nil && needed != d {
				place(needed, depth+1)
			}
		}
		b.File = d.file
		b.defineOne(d.name, d.node)
	}
	for _, d := range waiting {
		place(d, 0)
	}
}

// wordsOf are the words in the expressions of a node, among them the names that they use.
func wordsOf(n *yaml.Node) []string {
	if n.Kind == yaml.ScalarNode {
		return strings.FieldsFunc(n.Value, func(r rune) bool {
			return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
		})
	}
	var words []string
	for _, kid := range n.Content {
		words = append(words, wordsOf(kid)...)
	}
	return words
}

func (b *libraryBuilder) defineOne(name string, n *yaml.Node) {
	l := b.library
	if n.Kind == yaml.ScalarNode {
		t := rulefile.Place(n)
		e := condition.CompileText(b.Decoder, l.scope, t, false)
		if e != nil {
			l.scope.Index[name] = len(l.scope.Slots)
			l.scope.Slots = append(l.scope.Slots, condition.Slot{Name: name, Shape: e.Root.Shape, Defined: e})
		}
		return
	}
	choice := parts(b, n, b.all(), func(value *yaml.Node) *condition.Expression {
		if !b.Scalar(value, "an expression") {
			return nil
		}
		return condition.CompileText(b.Decoder, l.scope, rulefile.Place(value), false)
	})
	if len(b.Problems) > 0 || len(choice.parts) == 0 {
		return
	}
	root := &condition.Node{Shape: choice.parts[0].Root.Shape, Slot: -1}
	for _, part := range choice.parts {
		root.Kids = append(root.Kids, part.Root)
		if part.Root.Shape.Type != root.Shape.Type {
			root.Shape = condition.Shape{}
		}
	}
	root.Choose = func(s *condition.Situation) *condition.Node {
		if part, ok := choice.at(l.at(s)); ok {
			return part.Root
		}
		return nothing
	}
	root.Eval = func(s *condition.Situation) condition.Value { return root.Choose(s).Eval(s) }
	l.scope.Index[name] = len(l.scope.Slots)
	l.scope.Slots = append(l.scope.Slots, condition.Slot{Name: name, Shape: root.Shape, Defined: &condition.Expression{Written: name, Root: root}})
}

// nothing stands where a release has no definition of a name.
var nothing = condition.Constant(condition.Nil)
