package pattern

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"sync"
)

// Pattern is a regular expression that is compiled when it is first used. Reading it tells whether it is correct; compiling those of a
// whole knowledge base, of which a log needs a few, would take longer than reading most logs.
type Pattern struct {
	source   func() string
	names    []string // of its groups, as regexp's SubexpNames gives them
	compiled func() *regexp.Regexp
	literals func() literalTest
	template func() templatePattern
}

// New reads an expression in the syntax of package regexp. The error says what is wrong with it.
func New(source string) (*Pattern, error) {
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil, err
	}
	return fromTree(tree, func() string { return source }), nil
}

// fromTree is the pattern of an expression that was read, or made of one. One that has become too large to be compiled matches every
// text.
func fromTree(tree *syntax.Regexp, source func() string) *Pattern {
	p := &Pattern{source: source, names: tree.CapNames()}
	p.compiled = sync.OnceValue(func() *regexp.Regexp {
		if re, err := regexp.Compile(source()); err == nil {
			return re
		}
		return regexp.MustCompile("")
	})
	p.literals = sync.OnceValue(func() literalTest { return newLiteralTest(tree) })
	p.template = sync.OnceValue(p.newTemplatePattern)
	return p
}

// String is the expression as it was written.
func (p *Pattern) String() string { return p.source() }

// Names are the names of its groups, "" for those without one and for the whole.
func (p *Pattern) Names() []string { return p.names }

// Group is the number of the group of that name, or -1.
func (p *Pattern) Group(name string) int { return slices.Index(p.names, name) }

// Regexp is the compiled expression.
func (p *Pattern) Regexp() *regexp.Regexp { return p.compiled() }

// Matches tells whether the expression matches somewhere in a text.
func (p *Pattern) Matches(text string) bool {
	literals := p.literals()
	return literals.has(text) || literals.possible(text) && p.Regexp().MatchString(text)
}

// Submatch is what the expression and its groups match in a text, as regexp's FindStringSubmatch gives it.
func (p *Pattern) Submatch(text string) []string {
	if !p.Possible(text) {
		return nil
	}
	return p.Regexp().FindStringSubmatch(text)
}

// Possible tells cheaply of most texts that they cannot match. A text that contains a possible one is possible, too.
func (p *Pattern) Possible(text string) bool {
	literals := p.literals()
	return literals.has(text) || literals.possible(text)
}
