package backend

import (
	"maps"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/rulefile"
)

// callEntry is how a call of a backend differs from what it was selected for, as a rule file has it.
type callEntry struct {
	Backend  rulefile.Text  `yaml:"backend"`
	Versions rulefile.Text  `yaml:"versions"`
	When     *rulefile.Node `yaml:"when"`
	Fits     *rulefile.Node `yaml:"fits"` // must not be false; what is not known of it is taken for granted
	Set      *rulefile.Node `yaml:"set"`
	Open     []string       `yaml:"open"` // facts that each call has its own value of
	Because  string         `yaml:"because"`
	Source   string         `yaml:"source"`
}

// call is one of them.
type call struct {
	backend int
	when    ranged[[]*condition.Expression]
	fits    []*condition.Expression
	set     map[int]condition.Value
	open    []int
	because string
}

// callLoader reads how calls differ from selections.
type callLoader struct{ *builder }

func (b callLoader) compile() {
	b.each(func(f libraryFile) {
		for _, entry := range f.Calls {
			backend := b.library.backendNamed(entry.Backend.Value)
			if backend < 0 || entry.When == nil || entry.Set == nil || entry.Because == "" || entry.Source == "" {
				b.Problem(entry.Backend.Line, entry.Backend.Column, "a call needs backend:, when:, set:, because: and source:")
				continue
			}
			c := call{backend: backend, when: b.conditionsByRelease(entry.When, b.rangeOf(entry.Versions)), fits: b.conditions(entry.Fits),
				set: b.factValues(entry.Set), because: entry.Because}
			for _, name := range entry.Open {
				fact, ok := b.library.byName[name]
				if !ok {
					b.Problem(entry.Backend.Line, entry.Backend.Column, "%s is none of the library's facts", name)
				}
				c.open = append(c.open, fact)
			}
			b.library.calls = append(b.library.calls, c)
		}
	})
}

// Call is what a backend is called with when it was selected in some situation.
type Call struct {
	Facts   map[string]condition.Value
	Because string   // why it differs from what was selected for
	Assumed []string // facts that were taken for granted
}

// Calls are the ways in which a backend is called differently from what it was selected for.
func (l *Library) Calls(backend string, facts map[string]condition.Value) []Call {
	s := l.situation(facts)
	candidates, _ := s.candidates()
	if len(candidates) != 1 {
		return nil
	}
	s.setRelease(candidates[0])
	var calls []Call
	for _, c := range l.calls {
		when, ok := c.when.at(s.release)
		fits := s.all(c.fits)
		if !ok || l.backends[c.backend].name != backend || s.all(when) != on || fits == off {
			continue
		}
		changed := maps.Clone(facts)
		for fact, value := range c.set {
			changed[l.facts[fact].Name] = value
		}
		for _, fact := range c.open {
			delete(changed, l.facts[fact].Name)
		}
		one := Call{Facts: changed, Because: c.because}
		for _, e := range c.fits {
			one.Assumed = append(one.Assumed, e.Unknowns(s.Situation)...)
		}
		calls = append(calls, one)
	}
	return calls
}
