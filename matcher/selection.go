package matcher

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/rules"
)

// trails are the lines by which libraries tell how they choose their backends, by library and process.
type trails map[trailKey][]string

type trailKey struct{ library, process string }

// Bounds of the lines that are kept; one choice prints some twenty.
const (
	maxTrail     = 200
	maxTrails    = 4096
	maxTrailLine = 16 << 10 // bytes
)

func (t trails) add(library, text string, line Line) {
	key := trailKey{library, processKey(line)}
	lines := t[key]
	if lines == nil && len(t) >= maxTrails || len(lines) > 0 && lines[len(lines)-1] == text {
		return // a line that holds two keywords is told twice
	}
	if len(lines) == maxTrail {
		lines = slices.Delete(lines, 0, 1)
	}
	t[key] = append(lines, clip(text, maxTrailLine))
}

// of are the lines of a process, or of the only process that left some.
func (t trails) of(library, process string) []string {
	if lines := t[trailKey{library, process}]; lines != nil {
		return lines
	}
	var only []string
	for key, lines := range t {
		if key.library == library {
			if only != nil {
				return nil
			}
			only = lines
		}
	}
	return only
}

// maxChanges is how many changes that would help a diagnosis shows.
const maxChanges = 3

// choose asks a library's backend rules about the situation: which backends it would have, why not the others, and the smallest
// change that gives one. It returns what contradicts the log.
func (r *Reading) choose(d *Diagnosis, m match, facts Facts, process string) (notes []string) {
	library, err := r.engine.base.Library(m.signature.Library)
	if err != nil {
		return []string{fmt.Sprintf("The backend rules of %s cannot be read: %v", m.signature.Library, err)}
	}
	if library == nil {
		return []string{"There are no backend rules of " + m.signature.Library}
	}
	values := make(map[string]rules.Value, len(facts))
	for name, f := range facts {
		values[name] = f.Value
	}
	trail, ok := library.ReadTrail(r.trails.of(library.Name, process))
	if ok {
		told := library.Told(values, trail)
		maps.Copy(told, values)
		values = told
		notes = library.Contradictions(values, trail)
	}
	maps.Copy(values, m.signature.Assume)
	selection := library.EvaluateTrail(values, trail)
	for _, missing := range selection.Missing {
		if len(d.Missing) < maxMissing && !slices.ContainsFunc(d.Missing, func(have Missing) bool { return have.Name == missing.Name }) {
			d.Missing = append(d.Missing, Missing(missing))
		}
	}
	usual, assumed := library.Usual(values)
	guess := library.Evaluate(usual)
	d.Backends = backendsOf(selection, guess)
	d.Fixes = append(proposals(library, values, usual), d.Fixes...)
	if guess.Decided && guess.Selected != "" {
		notes = append(notes, hidden(guess, selection, assumed))
	}
	return append(notes, nonEmpty(selection.Note)...)
}

// hidden says that the configuration would have got a backend although the log says that it failed to.
func hidden(guess, selection rules.Selection, assumed []string) string {
	note := fmt.Sprintf("By the rules of %s %s this configuration gets %s, so something decides here that the log does not show", guess.Library, guess.Release, guess.Selected)
	if selection.Decided {
		return note + ": another layer's configuration, or a patched build."
	}
	var open []string
	for _, missing := range selection.Missing {
		if slices.Contains(assumed, missing.Name) && len(open) < maxMissing {
			open = append(open, missing.Name)
		}
	}
	return note + ". One of these is not as usual: " + strings.Join(open, ", ") + "."
}

// proposals are the smallest changes that give a backend. They are searched for with the usual where the log does not say; one is
// verified only if the rules say yes after it whatever the rest is.
func proposals(library *rules.Library, values, usual map[string]rules.Value) []Fix {
	var fixes []Fix
	for _, change := range library.Changes(usual, maxChanges) {
		fix := proposal(change, library.Loses(change.Selected))
		after := maps.Clone(values)
		maps.Copy(after, change.Set)
		maps.Copy(after, change.Implies)
		if fix.Verified = len(library.Evaluate(after).Available()) > 0; !fix.Verified {
			fix.Effect += ", if what the log does not say is as usual"
		}
		fixes = append(fixes, fix)
	}
	return fixes
}

// maxMissing bounds the questions of one diagnosis: more than a few nobody answers.
const maxMissing = 6

// maxReasons bounds the rules that are shown for one backend; with much unknown, dozens may take it out.
const maxReasons = 4

func nonEmpty(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// backendsOf puts verdicts into the form of a report. Where no rule is certain, the reasons are those that hold with the usual for
// what is not known.
func backendsOf(selection, guess rules.Selection) []Backend {
	backends := []Backend{}
	for i, b := range selection.Backends {
		if i < len(guess.Backends) && len(guess.Backends[i].Rules) > 0 && b.Verdict != rules.Allowed {
			b.Rules = guess.Backends[i].Rules
		}
		b.Rules, b.Missing = b.Rules[:min(len(b.Rules), maxReasons)], b.Missing[:min(len(b.Missing), maxMissing)]
		backends = append(backends, backendOf(b))
	}
	return backends
}

// proposal puts a change into the words of a fix; lost is what the backend that it gives is worse at.
func proposal(c rules.Change, lost string) Fix {
	fix := Fix{Run: []string{}, Set: make(map[string]any), Effect: c.Selected + " becomes available", Cost: c.Cost}
	var do []string
	loses := nonEmpty(lost)
	for _, step := range c.Steps {
		do = append(do, step.Do)
		fix.Run = append(fix.Run, step.Run...)
		loses = append(loses, nonEmpty(step.Loses)...)
	}
	fix.Do, fix.Loses = strings.Join(do, " "), strings.Join(loses, " ")
	for name, value := range c.Set {
		fix.Set[name] = value.JSON()
	}
	fix.Do = cmp.Or(fix.Do, "Change the configuration.")
	return fix
}
