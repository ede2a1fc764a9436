package rules

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// precedence tells, by id, all signatures that a signature overrides, also through others.
type precedence map[string]map[string]bool

// Overrides tells whether a signature is the answer rather than another one where both fit the same exception or line.
func (b *Base) Overrides(id, other string) bool { return b.precedence[id][other] }

// precedence follows what the signatures override. It notes ids that nobody has, signatures that are never weighed against others, and
// those that override each other in a circle.
func (l *signatures) precedence(byID map[string]*Entry) precedence {
	all := make(precedence)
	for id, e := range byID {
		if len(e.Overrides) > 0 && l.overridable(e, byID) {
			all[id] = make(map[string]bool)
			l.follow(all[id], []*Entry{e}, byID)
		}
	}
	return all
}

// overridable tells whether an entry overrides only what can be overridden.
func (l *signatures) overridable(e *Entry, byID map[string]*Entry) bool {
	before := len(l.problems)
	for i, id := range e.Overrides {
		switch other := byID[id]; {
		case other == nil:
			l.problemOf(e, i, "overrides: there is no signature %s; name one that is there, or take the line out", id)
		case !weighed(e.Role):
			l.problemOf(e, i, "overrides: a signature of the role %s is not weighed against others; take overrides: out", e.Role)
		case !weighed(other.Role):
			l.problemOf(e, i, "overrides: %s is of the role %s and not weighed against others; say in its match: what it is not about", id, other.Role)
		}
	}
	return len(l.problems) == before
}

// weighed tells whether signatures of a role compete for being the answer.
func weighed(r Role) bool { return r == Cause || r == Consequence || r == Generic || r == Unstated }

// follow adds to found what the last of the trail overrides, which the first of it overrides through the others.
func (l *signatures) follow(found map[string]bool, trail []*Entry, byID map[string]*Entry) {
	first, last := trail[0], trail[len(trail)-1]
	for i, id := range last.Overrides {
		next := byID[id]
		switch {
		case id == first.ID:
			l.circle(trail, i)
		case next != nil && !found[id]:
			found[id] = true
			l.follow(found, append(slices.Clip(trail), next), byID)
		}
	}
}

// circle notes that the entries of a trail override each other, once: where the one with the first id does it. What the index knows has
// no place and was checked when it was made, so that the mistake is in a file that was read.
func (l *signatures) circle(trail []*Entry, closing int) {
	ids := make([]string, len(trail))
	for i, e := range trail {
		ids[i] = e.ID
	}
	if slices.Min(ids) != ids[0] {
		return
	}
	at, place := trail[len(trail)-1], closing
	for i, e := range trail {
		if e.overridden != nil && at.overridden == nil {
			at, place = e, slices.Index(e.Overrides, trail[(i+1)%len(trail)].ID)
		}
	}
	l.problemOf(at, place, "overrides: these signatures override each other in a circle: %s; take out the one that is wrong", strings.Join(append(ids, ids[0]), " > "))
}

// problemOf notes a problem with one of the ids that an entry overrides.
func (l *signatures) problemOf(e *Entry, i int, format string, arguments ...any) {
	at := e.place
	if i < len(e.overridden) {
		at = e.overridden[i]
	}
	l.file = at.File
	l.problem(at.Line, at.Column, format, arguments...)
}

// Asks counts what a signature asks for: the conditions under match: and confirm:, and one for having keywords. How they are split into
// list items does not matter, and what only keeps it off others' failures does not count.
func (s *Signature) Asks() int {
	n := min(len(s.Keywords)+len(s.Last), 1)
	for _, e := range slices.Concat(s.Match, s.Confirm) {
		n += e.asks
	}
	return n
}

// asks counts the operands of an expression's outermost "and", but not those that are denials.
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
