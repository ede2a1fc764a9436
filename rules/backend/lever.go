package backend

import (
	"slices"
	"strings"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/rulefile"
)

// leverEntry is the form of a lever in a rule file.
type leverEntry struct {
	Fact    rulefile.Text   `yaml:"fact"`
	Values  *rulefile.Node  `yaml:"values"` // in the order in which they are tried
	Order   string          `yaml:"order"`  // of versions: "as listed" or "nearest"
	Cost    int             `yaml:"cost"`
	Back    int             `yaml:"back"` // cost of going back to an older version; 0: not proposed
	When    *rulefile.Node  `yaml:"when"` // the lever can be pulled only then
	Fits    *rulefile.Node  `yaml:"fits"` // must not be false after it
	Implies *rulefile.Node  `yaml:"implies"`
	Do      string          `yaml:"do"`
	Run     []rulefile.Text `yaml:"run"`
	Loses   string          `yaml:"loses"`
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
	run     []condition.Command
	loses   string
}

// leverLoader reads the levers.
type leverLoader struct{ *builder }

// compile reads the levers, and what callers pass for facts that they know nothing of.
func (b leverLoader) compile() {
	l := b.library
	b.each(func(f libraryFile) {
		for name, use := range f.Facts {
			if use.Default.Value != "" {
				info := &l.facts[l.byName[name]]
				info.preset = b.preset(use.Default, info.Type)
			}
		}
		for _, entry := range f.Levers {
			b.compileLever(entry)
		}
	})
}

func (b leverLoader) compileLever(entry leverEntry) {
	fact, ok := b.library.byName[entry.Fact.Value]
	if !ok {
		b.Problem(entry.Fact.Line, entry.Fact.Column, "%s is none of the library's facts", entry.Fact.Value)
		return
	}
	if entry.Cost < 1 || entry.Do == "" || entry.Values == nil {
		b.Problem(entry.Fact.Line, entry.Fact.Column, "a lever needs a cost of at least 1, values: and do:")
		return
	}
	b.library.levers = append(b.library.levers, lever{
		fact: fact, nearest: entry.Order == "nearest", cost: entry.Cost, back: entry.Back, do: entry.Do, run: b.commands(entry.Run), loses: entry.Loses,
		values:  b.values(entry.Values, b.library.facts[fact].Type),
		when:    b.conditions(entry.When),
		fits:    b.conditions(entry.Fits),
		implies: b.factValues(entry.Implies),
	})
}

// commands reads commands whose places are all the new value's.
func (b leverLoader) commands(texts []rulefile.Text) []condition.Command {
	var commands []condition.Command
	for _, t := range texts {
		c, err := condition.ParseCommand(t.Value)
		if err != nil {
			b.Problem(t.Line, t.Column, "run: %v", err)
			continue
		}
		for _, name := range c.Template().Names() {
			if name != "value" && !strings.HasSuffix(name, major) {
				b.Problem(t.Line, t.Column, "{%s}: a lever's command has places for {value}, and for the first number of a version, as {cuda.major|12}", name)
			}
		}
		commands = append(commands, c)
	}
	return commands
}

// preset is what a caller passes for a fact: an expression, a quoted version for a version.
func (b leverLoader) preset(t rulefile.Text, want condition.Type) *condition.Expression {
	if t.Value == "null" {
		t.Value = "nil"
	}
	e := b.library.scope.Read(b.Decoder, t)
	if e == nil || want != condition.VersionType {
		return e
	}
	written, ok := e.Constant()
	if !ok || written.Type() != condition.String {
		return e
	}
	v, err := condition.FromText(written.String(), want)
	if err != nil {
		b.Problem(t.Line, t.Column, "%v", err)
	}
	return condition.Constant(v)
}

// option is a value that a lever offers.
type option struct {
	value condition.Value
	cost  int
}

// options are the values that a lever offers in a situation, with their costs, in the order in which they are to be tried: older
// versions last, the best or the nearest of them first.
func (v *lever) options(s *situation) []option {
	if s.all(v.when) != on {
		return nil
	}
	now := s.value(v.fact)
	var newer, older []option
	for _, value := range v.values {
		order, ordered := condition.Compare(value, now)
		switch {
		case now.Known() && value.Equal(now):
		case value.Type() == condition.VersionType && ordered && order < 0:
			if v.back > 0 {
				older = append(older, option{value, v.back})
			}
		default:
			newer = append(newer, option{value, v.cost})
		}
	}
	if v.nearest { // they are listed the best first
		slices.Reverse(older)
	}
	return append(newer, older...)
}

// words is a lever's text with the new value in it.
func (v *lever) words(text string, value condition.Value) string {
	return strings.ReplaceAll(text, "{value}", value.String())
}

// major ends the name of a place in a command that takes the first number of a version: {cuda.major|12}.
const major = ".major"

// step is the lever in words, in a situation.
func (v *lever) step(value condition.Value, now *situation) Step {
	step := Step{Do: v.words(v.do, value), Loses: v.words(v.loses, value)}
	for _, c := range v.run {
		text := c.FillFrom(func(name string) condition.Value {
			fact, ok := strings.CutSuffix(name, major)
			if !ok {
				return value
			}
			version, ok := now.Value(fact).Version()
			if !ok {
				return condition.Value{}
			}
			return condition.StringValue(version.Truncate(1).String())
		})
		if text != "" {
			step.Run = append(step.Run, Command{Kind: c.Kind, Text: text})
		}
	}
	return step
}
