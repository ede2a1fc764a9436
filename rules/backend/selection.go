package backend

import (
	"fmt"

	"github.com/gpu-triage/triage/rules/condition"
)

// Verdicts about a backend.
const (
	Allowed  = "allowed"
	Disabled = "disabled"
	Unknown  = "unknown"
)

// Selection is what a library does in a situation: what holds whatever the unknown facts are.
type Selection struct {
	Library  string
	Release  string // whose rules were applied; "" when the situation does not name one that is known here
	Note     string // why nothing can be said, or what to keep in mind
	Backends []Answer
	Selected string                     // the backend that is used; "" when there is none or when that is not decided
	Decided  bool                       // whether Selected is what happens
	Reports  map[string]condition.Value // what the library says of its choice, such as the sub-backend; unknown values are not decided
	Missing  []MissingFact              // the most deciding first
	Beyond   []string                   // sentences about what the rules were not compared with
	Raises   []Rule                     // why the library raises before it chooses
}

// Answer is what the rules say of one backend.
type Answer struct {
	Name    string
	Verdict string   // Allowed, Disabled or Unknown
	Rules   []Rule   // that take it out; when unknown, that may
	Sure    bool     // each of the rules surely does: where a disabled backend has it false, one or the other does, whatever is not known
	Missing []string // facts that would decide
	Told    bool     // the log itself says so
	Idle    bool     // the library does not have it in this release, or would not try it here, and it is not asked for
}

// MissingFact is a fact that would decide, with the command that tells it.
type MissingFact struct {
	Name string
	Why  string
	How  string
}

// Available are the backends that are surely left.
func (s Selection) Available() []string { return s.with(Allowed) }

// Unsure are the backends about which nothing certain can be said.
func (s Selection) Unsure() []string { return s.with(Unknown) }

func (s Selection) with(verdict string) []string {
	names := []string{}
	for _, b := range s.Backends {
		if b.Verdict == verdict {
			names = append(names, b.Name)
		}
	}
	return names
}

// Evaluate applies the library's rules to facts. A fact that is not in the map is unknown; Nil is known to be absent.
func (l *Library) Evaluate(facts map[string]condition.Value) Selection {
	return evaluate(l.situation(facts)).selection()
}

// candidates are the releases that the situation may be about. Without any, note says why.
func (s *situation) candidates() (releases []int, note string) {
	l := s.library
	name, value := l.facts[l.version].Name, s.value(l.version)
	if !value.Known() {
		for i := range l.releases {
			releases = append(releases, i)
		}
		return releases, ""
	}
	v, ok := value.Version()
	if !ok {
		return nil, name + " is not installed"
	}
	if i, ok := l.releaseOf(v); ok {
		return []int{i}, ""
	}
	return nil, fmt.Sprintf("not covered: %s %s; the rules were checked for %s to %s", name, v,
		l.releases[0].version.Truncate(2), l.releases[len(l.releases)-1].version.Truncate(2))
}

// evaluation is what holds in all of the releases that a situation may be about.
type evaluation struct {
	*situation        // in the last of the releases
	releases   []int  // without any, nothing can be said
	note       string // why
	found      exploration
}

func evaluate(s *situation) *evaluation {
	e := &evaluation{situation: s}
	e.releases, e.note = s.candidates()
	e.found = exploration{situation: s, budget: explorationBudget}
	for _, release := range e.releases {
		s.setRelease(release)
		e.found.explore(0)
	}
	return e
}

// selection is the whole answer, with the rules behind it.
func (e *evaluation) selection() Selection {
	if len(e.releases) == 0 {
		return e.silent()
	}
	selection := e.verdicts()
	if len(e.releases) == 1 {
		selection.Release = e.library.releases[e.release].version.String()
		selection.Beyond, selection.Raises = e.beyond(), e.raises()
		reasons := reasonsIn(e.situation)
		for i := range selection.Backends {
			b := &selection.Backends[i]
			b.Rules, b.Sure = reasons.rulesBehind(i, b.Verdict)
		}
		e.markIdle(&selection)
	}
	return selection
}

// raises are the rules by which the library raises before it chooses.
func (s *situation) raises() []Rule {
	var rules []Rule
	for _, r := range s.library.releases[s.release].rules {
		if r.raises && s.fires(r) == on {
			rules = append(rules, r.describeIn(s))
		}
	}
	return rules
}

// silent is the selection about which nothing is known.
func (e *evaluation) silent() Selection {
	selection := Selection{Library: e.library.Name, Note: e.note, Reports: make(map[string]condition.Value)}
	for _, b := range e.library.backends {
		selection.Backends = append(selection.Backends, Answer{Name: b.name, Verdict: Unknown})
		if b.reports != "" {
			selection.Reports[b.reports] = condition.Value{}
		}
	}
	return selection
}

// verdicts is the selection without the rules behind it.
func (e *evaluation) verdicts() Selection {
	if len(e.releases) == 0 {
		return e.silent()
	}
	selection := Selection{Library: e.library.Name, Note: e.note}
	for i, b := range e.library.backends {
		selection.Backends = append(selection.Backends, Answer{Name: b.name, Verdict: e.found.backends[i].verdict()})
	}
	chosen, decided := e.found.chosen()
	selection.Decided = decided
	if decided && chosen >= 0 {
		selection.Selected = e.called(chosen)
	}
	selection.Reports = e.reports(chosen, decided)
	if e.found.open() {
		e.ask(&selection)
	}
	return selection
}

// called is what the library calls a backend: its name, or what an expression says.
func (s *situation) called(backend int) string {
	b := s.library.backends[backend]
	if name, ok := b.called.at(s.release); ok {
		if v := name.Eval(s.Situation); v.Present() {
			return v.String()
		}
	}
	return b.name
}

// reports are what the library says of its choice: only about the chosen backend, and nothing certain before one is chosen.
func (e *evaluation) reports(chosen int, decided bool) map[string]condition.Value {
	reports := make(map[string]condition.Value)
	other := condition.Nil
	if !decided {
		other = condition.Value{}
	}
	for _, b := range e.library.backends {
		if b.reports != "" {
			reports[b.reports] = other
		}
	}
	if decided && chosen >= 0 && e.library.backends[chosen].reports != "" {
		reports[e.library.backends[chosen].reports] = e.report()
	}
	return reports
}

// report is what the library says of the variant that the chosen backend works in.
func (e *evaluation) report() condition.Value {
	used, ok := e.found.variant()
	if !ok || len(e.releases) > 1 {
		return condition.Value{}
	}
	report, ok := e.library.variants[used].reports.at(e.release)
	if !ok {
		return condition.Value{}
	}
	return report.Eval(e.Situation)
}
