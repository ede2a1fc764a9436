package backend

import (
	"slices"
	"strings"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/rulefile"
)

// definition is a name that stands for an expression, or for another one in each release.
type definition struct {
	name   string
	file   string
	node   *rulefile.Node
	placed bool
}

// definitionLoader adds the names that stand for expressions.
type definitionLoader struct{ *builder }

// define adds the defined names. They may need each other in any order, so each comes after those that it names.
func (b definitionLoader) define() {
	var all []*definition
	byName := make(map[string]*definition)
	b.each(func(f libraryFile) {
		if f.Define == nil {
			return
		}
		b.Pairs(f.Define, func(key rulefile.Text, value *rulefile.Node) {
			d := &definition{name: key.Value, file: b.File, node: value}
			if byName[d.name] != nil || b.library.scope.Has(d.name) {
				b.Problem(value.Line, value.Column, "%s is defined already", d.name)
				return
			}
			all, byName[d.name] = append(all, d), d
		})
	})
	var place func(d *definition)
	place = func(d *definition) {
		if d.placed {
			return
		}
		d.placed = true
		for _, word := range wordsOf(d.node) {
			if needed := byName[word]; needed != nil {
				place(needed)
			}
		}
		b.File = d.file
		b.defineOne(d)
	}
	for _, d := range all {
		place(d)
	}
}

// wordsOf are the words in the expressions of a node, among them the names that they use.
func wordsOf(n *rulefile.Node) []string {
	if n == nil {
		return nil
	}
	var words []string
	for _, t := range n.Texts() {
		words = append(words, strings.FieldsFunc(t.Value, func(r rune) bool {
			return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
		})...)
	}
	return words
}

func (b definitionLoader) defineOne(d *definition) {
	if d.node.IsText() {
		if e := b.expression(d.node); e != nil {
			b.defineAs(d, []*condition.Expression{e}, b.library.scope.Define(d.name, e))
		}
		return
	}
	choice := byRelease(b.reader, d.node, b.all(), b.expression)
	if slices.Contains(choice.parts, nil) || len(choice.parts) == 0 { // noted as a mistake
		return
	}
	inRelease := func(s *condition.Situation) int { return int(choice.of[situationOf(s).release]) }
	b.defineAs(d, choice.parts, b.library.scope.DefineChoice(d.name, choice.parts, inRelease))
}

// defineAs notes what a name was defined as, or why it could not be.
func (b definitionLoader) defineAs(d *definition, expressions []*condition.Expression, err error) {
	if err != nil {
		b.Problem(d.node.Line, d.node.Column, "%v", err)
		return
	}
	b.defined = append(b.defined, expressions...)
}
