package backend

import (
	"strings"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/fact"
	"github.com/gpu-triage/triage/rules/rulefile"
)

// Library is what is known about how one library chooses among its backends: rules that take a backend out, the order of what is left,
// and what a user can change. It does not change after loading and may be shared.
type Library struct {
	Name   string
	Title  string
	Ask    string // what shows the facts that have no command of their own
	source string // URL of a rule's source, with {file} and {tag}

	version  string // the fact that holds the library's release
	releases []release
	scope    *condition.Scope
	facts    []libraryFact
	bySlot   map[int]int // slot of a fact -> its place in facts
	byName   map[string]int
	backends []backend
	variants []variant // of all backends, those of one backend side by side in the order of preference
	rules    []*rule   // in the library's own order
	prefer   []preference
	levers   []lever
	trail    trail
	now      int // slot of the release's index
}

// release is one release with the rules that hold in it.
type release struct {
	version   condition.Version
	rules     []*rule
	byVariant [][]*rule // by variant: the rules that can take it out
}

// Loses says what a backend is worse at than the others, or "".
func (l *Library) Loses(backend string) string {
	for _, b := range l.backends {
		if b.name == backend {
			return b.loses
		}
	}
	return ""
}

// libraryFact is one fact that the rules read.
type libraryFact struct {
	fact.Info
	slot    int
	values  ranged[[]condition.Value] // what it can be, besides what the rules compare it with
	least   float64                   // of a number
	digits  int                       // of a version that the library reads only so far
	same    int                       // the fact (place in facts) that holds it when it is not given itself, or -1
	since   int                       // the first release (index) that asks for it
	preset  *condition.Expression     // what a caller passes who knows nothing of it
	assumed condition.Value           // what it is taken for when nobody says otherwise
	usual   []condition.Value         // what most callers pass, when there is such a value
	unknown []string                  // members of an object that are unknown when they are not given
	numbers []float64                 // constants that rules compare it with
	divides []float64                 // constants that rules divide it by
	texts   []condition.Value         // texts and versions that rules compare it with
}

// backend is one implementation that the library may choose. Its variants are told apart only by rules and reports.
type backend struct {
	name        string
	first, last int    // its variants are variants[first:last]
	reports     string // the name under which the choice of a variant is reported
	loses       string // what it is worse at than the others
}

// variant is one way in which a backend can work: a generation of a package, a sub-backend.
type variant struct {
	name    string // "" when the backend has only one
	backend int
	when    ranged[[]*condition.Expression] // the variant exists only then
	reports ranged[*condition.Expression]
}

// rule takes variants out when all of `when` and not all of `requires` hold.
type rule struct {
	id       string
	when     ranged[[]*condition.Expression]
	requires ranged[[]*condition.Expression]
	off      ranged[[]int] // variants
	whole    ranged[bool]  // it takes out whole backends, not chosen variants
	because  string
	message  ranged[string]                  // what the library prints, %s for values and {variant}
	note     string                          // what the library prints elsewhere
	tells    ranged[map[int]condition.Value] // facts (places) that a log with the message states
	silent   ranged[map[int]condition.Value] // facts that a complete log without the message states
	source   ranged[string]
	example  map[int]condition.Value // facts under which it takes something out
	nearMiss map[int]condition.Value // and under which it does not
	ends     bool                    // where it fires, nothing else about the variants is worth telling
	place    rulefile.Problem
	index    int     // in the library's rules
	reads    factSet // the facts of its conditions
	filter   int
}

// preference puts one available backend before another.
type preference struct {
	id          string
	first, over []int // variants
	when        ranged[[]*condition.Expression]
	because     string
	message     string
	source      string
}

// ranged is something that differs between releases: parts[of[i]] in release i, nothing when of[i] is -1.
type ranged[T any] struct {
	parts []T
	of    []int8
}

func (r ranged[T]) at(release int) (part T, ok bool) {
	if len(r.of) == 0 || r.of[release] < 0 {
		return part, false
	}
	return r.parts[r.of[release]], true
}

// Releases are the releases whose rules were checked, oldest first.
func (l *Library) Releases() []string {
	var names []string
	for _, r := range l.releases {
		names = append(names, r.version.String())
	}
	return names
}

// Backends are the library's backends in its own order.
func (l *Library) Backends() []string {
	var names []string
	for _, b := range l.backends {
		names = append(names, b.name)
	}
	return names
}

// Facts are the facts that the rules ask for.
func (l *Library) Facts() []fact.Info {
	infos := make([]fact.Info, len(l.facts))
	for i, f := range l.facts {
		infos[i] = f.Info
	}
	return infos
}

// Rules describes every rule, for showing the knowledge base.
func (l *Library) Rules() []Rule {
	var infos []Rule
	for _, r := range l.rules {
		last := -1
		for i := range l.releases {
			if _, ok := r.off.at(i); ok {
				last = i
			}
		}
		if last < 0 {
			continue
		}
		info := r.info(l, last, nil)
		info.Because = r.because
		infos = append(infos, info)
	}
	return infos
}

// RuleInfo is a rule as it is told to people.
type Rule struct {
	ID      string   `json:"id"`
	Variant string   `json:"variant,omitempty"` // what it takes out, where the backend has several variants
	Because string   `json:"because"`
	Message string   `json:"message,omitempty"` // what the library prints, %s for values
	Source  string   `json:"source"`
	Needs   []string `json:"needs,omitempty"` // the conditions that would have to hold
}

// info describes a rule in one release; with a situation, the reason and the needs are those of the situation.
func (r *rule) info(l *Library, release int, s *condition.Situation) Rule {
	info := Rule{ID: r.id, Because: r.because}
	off, _ := r.off.at(release)
	if whole, _ := r.whole.at(release); !whole {
		var names []string
		for _, v := range off {
			names = append(names, l.variants[v].name)
		}
		info.Variant = strings.Join(names, ", ")
	}
	info.Message, _ = r.message.at(release)
	info.Message = strings.ReplaceAll(info.Message, "{variant}", info.Variant)
	source, _ := r.source.at(release)
	info.Source = l.link(source)
	if s == nil {
		return info
	}
	info.Because = fill(r.because, s)
	requires, _ := r.requires.at(release)
	for _, need := range requires {
		if !need.Eval(s).True() {
			info.Needs = append(info.Needs, strings.Join(strings.Fields(need.Source()), " "))
		}
	}
	return info
}

// link is the address of a source "file@tag".
func (l *Library) link(source string) string {
	if file, tag, ok := strings.Cut(source, "@"); ok && l.source != "" {
		return strings.NewReplacer("{file}", file, "{tag}", tag).Replace(l.source)
	}
	return source
}

// fill puts the values of names into a text with {name}.
func fill(text string, s *condition.Situation) string {
	var out strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "{")
		out.WriteString(before)
		if !ok {
			return out.String()
		}
		name, after, ok := strings.Cut(rest, "}")
		if _, known := s.Scope.Index[name]; !ok || !known {
			out.WriteByte('{')
			text = rest
			continue
		}
		out.WriteString(s.Value(name).String())
		text = after
	}
}

// newSituation is a situation in which nothing is known.
func (l *Library) newSituation() *condition.Situation {
	s := l.scope.NewSituation()
	s.Fired = make([]uint8, len(l.rules))
	return s
}

// situation is the situation with these facts; names that the rules do not ask for are left out.
func (l *Library) situation(facts map[string]condition.Value) *condition.Situation {
	s := l.newSituation()
	for name, value := range facts {
		if i, ok := l.byName[name]; ok {
			s.Assign(l.facts[i].slot, l.normal(i, value))
		}
	}
	l.complete(s)
	return s
}

// complete fills in facts that others hold, and those that are taken for granted.
func (l *Library) complete(s *condition.Situation) {
	for i := range l.facts {
		f := &l.facts[i]
		if s.Values[f.slot].Known() {
			continue
		}
		if f.same >= 0 {
			s.Assign(f.slot, s.Values[l.facts[f.same].slot])
		} else {
			s.Assign(f.slot, f.assumed)
		}
	}
	s.Forget()
}

// normal is a fact's value as the library reads it.
func (l *Library) normal(fact int, v condition.Value) condition.Value {
	f := &l.facts[fact]
	if version, ok := v.Version(); ok && f.digits > 0 {
		return condition.VersionValue(version.Truncate(f.digits))
	}
	if members, ok := v.Ref.(map[string]condition.Value); ok && len(f.unknown) > 0 {
		whole := make(map[string]condition.Value, len(members))
		for name, m := range members {
			whole[name] = m
		}
		for _, name := range f.unknown {
			if _, given := whole[name]; !given {
				whole[name] = condition.Value{}
			}
		}
		return condition.ObjectValue(whole)
	}
	return v
}

// release is the index of the release that a version belongs to; a patch release that is not listed decides as the last one listed of
// its minor release.
func (l *Library) release(v condition.Version) (index int, ok bool) {
	minor := v.Minor()
	for i := range l.releases {
		if l.releases[i].version.Minor() != minor {
			continue
		}
		if ok && l.releases[i].version.Compare(v.Release()) > 0 {
			break
		}
		index, ok = i, true
	}
	return index, ok
}
