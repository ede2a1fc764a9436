package matcher

import (
	"maps"

	"github.com/gpu-triage/triage/rules"
)

// Choice is what a library does about its backends in a situation: which it allows, which it uses, and what would help when there is
// none.
type Choice struct {
	Library   string         `json:"library"`
	Release   string         `json:"release,omitempty"` // whose rules were applied
	Available []string       `json:"available"`
	Selected  *string        `json:"selected"` // nil: none, or not decided
	Reports   map[string]any `json:"reports"`  // what the library says of its choice, such as the sub-backend
	Backends  []Backend      `json:"backends"`
	Missing   []Missing      `json:"missing"`
	Changes   []Fix          `json:"changes"` // cheapest first
	Notes     []string       `json:"notes"`
}

// Choose applies a library's backend rules to what the logs say and what else is known. At most so many changes are proposed.
func (r *Reading) Choose(library *rules.Library, changes int, known ...Fact) Choice {
	facts := make(Facts)
	for _, f := range known {
		facts.Add(f)
	}
	for _, f := range r.facts.found {
		facts.Add(f)
	}
	values := make(map[string]rules.Value, len(facts))
	c := Choice{Library: library.Name, Reports: make(map[string]any), Backends: []Backend{}, Missing: []Missing{}, Changes: []Fix{}, Notes: []string{}}
	for name, f := range facts {
		values[name] = f.Value
	}
	trail, ok := library.ReadTrail(r.trails.of(library.Name, ""))
	if ok {
		told := library.Told(values, trail)
		maps.Copy(told, values)
		values = told
		c.Notes = append(c.Notes, library.Contradictions(values, trail)...)
	}
	selection := library.EvaluateTrail(values, trail)
	c.Release, c.Available = selection.Release, selection.Available()
	c.Notes = append(c.Notes, nonEmpty(selection.Note)...)
	if selection.Selected != "" {
		c.Selected = &selection.Selected
	}
	for name, value := range selection.Reports {
		c.Reports[name] = value.JSON()
	}
	for _, b := range selection.Backends {
		c.Backends = append(c.Backends, backendOf(b))
	}
	for _, m := range selection.Missing {
		c.Missing = append(c.Missing, Missing(m))
	}
	for _, change := range library.Changes(values, changes) {
		c.Changes = append(c.Changes, proposal(change))
	}
	return c
}

func backendOf(b rules.BackendVerdict) Backend {
	backend := Backend{Name: b.Name, Verdict: b.Verdict, Rules: []BackendRule{}, Missing: b.Missing}
	for _, rule := range b.Rules {
		backend.Rules = append(backend.Rules, BackendRule{ID: rule.ID, Because: rule.Because, Source: rule.Source})
	}
	return backend
}
