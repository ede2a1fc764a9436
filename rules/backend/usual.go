package backend

import (
	"maps"

	"github.com/gpu-triage/triage/rules/condition"
)

// Usual completes facts with what most callers pass, where nobody says what this one does. It names what it took for granted. An
// answer about the completed facts is a good guess and no more: unlike that of Evaluate it need not hold for other values.
func (l *Library) Usual(facts map[string]condition.Value) (completed map[string]condition.Value, assumed []string) {
	completed = maps.Clone(facts)
	for i := range l.facts {
		f := &l.facts[i]
		if !facts[f.Name].Known() && len(f.usual) > 0 {
			completed[f.Name] = f.usual[0]
			assumed = append(assumed, f.Name)
		}
	}
	return completed, assumed
}
