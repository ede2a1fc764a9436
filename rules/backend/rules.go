package backend

import (
	"slices"
	"strconv"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/rulefile"
	"gopkg.in/yaml.v3"
)

type ruleEntry struct {
	ID       rulefile.Text `yaml:"id"`
	Off      *yaml.Node    `yaml:"off"`
	Versions rulefile.Text `yaml:"versions"`
	Filter   rulefile.Text `yaml:"filter"`
	When     *yaml.Node    `yaml:"when"`
	Requires *yaml.Node    `yaml:"requires"`
	Because  rulefile.Text `yaml:"because"`
	Message  *yaml.Node    `yaml:"message"`
	Note     string        `yaml:"note"`
	Ends     bool          `yaml:"ends"` // where it fires, nothing else about the variant is worth telling
	Tells    *yaml.Node    `yaml:"tells"`
	Silent   *yaml.Node    `yaml:"silent"`
	Source   *yaml.Node    `yaml:"source"`
	Fires    *yaml.Node    `yaml:"fires"`  // an example: facts under which the rule takes something out
	Passes   *yaml.Node    `yaml:"passes"` // a near miss: facts under which it does not
}

func (b *libraryBuilder) compileRules() {
	type placed struct {
		file  string
		entry ruleEntry
	}
	var entries []placed
	b.each(func(f libraryFile) {
		for _, entry := range f.Rules {
			if !slices.Contains(b.filters, entry.Filter.Value) {
				b.Problem(entry.Filter.Line, entry.Filter.Column, "the filter %q is not in the list filters:", entry.Filter.Value)
			}
			entries = append(entries, placed{b.File, entry})
		}
	})
	slices.SortStableFunc(entries, func(x, y placed) int {
		return slices.Index(b.filters, x.entry.Filter.Value) - slices.Index(b.filters, y.entry.Filter.Value)
	})
	ids := make(map[string]bool)
	for _, p := range entries {
		b.File = p.file
		if ids[p.entry.ID.Value] || p.entry.ID.Value == "" {
			b.Problem(p.entry.ID.Line, p.entry.ID.Column, "every rule needs an id of its own, %q is not", p.entry.ID.Value)
		}
		ids[p.entry.ID.Value] = true
		b.compileRule(p.entry)
	}
}

func (b *libraryBuilder) compileRule(entry ruleEntry) {
	l := b.library
	releases := b.rangeOf(entry.Versions)
	r := &rule{id: entry.ID.Value, because: entry.Because.Value, note: entry.Note, ends: entry.Ends, place: rulefile.Problem{File: b.File, Line: entry.ID.Line, Column: entry.ID.Column}}
	r.filter = slices.Index(b.filters, entry.Filter.Value)
	if r.because == "" || entry.Source == nil || entry.When == nil && entry.Requires == nil {
		b.Problem(entry.ID.Line, entry.ID.Column, "%s needs because:, source: and when: or requires:", r.id)
		return
	}
	r.off = parts(b, entry.Off, releases, func(n *yaml.Node) []int { v, _ := b.targets(n); return v })
	r.whole = parts(b, entry.Off, releases, func(n *yaml.Node) bool { _, whole := b.targets(n); return whole })
	b.declareStates(len(l.rules))
	r.when = parts(b, entry.When, releases, b.conditions)
	r.requires = parts(b, entry.Requires, releases, b.conditions)
	for name := range b.states {
		delete(l.scope.Index, name)
	}
	r.message = parts(b, entry.Message, releases, b.text)
	if message := b.messages[entry.Filter.Value]; entry.Message == nil && message != "" {
		r.message = parts(b, &yaml.Node{Kind: yaml.ScalarNode, Value: message}, releases, b.text)
	}
	r.source = parts(b, entry.Source, releases, b.text)
	r.tells = within(b, entry.Tells, releases, b.constants)
	r.example, r.nearMiss = b.constants(entry.Fires), b.constants(entry.Passes)
	r.silent = within(b, entry.Silent, releases, b.constants)
	r.index = len(l.rules)
	for _, n := range r.nodes() {
		for i, set := range l.factsOf(&condition.Expression{Root: n}) {
			r.reads[i] |= set
		}
	}
	l.rules = append(l.rules, r)
}

// declareStates gives the names of variants the meaning "no earlier rule took exactly this variant out".
func (b *libraryBuilder) declareStates(before int) {
	l := b.library
	for _, name := range sortedKeys(b.states) {
		at := b.states[name]
		slot := b.hidden(name+" before rule "+strconv.Itoa(before), condition.Shape{Type: condition.Bool}, func(s *condition.Situation) condition.Value { return l.left(s, at, before) })
		l.scope.Slots[slot].Defined.Root.Kids = b.taking(at, before)
		l.scope.Slots[slot].Hidden = false
		l.scope.Index[name] = slot
	}
}

// taking are the conditions of the first rules that can take a variant out.
func (b *libraryBuilder) taking(variant, before int) []*condition.Node {
	var nodes []*condition.Node
	for _, r := range b.library.rules[:before] {
		if slices.ContainsFunc(r.off.parts, func(targets []int) bool { return slices.Contains(targets, variant) }) {
			nodes = append(nodes, r.nodes()...)
		}
	}
	return nodes
}

func (r *rule) nodes() []*condition.Node {
	var nodes []*condition.Node
	for _, lists := range [][][]*condition.Expression{r.when.parts, r.requires.parts} {
		for _, list := range lists {
			for _, e := range list {
				nodes = append(nodes, e.Root)
			}
		}
	}
	return nodes
}

// indexRules lists, for each release, the rules that hold in it.
func (b *libraryBuilder) indexRules() {
	l := b.library
	for i := range l.releases {
		release := &l.releases[i]
		release.byVariant = make([][]*rule, len(l.variants))
		for _, r := range l.rules {
			off, ok := r.off.at(i)
			if !ok {
				continue
			}
			if _, ok := r.source.at(i); !ok {
				b.File = r.place.File
				b.Problem(r.place.Line, r.place.Column, "%s holds in release %s but names no source for it", r.id, release.version)
			}
			release.rules = append(release.rules, r)
			for _, v := range off {
				release.byVariant[v] = append(release.byVariant[v], r)
			}
		}
	}
}
