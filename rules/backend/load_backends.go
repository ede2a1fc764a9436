package backend

import (
	"slices"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/rulefile"
)

type backendEntry struct {
	Name     rulefile.Text  `yaml:"name"`
	Called   *rulefile.Node `yaml:"called"` // an expression: what the library calls it here
	Reports  string         `yaml:"reports"`
	Loses    string         `yaml:"loses"`
	Variants []variantEntry `yaml:"variants"`
}

type variantEntry struct {
	Name     rulefile.Text     `yaml:"name"`
	As       string            `yaml:"as"` // name for "still left when this rule is asked"
	Versions rulefile.Text     `yaml:"versions"`
	When     *rulefile.Node    `yaml:"when"`
	Reports  *rulefile.Node    `yaml:"reports"`
	Passes   map[string]string `yaml:"passes"` // name -> filter: no rule of the filter takes exactly this variant out
}

type preferEntry struct {
	ID       rulefile.Text  `yaml:"id"`
	Versions rulefile.Text  `yaml:"versions"`
	First    *rulefile.Node `yaml:"first"`
	Over     *rulefile.Node `yaml:"over"`
	When     *rulefile.Node `yaml:"when"`
	Because  string         `yaml:"because"`
	Message  string         `yaml:"message"`
	Source   string         `yaml:"source"`
}

// passing is a name that tells whether a variant passes a filter.
type passing struct {
	variant, filter int
	computed        *condition.Computed
}

// backendLoader reads the backends, their variants and the preferences among them.
type backendLoader struct{ *builder }

// declare notes which backends and variants there are, since rules name them. Their conditions come later.
func (b backendLoader) declare() {
	l := b.library
	b.each(func(f libraryFile) {
		for _, entry := range f.Backends {
			one := backend{name: entry.Name.Value, first: len(l.variants), reports: entry.Reports, loses: entry.Loses}
			for _, v := range entry.variants() {
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

// variants are those of the entry; a backend without any has one that needs no name.
func (e backendEntry) variants() []variantEntry {
	if len(e.Variants) == 0 {
		return []variantEntry{{}}
	}
	return e.Variants
}

func (b backendLoader) declareVariant(backend int, entry variantEntry) {
	l := b.library
	at := len(l.variants)
	l.variants = append(l.variants, variant{name: entry.Name.Value, backend: backend})
	if entry.As != "" {
		b.leftNames[entry.As] = at
	}
	for _, name := range sortedKeys(entry.Passes) {
		filter := slices.Index(b.filters, entry.Passes[name])
		if filter < 0 {
			b.Problem(entry.Name.Line, entry.Name.Column, "there is no filter %q", entry.Passes[name])
		}
		passes := &condition.Computed{Value: func(s *condition.Situation) condition.Value {
			return situationOf(s).spared(at, func(r *rule) bool { return r.filter == filter })
		}}
		l.scope.Bind(name, l.scope.Compute(name, condition.Bool, passes))
		b.passes = append(b.passes, passing{at, filter, passes})
	}
}

// linkPasses tells which conditions the names of passed filters hang on, and refuses those that need themselves.
func (b backendLoader) linkPasses() {
	for _, p := range b.passes {
		for _, r := range b.library.rules {
			if r.filter == p.filter && r.canTakeOut(p.variant) {
				p.computed.Needs = append(p.computed.Needs, r.conditions()...)
			}
		}
	}
	for _, name := range b.library.scope.Circular() {
		b.Problem(1, 1, "%s needs itself", name)
	}
}

// compile reads what needs the definitions: when variants exist, what they report, and the preferences.
func (b backendLoader) compile() {
	at, place := 0, 0
	b.each(func(f libraryFile) {
		for _, backend := range f.Backends {
			b.library.backends[place].called = byRelease(b.reader, backend.Called, b.all(), b.expression)
			place++
			for _, entry := range backend.variants() {
				releases := b.rangeOf(entry.Versions)
				v := &b.library.variants[at]
				v.when = b.conditionsByRelease(entry.When, releases)
				v.reports = byRelease(b.reader, entry.Reports, releases, b.expression)
				at++
			}
		}
		for _, p := range f.Prefer {
			b.compilePreference(p)
		}
	})
}

func (b backendLoader) compilePreference(entry preferEntry) {
	if entry.First == nil || entry.Over == nil || entry.Source == "" || entry.Because == "" {
		b.Problem(entry.ID.Line, entry.ID.Column, "%s needs first:, over:, because: and source:", entry.ID.Value)
		return
	}
	b.library.preferences = append(b.library.preferences, preference{
		first: b.targets(entry.First).variants,
		over:  b.targets(entry.Over).variants,
		when:  b.conditionsByRelease(entry.When, b.rangeOf(entry.Versions)),
	})
}
