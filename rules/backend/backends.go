package backend

import (
	"slices"
	"strings"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/rulefile"
	"gopkg.in/yaml.v3"
)

type backendEntry struct {
	Name     rulefile.Text  `yaml:"name"`
	Reports  string         `yaml:"reports"`
	Loses    string         `yaml:"loses"`
	Variants []variantEntry `yaml:"variants"`
}

type variantEntry struct {
	Name     rulefile.Text     `yaml:"name"`
	As       string            `yaml:"as"` // name for "still left when this rule is asked"
	Versions rulefile.Text     `yaml:"versions"`
	When     *yaml.Node        `yaml:"when"`
	Reports  *yaml.Node        `yaml:"reports"`
	Passes   map[string]string `yaml:"passes"` // name -> filter: no rule of the filter takes exactly this variant out
}

type preferEntry struct {
	ID       rulefile.Text `yaml:"id"`
	Versions rulefile.Text `yaml:"versions"`
	First    *yaml.Node    `yaml:"first"`
	Over     *yaml.Node    `yaml:"over"`
	When     *yaml.Node    `yaml:"when"`
	Because  string        `yaml:"because"`
	Message  string        `yaml:"message"`
	Source   string        `yaml:"source"`
}

func (b *libraryBuilder) declareBackends() {
	l := b.library
	b.each(func(f libraryFile) {
		for _, entry := range f.Backends {
			one := backend{name: entry.Name.Value, first: len(l.variants), reports: entry.Reports, loses: entry.Loses}
			if len(entry.Variants) == 0 {
				entry.Variants = []variantEntry{{}}
			}
			for _, v := range entry.Variants {
				b.declareVariant(len(l.backends), v)
			}
			one.last = len(l.variants)
			l.backends = append(l.backends, one)
		}
	})
	if len(l.variants) == 0 || len(l.variants) > maxVariants || len(l.backends) > maxBackends {
		b.Problem(1, 1, "a library has 1 to %d backends with together at most %d variants", maxBackends, maxVariants)
	}
}

func (b *libraryBuilder) declareVariant(backend int, entry variantEntry) {
	l := b.library
	at := len(l.variants)
	l.variants = append(l.variants, variant{name: entry.Name.Value, backend: backend})
	if entry.As != "" {
		b.states[entry.As] = at
	}
	for _, name := range sortedKeys(entry.Passes) {
		filter := slices.Index(b.filters, entry.Passes[name])
		if filter < 0 {
			b.Problem(entry.Name.Line, entry.Name.Column, "there is no filter %q", entry.Passes[name])
		}
		b.hidden(name, condition.Shape{Type: condition.Bool}, func(s *condition.Situation) condition.Value { return l.passes(s, at, filter) })
		slot := len(l.scope.Slots) - 1
		l.scope.Index[name] = slot
		l.scope.Slots[slot].Hidden = false
		b.passes = append(b.passes, passing{slot, at, filter})
	}
}

// passing is a name that tells whether a variant passes a filter.
type passing struct{ slot, variant, filter int }

// linkPasses tells the names of passed filters which conditions they stand for, and refuses those that need themselves.
func (b *libraryBuilder) linkPasses() {
	l := b.library
	for _, p := range b.passes {
		for _, r := range l.rules {
			if r.filter == p.filter && slices.ContainsFunc(r.off.parts, func(targets []int) bool { return slices.Contains(targets, p.variant) }) {
				l.scope.Slots[p.slot].Defined.Root.Kids = append(l.scope.Slots[p.slot].Defined.Root.Kids, r.nodes()...)
			}
		}
	}
	const open, done = 1, 2
	state := make([]int, len(l.scope.Slots))
	var visit func(n *condition.Node)
	visit = func(n *condition.Node) {
		if n.Slot >= 0 && state[n.Slot] != done && l.scope.Slots[n.Slot].Defined != nil {
			if state[n.Slot] == open {
				b.Problem(1, 1, "%s needs itself", l.scope.Slots[n.Slot].Name)
				return
			}
			state[n.Slot] = open
			visit(l.scope.Slots[n.Slot].Defined.Root)
			state[n.Slot] = done
		}
		for _, kid := range n.Kids {
			visit(kid)
		}
	}
	for _, p := range b.passes {
		visit(&condition.Node{Slot: p.slot})
	}
}

// compileBackends reads what needs the definitions: when variants exist, what they report, and the preferences.
func (b *libraryBuilder) compileBackends() {
	l, at := b.library, 0
	b.each(func(f libraryFile) {
		for _, entry := range f.Backends {
			for _, v := range entry.Variants {
				within := b.rangeOf(v.Versions)
				if v.When != nil {
					l.variants[at].when = parts(b, v.When, within, b.conditions)
				} else {
					l.variants[at].when = b.always(within)
				}
				l.variants[at].reports = parts(b, v.Reports, within, func(n *yaml.Node) *condition.Expression {
					return condition.CompileText(b.Decoder, l.scope, rulefile.Place(n), false)
				})
				at++
			}
			if len(entry.Variants) == 0 {
				l.variants[at].when = b.always(b.all())
				at++
			}
		}
		for _, p := range f.Prefer {
			b.compilePreference(p)
		}
	})
}

// always is a list without conditions, for the releases of a set.
func (b *libraryBuilder) always(within []bool) ranged[[]*condition.Expression] {
	return parts(b, &yaml.Node{Kind: yaml.SequenceNode}, within, b.conditions)
}

func (b *libraryBuilder) compilePreference(entry preferEntry) {
	within := b.rangeOf(entry.Versions)
	p := preference{id: entry.ID.Value, because: entry.Because, message: entry.Message, source: entry.Source}
	p.first, _ = b.targets(entry.First)
	p.over, _ = b.targets(entry.Over)
	if entry.When != nil {
		p.when = parts(b, entry.When, within, b.conditions)
	} else {
		p.when = b.always(within)
	}
	if p.source == "" || p.because == "" {
		b.Problem(entry.ID.Line, entry.ID.Column, "%s needs because: and source:", p.id)
	}
	b.library.prefer = append(b.library.prefer, p)
}

// targets reads names of backends and variants: FlashAttention, [FusedAttention/0, FusedAttention/1].
func (b *libraryBuilder) targets(n *yaml.Node) (variants []int, whole bool) {
	if n == nil {
		b.Problem(1, 1, "a rule must say what it takes out: off:")
		return nil, false
	}
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	for _, item := range items {
		name, number, chosen := strings.Cut(item.Value, "/")
		found := false
		for i, v := range b.library.variants {
			if b.library.backends[v.backend].name == name && (!chosen || v.name == number) {
				variants, found = append(variants, i), true
			}
		}
		if !found {
			b.Problem(item.Line, item.Column, "there is no backend or variant %q", item.Value)
		}
		whole = !chosen
	}
	return variants, whole
}
