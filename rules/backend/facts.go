package backend

import (
	"strings"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/rulefile"
	"gopkg.in/yaml.v3"
)

type factUse struct {
	Values  *yaml.Node    `yaml:"values"`
	Least   int           `yaml:"least"`
	Digits  int           `yaml:"digits"`
	Same    string        `yaml:"same"`
	Since   rulefile.Text `yaml:"since"`
	Default rulefile.Text `yaml:"default"`
	Assume  *yaml.Node    `yaml:"assume"`
	Usual   *yaml.Node    `yaml:"usual"`
	Unknown []string      `yaml:"unknown_members"`
}

func (b *libraryBuilder) declareFacts() {
	l := b.library
	l.scope, l.bySlot, l.byName = condition.NewScope(), make(map[int]int), make(map[string]int)
	b.each(func(f libraryFile) {
		for _, name := range sortedKeys(f.Facts) {
			b.declareFact(name, f.Facts[name])
		}
	})
	b.each(func(f libraryFile) {
		for name, use := range f.Facts {
			if use.Same == "" {
				continue
			}
			same, ok := l.byName[use.Same]
			own, declared := l.byName[name]
			if !ok || !declared {
				b.Problem(1, 1, "%s: there is no fact %s", name, use.Same)
				continue
			}
			l.facts[own].same = same
		}
	})
	if len(l.facts) > maxFacts {
		b.Problem(1, 1, "a library reads at most %d facts", maxFacts)
	}
	if _, ok := l.byName[l.version]; !ok {
		b.Problem(1, 1, "the fact %q that holds the version is not among facts:", l.version)
	}
	l.now = b.hidden("release", condition.Shape{Type: condition.Number}, nil)
}

func (b *libraryBuilder) declareFact(name string, use factUse) {
	l := b.library
	info, ok := b.vocabulary.Fact(name)
	if !ok {
		b.Problem(1, 1, "%s is no fact of facts.yaml", name)
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
	fact := libraryFact{Info: info, slot: l.scope.Index[name], least: float64(use.Least), digits: use.Digits, same: -1, unknown: use.Unknown}
	fact.values = parts(b, use.Values, b.all(), func(n *yaml.Node) []condition.Value { return b.values(n, info.Type) })
	if use.Assume != nil {
		fact.assumed = b.value(use.Assume, info.Type)
	}
	if use.Usual != nil {
		fact.usual = append(fact.usual, b.value(use.Usual, info.Type))
	}
	fact.since = b.since(use.Since)
	l.byName[name], l.bySlot[fact.slot] = len(l.facts), len(l.facts)
	l.facts = append(l.facts, fact)
}

// values reads a list of constants of one type.
func (b *libraryBuilder) values(n *yaml.Node, want condition.Type) []condition.Value {
	var decoded []any
	if err := n.Decode(&decoded); err != nil {
		b.Problem(n.Line, n.Column, "a list of values is needed here: %v", err)
	}
	values := make([]condition.Value, 0, len(decoded)+1)
	for _, item := range decoded {
		v, err := condition.FromJSON(plain(item), want)
		if err != nil {
			b.Problem(n.Line, n.Column, "%v", err)
		}
		values = append(values, v)
	}
	return values
}

// value reads one constant.
func (b *libraryBuilder) value(n *yaml.Node, want condition.Type) condition.Value {
	values := b.values(list(n), want)
	if len(values) == 0 { // noted as a problem
		return condition.Value{}
	}
	return values[0]
}

// list is a list of one node.
func list(n *yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{n}, Line: n.Line, Column: n.Column}
}

// plain turns what yaml decodes into what encoding/json would.
func plain(value any) any {
	switch v := value.(type) {
	case int:
		return float64(v)
	case []any:
		items := make([]any, len(v))
		for i, item := range v {
			items[i] = plain(item)
		}
		return items
	case map[string]any:
		members := make(map[string]any, len(v))
		for name, m := range v {
			members[name] = plain(m)
		}
		return members
	}
	return value
}

func (b *libraryBuilder) since(t rulefile.Text) int {
	if t.Value == "" {
		return 0
	}
	v, err := condition.ParseVersion(t.Value)
	if err != nil {
		b.Problem(t.Line, t.Column, "%v", err)
	}
	i, ok := b.library.release(v)
	if !ok {
		b.Problem(t.Line, t.Column, "%s is none of the releases", t.Value)
	}
	return i
}

// constants reads a mapping from facts to their values.
func (b *libraryBuilder) constants(n *yaml.Node) map[int]condition.Value {
	values := make(map[int]condition.Value)
	if n == nil {
		return values
	}
	b.Pairs(n, func(key, value *yaml.Node) {
		fact, ok := b.library.byName[key.Value]
		if !ok {
			b.Problem(key.Line, key.Column, "%s is none of the library's facts", key.Value)
			return
		}
		values[fact] = b.value(value, b.library.facts[fact].Type)
	})
	return values
}

// within is parts for a thing that is a mapping itself, and holds for all releases of a rule unless its keys are ranges.
func within[T any](b *libraryBuilder, n *yaml.Node, releases []bool, read func(*yaml.Node) T) ranged[T] {
	if n != nil && n.Kind == yaml.MappingNode && len(n.Content) > 0 && !strings.ContainsAny(n.Content[0].Value, "<>=!") {
		n = list(n)
	}
	return parts(b, n, releases, func(n *yaml.Node) T {
		if n.Kind == yaml.SequenceNode {
			n = n.Content[0]
		}
		return read(n)
	})
}
