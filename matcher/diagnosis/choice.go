package diagnosis

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/matcher/reading"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules/backend"
	"github.com/gpu-triage/triage/rules/condition"
)

// Choice is what a library does about its backends in a situation: which it allows, which it uses, and what would help when there is
// none.
type Choice struct {
	Library   string           `json:"library"`
	Release   string           `json:"release,omitempty"` // whose rules were applied
	Available []string         `json:"available"`
	Selected  *string          `json:"selected"` // nil: none, or not decided
	Reports   map[string]any   `json:"reports"`  // what the library says of its choice, such as the sub-backend
	Backends  []report.Backend `json:"backends"`
	Missing   []report.Missing `json:"missing"`
	Changes   []report.Fix     `json:"changes"` // cheapest first
	Notes     []string         `json:"notes"`
}

// Choose applies a library's backend rules to what the logs say and what else is known. At most backend.Proposals changes are
// proposed.
func Choose(read *reading.Result, library *backend.Library, known ...facts.Fact) Choice {
	return ask(library, question{
		facts: allFacts(read, known).Values(), printed: read.SelectionLogs.Of(library.Name, ""), changes: backend.Proposals,
	}).Choice
}

// question is what a library's backend rules are asked.
type question struct {
	facts   map[string]condition.Value // what is known; the library's own words about its choice are added
	assume  map[string]condition.Value // what replaces that where the library fails
	printed []string                   // the lines by which one process told how it chose
	changes int                        // that are proposed at most
	refused []string                   // backends that the failure says are none
}

// asked is a Choice with what a diagnosis wants to know beyond it.
type asked struct {
	Choice
	selection backend.Selection // what surely holds
	guess     backend.Selection // what holds with the usual for what is not known
	assumed   []string          // for which facts that is
	library   *backend.Library
	values    map[string]condition.Value // what is known, with the library's own words about its choice
}

// ask applies a library's backend rules.
func ask(library *backend.Library, q question) asked {
	a := asked{Choice: Choice{Library: library.Name, Reports: make(map[string]any), Missing: []report.Missing{}, Notes: []string{}}}
	values := q.facts
	selectionLog, ok := library.ReadSelectionLog(q.printed)
	if ok {
		told := selectionLog.Facts(values)
		maps.Copy(told, values)
		values = told
		a.Notes = append(a.Notes, selectionLog.Contradictions(values)...)
	}
	maps.Copy(values, q.assume)
	a.values, a.library = values, library
	a.selection = selectionLog.Evaluate(values, q.refused...)
	usual, assumed := library.Usual(values)
	a.guess, a.assumed = library.Evaluate(usual), assumed
	a.giveUsualReasons()
	a.Notes = append(a.Notes, nonEmpty(a.selection.Note)...)
	a.Notes = append(a.Notes, a.selection.Beyond...)
	a.fill()
	a.Changes = proposals(library, values, usual, q.changes)
	return a
}

// giveUsualReasons tells for a backend that is out in every case, by one rule or by another, the rules by which it is out with the usual for
// what is not known: the others would say what nobody knows to be so.
func (a *asked) giveUsualReasons() {
	for i := range a.selection.Backends {
		b := &a.selection.Backends[i]
		if b.Verdict != backend.Disabled || b.Sure || b.Told || i >= len(a.guess.Backends) {
			continue
		}
		if guess := a.guess.Backends[i]; guess.Verdict == backend.Disabled && guess.Sure {
			b.Rules = guess.Rules
		}
	}
}

// fill puts what holds into the form of a report.
func (a *asked) fill() {
	a.Release, a.Available = a.selection.Release, a.selection.Available()
	if a.selection.Selected != "" {
		a.Selected = &a.selection.Selected
	}
	for name, value := range a.selection.Reports {
		a.Reports[name] = value.JSON()
	}
	for _, m := range a.selection.Missing {
		a.Missing = append(a.Missing, report.Missing(m))
	}
	a.Backends = backendsOf(a.selection, a.guess)
}

// backendsOf puts verdicts into the form of a report. Where no rule is certain, the reasons are those that hold with the usual for
// what is not known.
func backendsOf(selection, guess backend.Selection) []report.Backend {
	backends := []report.Backend{}
	for i, b := range selection.Backends {
		guessed := i < len(guess.Backends) && len(guess.Backends[i].Rules) > 0
		if guessed && (b.Verdict == backend.Unknown || len(b.Rules) == 0) {
			b.Rules = guess.Backends[i].Rules
		}
		if !b.Idle || b.Verdict == backend.Allowed {
			backends = append(backends, backendOf(b))
		}
	}
	return backends
}

func backendOf(b backend.Answer) report.Backend {
	backend := report.Backend{Name: b.Name, Verdict: b.Verdict, Rules: []report.BackendRule{}, Missing: b.Missing}
	for _, rule := range b.Rules {
		backend.Rules = append(backend.Rules, report.BackendRule{ID: rule.ID, Because: rule.Because, Source: rule.Source})
	}
	return backend
}

// Bounds of what a diagnosis shows of backends.
const (
	maxChanges = 3 // that would help
	maxMissing = 6 // questions: more than a few nobody answers
	maxReasons = 4 // rules for one backend: with much unknown, dozens may take it out
)

// addBackends asks a library's backend rules about a diagnosis: which backends the process would have, why not the others, and the
// smallest change that gives one. The notes tell what contradicts the log.
func addBackends(d *report.Diagnosis, read *reading.Result, s situation, m match, process string) (notes []string) {
	name := m.signature.Library
	library, err := read.Base.Library(name)
	if err != nil {
		return []string{fmt.Sprintf("The backend rules of %s cannot be read: %v", name, err)}
	}
	if library == nil {
		return []string{"There are no backend rules of " + name}
	}
	refused := refusedBy(m.signature, library)
	c := ask(library, question{
		facts: s.facts.Values(), assume: m.signature.Assume, printed: read.SelectionLogs.Of(name, process), changes: maxChanges, refused: refused,
	})
	c.addTo(d)
	if len(refused) > 0 && c.compose(d, m, refused) {
		return c.Notes
	}
	if c.guess.Decided && c.guess.Selected != "" {
		c.Notes = append(c.Notes, c.hidden())
	}
	return c.Notes
}

// addTo shows the most telling part of what holds in a diagnosis: the first reasons and questions, and all changes before other fixes.
func (a *asked) addTo(d *report.Diagnosis) {
	for _, missing := range a.Missing {
		if len(d.Missing) < maxMissing && !slices.ContainsFunc(d.Missing, func(have report.Missing) bool { return have.Name == missing.Name }) {
			d.Missing = append(d.Missing, missing)
		}
	}
	for _, b := range a.Backends {
		b.Rules, b.Missing = b.Rules[:min(len(b.Rules), maxReasons)], b.Missing[:min(len(b.Missing), maxMissing)]
		d.Backends = append(d.Backends, b)
	}
	d.Fixes = append(a.Changes, d.Fixes...)
}

// hidden says that the configuration would have got a backend although the log says that it failed to.
func (a *asked) hidden() string {
	note := fmt.Sprintf("By the rules of %s %s this configuration gets %s, so something decides here that the log does not show", a.guess.Library, a.guess.Release, a.guess.Selected)
	if a.selection.Decided {
		return note + ": another layer's configuration, or a patched build."
	}
	var open []string
	for _, missing := range a.selection.Missing {
		if slices.Contains(a.assumed, missing.Name) && len(open) < maxMissing {
			open = append(open, missing.Name)
		}
	}
	return note + ". One of these is not as usual: " + strings.Join(open, ", ") + "."
}

// proposals are the smallest changes that give a backend. They are searched for with the usual where the log does not say; one is
// verified only if the rules say yes after it whatever the rest is.
func proposals(library *backend.Library, values, usual map[string]condition.Value, most int) []report.Fix {
	fixes := []report.Fix{}
	for _, change := range library.Changes(usual, most) {
		fix := proposal(change, library.Loses(change.Selected))
		after := maps.Clone(values)
		maps.Copy(after, change.Set)
		maps.Copy(after, change.Implies)
		gets := library.Evaluate(after)
		fix.Verified = len(gets.Available()) > 0 && (gets.Selected != "" || !library.TakesRequests())
		if !fix.Verified {
			fix.Effect += ", if what the log does not say is as usual"
		}
		fixes = append(fixes, fix)
	}
	return fixes
}

func nonEmpty(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// proposal puts a change into the words of a fix; lost is what the backend that it gives is worse at.
func proposal(c backend.Change, lost string) report.Fix {
	fix := report.Fix{Run: []string{}, Set: make(map[string]any), Effect: c.Selected + " becomes available", Cost: c.Cost}
	var do []string
	loses := nonEmpty(lost)
	for _, step := range c.Steps {
		do = append(do, step.Do)
		for _, c := range step.Run {
			fix.Add(string(c.Kind), c.Text)
		}
		loses = append(loses, nonEmpty(step.Loses)...)
	}
	fix.Do, fix.Loses = strings.Join(do, ". "), strings.Join(loses, " ")
	for name, value := range c.Set {
		fix.Set[name] = value.JSON()
	}
	fix.Do = cmp.Or(fix.Do, "Change the configuration.")
	return fix
}
