package backend

import (
	"strings"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/rulefile"
	"gopkg.in/yaml.v3"
)

// leverEntry is the form of a lever in a rule file.
type leverEntry struct {
	Fact    rulefile.Text `yaml:"fact"`
	Values  *yaml.Node    `yaml:"values"` // in the order in which they are tried
	Order   string        `yaml:"order"`  // of versions: "as listed" or "nearest"
	Cost    int           `yaml:"cost"`
	Back    int           `yaml:"back"` // cost of going back to an older version; 0: not proposed
	When    *yaml.Node    `yaml:"when"` // the lever can be pulled only then
	Fits    *yaml.Node    `yaml:"fits"` // must not be false after it
	Implies *yaml.Node    `yaml:"implies"`
	Do      string        `yaml:"do"`
	Run     []string      `yaml:"run"`
	Loses   string        `yaml:"loses"`
}

// lever is something that a user can change: one fact, the values it can be given, what that costs and loses.
type lever struct {
	fact    int
	values  []condition.Value
	nearest bool
	cost    int
	back    int
	when    []*condition.Expression
	fits    []*condition.Expression
	implies map[int]condition.Value // what a caller then passes
	do      string
	run     []string
	loses   string
}

func (b *libraryBuilder) compileLevers() {
	l := b.library
	b.each(func(f libraryFile) {
		for name, use := range f.Facts {
			if use.Default.Value != "" {
				l.facts[l.byName[name]].preset = b.preset(use.Default, l.facts[l.byName[name]].Type)
			}
		}
		for _, entry := range f.Levers {
			fact, ok := l.byName[entry.Fact.Value]
			if !ok {
				b.Problem(entry.Fact.Line, entry.Fact.Column, "%s is none of the library's facts", entry.Fact.Value)
				continue
			}
			if entry.Cost < 1 || entry.Do == "" || entry.Values == nil {
				b.Problem(entry.Fact.Line, entry.Fact.Column, "a lever needs a cost of at least 1, values: and do:")
				continue
			}
			v := lever{fact: fact, nearest: entry.Order == "nearest", cost: entry.Cost, back: entry.Back, do: entry.Do, run: entry.Run, loses: entry.Loses}
			v.values = b.values(entry.Values, l.facts[fact].Type)
			if entry.When != nil {
				v.when = b.conditions(entry.When)
			}
			if entry.Fits != nil {
				v.fits = b.conditions(entry.Fits)
			}
			v.implies = b.constants(entry.Implies)
			l.levers = append(l.levers, v)
		}
	})
}

// preset is what a caller passes for a fact: an expression, a quoted version for a version.
func (b *libraryBuilder) preset(t rulefile.Text, want condition.Type) *condition.Expression {
	if t.Value == "null" {
		t.Value = "nil"
	}
	e := condition.CompileText(b.Decoder, b.library.scope, t, false)
	if e != nil && e.Root.Fixed != nil && e.Root.Fixed.Typ == condition.String && want == condition.VersionType {
		v, err := condition.FromText(e.Root.Fixed.Text, want)
		if err != nil {
			b.Problem(t.Line, t.Column, "%v", err)
		}
		e.Root = condition.Constant(v)
	}
	return e
}

// options are the values that a lever offers in a situation, with their costs, in the order in which they are to be tried.
func (v *lever) options(l *Library, s *condition.Situation) []option {
	if all(s, v.when) != on {
		return nil
	}
	now := s.Values[l.facts[v.fact].slot]
	var newer, back []option
	for _, value := range v.values {
		order, ordered := condition.Compare(value, now)
		switch {
		case now.Known() && value.Equal(now):
		case value.Typ == condition.VersionType && ordered && order < 0:
			if v.back > 0 {
				back = append([]option{{value, v.back}}, back...)
			}
		default:
			newer = append(newer, option{value, v.cost})
		}
	}
	if !v.nearest { // listed the best first
		for i, j := 0, len(back)-1; i < j; i, j = i+1, j-1 {
			back[i], back[j] = back[j], back[i]
		}
	}
	return append(newer, back...)
}

type option struct {
	value condition.Value
	cost  int
}

// words is a lever's text with the new value in it.
func (v *lever) words(text string, value condition.Value) string {
	return strings.ReplaceAll(text, "{value}", value.String())
}
