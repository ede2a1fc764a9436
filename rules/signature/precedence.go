package signature

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/rules/spelling"
)

// setPrecedence follows what the signatures override. It notes ids that nobody has, signatures that are never weighed against others,
// and those that override each other in a circle.
func (l *loader) setPrecedence(entries []*Entry) {
	for _, e := range entries {
		if len(e.Overrides) > 0 && l.overridable(e) {
			e.outranks = make(map[string]bool)
			l.follow(e.outranks, []*Entry{e})
		}
	}
}

// overridable tells whether an entry overrides only what can be overridden.
func (l *loader) overridable(e *Entry) bool {
	before := len(l.Problems)
	for i, id := range e.Overrides {
		switch other := l.byID[id]; {
		case other == nil:
			hint := "name one that is there, or take the line out"
			if near := spelling.Nearest(id, slices.Sorted(maps.Keys(l.byID))); near != "" {
				hint = fmt.Sprintf("did you mean %s?", near)
			}
			l.problemOf(e, i, "overrides: there is no signature %s; %s", id, hint)
		case !weighed(e.Role):
			l.problemOf(e, i, "overrides: a signature of the role %s is not weighed against others; take overrides: out", e.Role)
		case !weighed(other.Role):
			l.problemOf(e, i, "overrides: %s is of the role %s and not weighed against others; say in its match: what it is not about", id, other.Role)
		}
	}
	return len(l.Problems) == before
}

// weighed tells whether signatures of a role compete for being the answer.
func weighed(r Role) bool {
	return r == Cause || r == Consequence || r.LastResort() || r == Message || r == Inferred
}

// follow adds to found what the last of a chain overrides, which the first of it overrides through the others.
func (l *loader) follow(found map[string]bool, chain []*Entry) {
	first, last := chain[0], chain[len(chain)-1]
	for i, id := range last.Overrides {
		next := l.byID[id]
		switch {
		case id == first.ID:
			l.circle(chain, i)
		case next != nil && !found[id]:
			found[id] = true
			l.follow(found, append(slices.Clip(chain), next))
		}
	}
}

// circle notes that the entries of a chain override each other, once: where the one with the first id does it. What the index knows has
// no place and was checked when it was made, so that the mistake is in a file that was read.
func (l *loader) circle(chain []*Entry, closing int) {
	ids := make([]string, len(chain))
	for i, e := range chain {
		ids[i] = e.ID
	}
	if slices.Min(ids) != ids[0] {
		return
	}
	at, place := chain[len(chain)-1], closing
	for i, e := range chain {
		if e.overridden != nil && at.overridden == nil {
			at, place = e, slices.Index(e.Overrides, chain[(i+1)%len(chain)].ID)
		}
	}
	l.problemOf(at, place, "overrides: these signatures override each other in a circle: %s; take out the one that is wrong", strings.Join(append(ids, ids[0]), " > "))
}

// problemOf notes a problem with one of the ids that an entry overrides.
func (l *loader) problemOf(e *Entry, i int, format string, arguments ...any) {
	at := e.place
	if i < len(e.overridden) {
		at = e.overridden[i]
	}
	l.File = at.File
	l.Problem(at.Line, at.Column, format, arguments...)
}

// Asks counts what a signature asks for: the conditions under match: and confirm:, and one for having keywords. How they are split into
// list items does not matter, and what only keeps it off others' failures does not count.
func (s *Signature) Asks() int {
	n := min(len(s.Keywords)+len(s.Last), 1)
	for _, e := range slices.Concat(s.Match, s.Confirm) {
		n += e.Asks()
	}
	return n
}
