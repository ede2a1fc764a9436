package backend

import (
	"fmt"
	"iter"

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
	Backends []BackendVerdict
	Selected string                     // the backend that is used; "" when there is none or when that is not decided
	Decided  bool                       // whether Selected is what happens
	Reports  map[string]condition.Value // what the library says of its choice, such as the sub-backend; unknown values are not decided
	Missing  []MissingFact              // the most deciding first
}

// BackendVerdict is what the rules say of one backend.
type BackendVerdict struct {
	Name    string
	Verdict string   // Allowed, Disabled or Unknown
	Rules   []Rule   // that take it out; when unknown, that may
	Missing []string // facts that would decide
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
	return l.evaluate(l.situation(facts))
}

func (l *Library) evaluate(s *condition.Situation) Selection {
	candidates, note := l.candidates(s)
	if len(candidates) == 0 {
		return l.silent(note)
	}
	e := l.settle(s, candidates)
	selection := Selection{Library: l.Name, Note: note, Reports: make(map[string]condition.Value)}
	if len(candidates) == 1 {
		selection.Release = l.releases[candidates[0]].version.String()
	}
	for i, b := range l.backends {
		selection.Backends = append(selection.Backends, l.explain(s, i, b.name, e.backends[i], len(candidates) > 1))
	}
	l.report(s, &e, &selection, len(candidates) > 1)
	if e.open() {
		l.ask(&selection, l.deciding(s, candidates))
	}
	return selection
}

// settle finds what holds in all of the releases, and leaves the situation in the last of them.
func (l *Library) settle(s *condition.Situation, candidates []int) exploration {
	e := exploration{library: l, budget: explorationBudget}
	for _, release := range candidates {
		l.setRelease(s, release)
		e.explore(s, 0)
	}
	return e
}

// candidates are the releases that the situation may be about. Without any, note says why.
func (l *Library) candidates(s *condition.Situation) (releases []int, note string) {
	version := s.Values[l.facts[l.byName[l.version]].slot]
	if !version.Known() {
		for i := range l.releases {
			releases = append(releases, i)
		}
		return releases, ""
	}
	v, ok := version.Version()
	if !ok {
		return nil, l.version + " is not installed"
	}
	if i, ok := l.release(v); ok {
		return []int{i}, ""
	}
	return nil, fmt.Sprintf("not covered: %s %s; the rules were checked for %s to %s", l.version, v,
		l.releases[0].version.Truncate(2), l.releases[len(l.releases)-1].version.Truncate(2))
}

// silent is the selection about which nothing is known.
func (l *Library) silent(note string) Selection {
	selection := Selection{Library: l.Name, Note: note, Reports: make(map[string]condition.Value)}
	for _, b := range l.backends {
		selection.Backends = append(selection.Backends, BackendVerdict{Name: b.name, Verdict: Unknown})
		if b.reports != "" {
			selection.Reports[b.reports] = condition.Value{}
		}
	}
	return selection
}

func (l *Library) setRelease(s *condition.Situation, release int) {
	s.Assign(l.now, condition.NumberValue(float64(release)))
	s.Forget()
}

// explain lists the rules behind a backend's verdict. With several releases in question the rules are those of none in particular.
func (l *Library) explain(s *condition.Situation, i int, name string, seen outcomes, manyReleases bool) BackendVerdict {
	b := BackendVerdict{Name: name, Verdict: seen.verdict()}
	if b.Verdict == Allowed || manyReleases {
		return b
	}
	release := l.at(s)
	var certain, possible []Rule
	for r, fired := range l.reasons(s, release, i) {
		if fired == on {
			certain = append(certain, r.info(l, release, s))
		} else {
			possible = append(possible, r.info(l, release, s))
		}
	}
	if b.Rules = certain; b.Verdict == Unknown || len(certain) == 0 {
		b.Rules = append(b.Rules, possible...)
	}
	return b
}

// reasons are the rules that take out or may take out variants of a backend: in the library's order, but first what is wrong with
// variants that are there, then which are not.
func (l *Library) reasons(s *condition.Situation, release, backend int) iter.Seq2[*rule, verdict] {
	exist := l.existing(s, release)
	var ended [maxVariants]bool
	for _, r := range l.releases[release].rules {
		targets, _ := r.off.at(release)
		if whole, _ := r.whole.at(release); r.ends && !whole && l.fires(s, r, release) == on {
			for _, v := range targets {
				ended[v] = true
			}
		}
	}
	return func(yield func(*rule, verdict) bool) {
		for _, ends := range []bool{false, true} {
			for _, r := range l.releases[release].rules {
				if r.ends != ends || !ends && l.allEnded(r, release, &ended) {
					continue
				}
				if fired := l.takes(s, r, release, backend, &exist); fired != off && !yield(r, fired) {
					return
				}
			}
		}
	}
}

// allEnded tells whether a rule is about nothing but variants of which enough is told.
func (l *Library) allEnded(r *rule, release int, ended *[maxVariants]bool) bool {
	targets, _ := r.off.at(release)
	if whole, _ := r.whole.at(release); whole {
		return false
	}
	for _, v := range targets {
		if !ended[v] {
			return false
		}
	}
	return true
}

// existing tells of each variant whether it exists in the situation.
func (l *Library) existing(s *condition.Situation, release int) (exist [maxVariants]verdict) {
	for i := range l.variants {
		exist[i] = off
		if when, ok := l.variants[i].when.at(release); ok {
			exist[i] = all(s, when)
		}
	}
	return exist
}

// takes tells whether a rule takes out a variant of a backend that would exist otherwise.
func (l *Library) takes(s *condition.Situation, r *rule, release, backend int, exist *[maxVariants]verdict) verdict {
	result := off
	targets, _ := r.off.at(release)
	for _, v := range targets {
		if l.variants[v].backend != backend || exist[v] == off {
			continue
		}
		fired := l.fires(s, r, release)
		switch {
		case fired == off:
		case fired == on && exist[v] == on:
			return on
		default:
			result = undecided
		}
	}
	return result
}

// report fills in the choice.
func (l *Library) report(s *condition.Situation, e *exploration, selection *Selection, manyReleases bool) {
	for _, b := range l.backends {
		if b.reports != "" {
			selection.Reports[b.reports] = condition.Nil
		}
	}
	chosen, decided := e.chosen()
	selection.Decided = decided
	if !decided {
		for name := range selection.Reports {
			selection.Reports[name] = condition.Value{}
		}
		return
	}
	if chosen < 0 {
		return
	}
	b := l.backends[chosen]
	selection.Selected = b.name
	if b.reports == "" {
		return
	}
	selection.Reports[b.reports] = condition.Value{}
	if used, ok := e.variant(); ok && !manyReleases {
		if reports, ok := l.variants[used].reports.at(l.at(s)); ok {
			selection.Reports[b.reports] = reports.Eval(s)
		}
	}
}

// Preferred explains why the selected backend comes before other available ones: the preference's reason, or "".
func (l *Library) Preferred(facts map[string]condition.Value) (because, source string) {
	s := l.situation(facts)
	candidates, _ := l.candidates(s)
	if len(candidates) != 1 {
		return "", ""
	}
	l.setRelease(s, candidates[0])
	d := l.decide(s)
	for i := range l.prefer {
		p := &l.prefer[i]
		when, ok := p.when.at(candidates[0])
		if ok && all(s, when) == on && l.inUse(&d, l.of(p.over, l.variants[p.over[0]].backend)) == on && l.inUse(&d, p.first) == on {
			return p.because, l.link(p.source)
		}
	}
	return "", ""
}
