package backend

import (
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/fact"
	"github.com/gpu-triage/triage/rules/rulefile"
)

// factUse is how a library uses a fact: one of the vocabulary, or one of its own, which has a type and says what it is.
type factUse struct {
	Type    string            `yaml:"type"`
	About   string            `yaml:"about"`
	Ask     string            `yaml:"ask"`    // the command that tells it
	Values  *rulefile.Node    `yaml:"values"` // what it can be, when the rules do not compare it with all of that
	Least   int               `yaml:"least"`
	Digits  int               `yaml:"digits"`
	Spelt   map[string]string `yaml:"spelt"`   // what messages print -> the value
	Checked *rulefile.Node    `yaml:"checked"` // the newest version with which the rules were compared
	Same    string            `yaml:"same"`    // the fact that holds it when it is not given
	Since   rulefile.Text     `yaml:"since"`
	Default rulefile.Text     `yaml:"default"` // what a caller passes who knows nothing of it
	Assume  *rulefile.Node    `yaml:"assume"`
	Usual   *rulefile.Node    `yaml:"usual"`
	Unknown []string          `yaml:"unknown_members"`
}

// factLoader declares the facts that a library reads.
type factLoader struct{ *builder }

func (b factLoader) declare() {
	l := b.library
	b.each(func(f libraryFile) {
		for _, name := range sortedKeys(f.Facts) {
			b.declareFact(name, f.Facts[name])
		}
	})
	b.each(func(f libraryFile) {
		for _, name := range sortedKeys(f.Facts) {
			b.linkSame(name, f.Facts[name].Same)
		}
	})
	if len(l.facts) > maxFacts {
		b.Problem(1, 1, "a library reads at most %d facts", maxFacts)
	}
	version, ok := l.byName[b.version]
	if !ok {
		b.Problem(1, 1, "the fact %q that holds the version is not among facts:", b.version)
	}
	l.version = version
}

func (b factLoader) declareFact(name string, use factUse) {
	l := b.library
	info, ok := b.info(name, use)
	if !ok {
		return
	}
	if _, twice := l.byName[name]; twice {
		b.Problem(1, 1, "the fact %s stands in two files", name)
		return
	}
	if err := l.scope.Declare(name, condition.Shape{Type: info.Type}); err != nil {
		b.Problem(1, 1, "%v", err)
		return
	}
	f := libraryFact{Info: info, least: float64(use.Least), digits: use.Digits, same: -1, unknown: use.Unknown, spelt: use.Spelt, since: b.since(use.Since)}
	f.slot, _ = l.scope.Slot(name)
	f.values = byRelease(b.reader, use.Values, b.all(), func(n *rulefile.Node) []condition.Value { return b.values(n, info.Type) })
	if use.Assume != nil {
		f.assumed = b.value(use.Assume, info.Type)
	}
	if use.Checked != nil {
		f.checked = b.value(use.Checked, info.Type)
	}
	if use.Usual != nil {
		f.usual = b.value(use.Usual, info.Type)
	}
	l.byName[name] = len(l.facts)
	l.facts = append(l.facts, f)
}

// info describes a fact: as the library does, else as the vocabulary does.
func (b factLoader) info(name string, use factUse) (fact.Info, bool) {
	if use.Type != "" {
		typ, ok := condition.ParseType(use.Type)
		if !ok || use.About == "" {
			b.Problem(1, 1, "%s: a fact of the library's own needs about: and a type: version, number, string, bool, list or object", name)
			return fact.Info{}, false
		}
		info := fact.Info{Name: name, Type: typ, About: use.About, Ask: use.Ask}
		b.library.own = append(b.library.own, info)
		return info, true
	}
	info, ok := b.vocabulary.Fact(name)
	if !ok {
		b.Problem(1, 1, "%s is no fact of facts.yaml; one of the library's own needs type: and about:", name)
	}
	return info, ok
}

// linkSame finds the fact that holds another when that is not given.
func (b factLoader) linkSame(name, same string) {
	if same == "" {
		return
	}
	holder, ok := b.library.byName[same]
	own, declared := b.library.byName[name]
	if !ok || !declared {
		b.Problem(1, 1, "%s: there is no fact %s", name, same)
		return
	}
	b.library.facts[own].same = holder
}

// since is the first release that asks for a fact.
func (b factLoader) since(t rulefile.Text) int {
	if t.Value == "" {
		return 0
	}
	v, err := condition.ParseVersion(t.Value)
	if err != nil {
		b.Problem(t.Line, t.Column, "%v", err)
	}
	i, ok := b.library.releaseOf(v)
	if !ok {
		b.Problem(t.Line, t.Column, "%s is none of the releases", t.Value)
	}
	return i
}
