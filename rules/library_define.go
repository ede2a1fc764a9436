package rules

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// hidden adds a slot that rule files cannot name, with a value computed by eval when there is one.
func (b *libraryBuilder) hidden(name string, shape Shape, eval func(*Situation) Value) int {
	s := b.library.scope
	i := len(s.slots)
	s.index[" "+name] = i
	s.slots = append(s.slots, slot{name: name, shape: shape, hidden: true})
	if eval != nil {
		s.slots[i].defined = &Expression{source: name, root: &node{shape: shape, slot: -1, eval: eval}}
	}
	return i
}

// now is the index of the situation's release.
func (l *Library) at(s *Situation) int { return int(s.values[l.now].number) }

// rangeOf is the releases of a range, as a set of indices.
func (b *libraryBuilder) rangeOf(t Text) []bool {
	set := make([]bool, len(b.library.releases))
	r, err := parseRange(t.Value)
	if err != nil {
		b.problem(t.Line, t.Column, "%v", err)
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
				b.problem(value.Line, value.Column, "two entries hold for release %s", b.library.releases[i].version)
			}
			r.of[i] = int8(len(r.parts) - 1)
		}
	}
	if n.Kind != yaml.MappingNode {
		add(n, within)
		return r
	}
	b.pairs(n, func(key, value *yaml.Node) { add(value, b.rangeOf(place(key))) })
	return r
}

// conditions reads one condition or a list of them.
func (b *libraryBuilder) conditions(n *yaml.Node) []*Expression {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	var list []*Expression
	for _, item := range items {
		if !b.scalar(item, "a condition") {
			continue
		}
		if e := compileText(b.decoder, b.library.scope, place(item), true); e != nil {
			list = append(list, e)
		}
	}
	return list
}

func (b *libraryBuilder) text(n *yaml.Node) string {
	if !b.scalar(n, "a text") {
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
		b.file = file.name
		if file.Define == nil {
			continue
		}
		b.pairs(file.Define, func(key, value *yaml.Node) {
			waiting = append(waiting, &definition{name: key.Value, file: file.name, node: value})
		})
	}
	defined := make(map[string]*definition)
	for _, d := range waiting {
		if b.file = d.file; defined[d.name] != nil || b.library.scope.Has(d.name) {
			b.problem(d.node.Line, d.node.Column, "%s is defined already", d.name)
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
		b.file = d.file
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
		t := place(n)
		e := compileText(b.decoder, l.scope, t, false)
		if e != nil {
			l.scope.index[name] = len(l.scope.slots)
			l.scope.slots = append(l.scope.slots, slot{name: name, shape: e.root.shape, defined: e})
		}
		return
	}
	choice := parts(b, n, b.all(), func(value *yaml.Node) *Expression {
		if !b.scalar(value, "an expression") {
			return nil
		}
		return compileText(b.decoder, l.scope, place(value), false)
	})
	if len(b.problems) > 0 || len(choice.parts) == 0 {
		return
	}
	root := &node{shape: choice.parts[0].root.shape, slot: -1}
	for _, part := range choice.parts {
		root.kids = append(root.kids, part.root)
		if part.root.shape.Type != root.shape.Type {
			root.shape = Shape{}
		}
	}
	root.choose = func(s *Situation) *node {
		if part, ok := choice.at(l.at(s)); ok {
			return part.root
		}
		return nothing
	}
	root.eval = func(s *Situation) Value { return root.choose(s).eval(s) }
	l.scope.index[name] = len(l.scope.slots)
	l.scope.slots = append(l.scope.slots, slot{name: name, shape: root.shape, defined: &Expression{source: name, root: root}})
}

// nothing stands where a release has no definition of a name.
var nothing = constant(Nil)
