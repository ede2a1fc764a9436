package backend

import (
	"fmt"
	"slices"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/rulefile"
)

type ruleEntry struct {
	ID       rulefile.Text  `yaml:"id"`
	Off      *rulefile.Node `yaml:"off"`
	Versions rulefile.Text  `yaml:"versions"`
	Filter   rulefile.Text  `yaml:"filter"`
	When     *rulefile.Node `yaml:"when"`
	Requires *rulefile.Node `yaml:"requires"`
	Because  *rulefile.Node `yaml:"because"` // a sentence, or a list of {when, say} of which the last holds always
	Message  *rulefile.Node `yaml:"message"`
	Values   []string       `yaml:"values"` // the facts that the values of the message are, "" for none
	Note     string         `yaml:"note"`   // what the library prints elsewhere
	Raises   bool           `yaml:"raises"` // where it fires, the library raises before it chooses
	Ends     bool           `yaml:"ends"`   // where it fires, nothing else about the variant is worth telling
	Tells    *rulefile.Node `yaml:"tells"`
	Silent   *rulefile.Node `yaml:"silent"`
	Source   *rulefile.Node `yaml:"source"`
	Fires    *rulefile.Node `yaml:"fires"`  // an example: facts under which the rule takes something out
	Passes   *rulefile.Node `yaml:"passes"` // a near miss: facts under which it does not
}

// ruleLoader reads the rules.
type ruleLoader struct{ *builder }

// compile reads the rules in the order of their filters, and inside one in the order of the files.
func (b ruleLoader) compile() {
	type placed struct {
		file   string
		filter int
		ruleEntry
	}
	var entries []placed
	b.each(func(f libraryFile) {
		for _, entry := range f.Rules {
			filter := slices.Index(b.filters, entry.Filter.Value)
			if filter < 0 {
				b.Problem(entry.Filter.Line, entry.Filter.Column, "the filter %q is not in the list filters:", entry.Filter.Value)
			}
			entries = append(entries, placed{b.File, filter, entry})
		}
	})
	slices.SortStableFunc(entries, func(x, y placed) int { return x.filter - y.filter })
	ids := make(map[string]bool)
	for _, entry := range entries {
		b.File = entry.file
		id := entry.ID
		if ids[id.Value] || id.Value == "" {
			b.Problem(id.Line, id.Column, "every rule needs an id of its own, %q is not", id.Value)
		}
		ids[id.Value] = true
		b.compileRule(entry.filter, entry.ruleEntry)
	}
}

func (b ruleLoader) compileRule(filter int, entry ruleEntry) {
	l := b.library
	r := &rule{id: entry.ID.Value, index: len(l.rules), filter: filter, ends: entry.Ends, raises: entry.Raises}
	r.place = rulefile.Problem{File: b.File, Line: entry.ID.Line, Column: entry.ID.Column}
	if entry.Off == nil || entry.Because == nil || entry.Source == nil || entry.When == nil && entry.Requires == nil {
		b.Problem(r.place.Line, r.place.Column, "%s needs off:, because:, source: and when: or requires:", r.id)
		return
	}
	releases := b.rangeOf(entry.Versions)
	r.off = byRelease(b.reader, entry.Off, releases, b.targets)
	b.bindLeftNames(r.index, append(wordsOf(entry.When), wordsOf(entry.Requires)...))
	r.when = byRelease(b.reader, entry.When, releases, b.conditions)
	r.requires = byRelease(b.reader, entry.Requires, releases, b.conditions)
	r.because = b.reasons(entry.Because)
	b.unbindLeftNames()
	r.message = byRelease(b.reader, entry.Message, releases, b.text)
	if message := b.messages[entry.Filter.Value]; entry.Message == nil && message != "" {
		r.message = everywhere(releases, message)
	}
	for _, name := range entry.Values {
		fact, ok := l.byName[name]
		if !ok {
			fact = -1
		}
		if !ok && name != "" {
			b.Problem(r.place.Line, r.place.Column, "%s: %s under values: is none of the library's facts", r.id, name)
		}
		r.values = append(r.values, fact)
	}
	r.source = byRelease(b.reader, entry.Source, releases, b.text)
	r.tells, r.silent = b.factValuesByRelease(entry.Tells, releases), b.factValuesByRelease(entry.Silent, releases)
	r.example, r.nearMiss = b.factValues(entry.Fires), b.factValues(entry.Passes)
	for _, e := range r.conditions() {
		r.reads.addAll(l.factsOf(e))
	}
	l.rules = append(l.rules, r)
}

// reasons reads why a rule takes something out: one sentence, or several with the conditions under which each is told.
func (b ruleLoader) reasons(n *rulefile.Node) []reason {
	var reasons []reason
	for _, item := range n.Items() {
		var one reason
		if item.IsMapping() {
			b.Pairs(item, func(key rulefile.Text, value *rulefile.Node) {
				switch key.Value {
				case "when":
					one.when = b.conditions(value)
				case "say":
					t, _ := b.Text(value, "a sentence")
					one.say = t.Value
				default:
					b.Problem(key.Line, key.Column, "a reason has when: and say:, not %s:", key.Value)
				}
			})
		} else {
			t, _ := b.Text(item, "a sentence")
			one.say = t.Value
		}
		if one.say == "" {
			b.Problem(item.Line, item.Column, "a reason needs a sentence")
		}
		reasons = append(reasons, one)
	}
	if last := len(reasons) - 1; last < 0 || len(reasons[last].when) > 0 {
		b.Problem(n.Line, n.Column, "the last reason must hold always")
		reasons = append(reasons, reason{})
	}
	return reasons
}

// bindLeftNames gives the names of variants, those that a rule uses, the meaning "no earlier rule took exactly this variant out".
func (b ruleLoader) bindLeftNames(before int, used []string) {
	scope := b.library.scope
	for _, name := range sortedKeys(b.leftNames) {
		variant := b.leftNames[name]
		if !slices.Contains(used, name) { // a slot less that every situation has to hold
			continue
		}
		left := &condition.Computed{Value: func(s *condition.Situation) condition.Value {
			return situationOf(s).spared(variant, func(r *rule) bool { return r.index < before })
		}}
		for _, r := range b.library.rules[:before] {
			if r.canTakeOut(variant) {
				left.Needs = append(left.Needs, r.conditions()...)
			}
		}
		scope.Bind(name, scope.Compute(fmt.Sprintf("%s before rule %d", name, before), condition.Bool, left))
	}
}

func (b ruleLoader) unbindLeftNames() {
	for name := range b.leftNames {
		b.library.scope.Unbind(name)
	}
}

// index lists, for each release, the rules that hold in it.
func (b ruleLoader) index() {
	for i := range b.library.releases {
		release := &b.library.releases[i]
		release.byVariant = make([][]*rule, len(b.library.variants))
		for _, r := range b.library.rules {
			off, holds := r.off.at(i)
			if !holds {
				continue
			}
			if _, ok := r.source.at(i); !ok {
				b.File = r.place.File
				b.Problem(r.place.Line, r.place.Column, "%s holds in release %s but names no source for it", r.id, release.version)
			}
			release.rules = append(release.rules, r)
			for _, v := range off.variants {
				release.byVariant[v] = append(release.byVariant[v], r)
			}
		}
	}
}
