package backend

import (
	"maps"
	"strings"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/fact"
)

// Library is what is known about how one library chooses among its backends: rules that take a backend out, the order of what is left,
// and what a user can change. It does not change after loading and may be shared.
type Library struct {
	Name  string
	Title string // what people call it, such as "PyTorch scaled_dot_product_attention"

	ask          string // what shows the facts that have no command of their own
	source       string // URL of a rule's source, with {file} and {tag}
	version      int    // the fact (place in facts) that holds the library's release
	releases     []release
	scope        *condition.Scope
	facts        []libraryFact
	byName       map[string]int // fact -> its place in facts
	backends     []backend
	variants     []variant // of all backends, those of one backend side by side in the order of preference
	rules        []*rule   // in the library's own order
	preferences  []preference
	asked        ranged[*condition.Expression] // the name of the backend that is asked for, nil for none
	orders       []ordering                    // without any, all backends are tried as they are declared
	declared     []int                         // the places of all backends
	tables       []*table
	own          []fact.Info // facts that are not of the vocabulary, or of another type here
	levers       []lever
	calls        []call
	patches      []condition.Version // releases that were checked and decide as the one that stands for them
	selectionLog logFormat
}

// release is one release with the rules that hold in it.
type release struct {
	version   condition.Version
	checked   bool // the library's own code was run beside the rules
	rules     []*rule
	byVariant [][]*rule // by variant: the rules that can take it out
}

// libraryFact is one fact that the rules read.
type libraryFact struct {
	fact.Info
	slot     condition.Slot
	values   ranged[[]condition.Value] // what it can be, besides what the rules compare it with
	least    float64                   // of a number
	digits   int                       // of a version that the library reads only so far
	same     int                       // the fact (place in facts) that holds it when it is not given itself, or -1
	since    int                       // the first release (index) that asks for it
	preset   *condition.Expression     // what a caller passes who knows nothing of it
	assumed  condition.Value           // what it is taken for when nobody says otherwise
	usual    condition.Value           // what most callers pass, unknown when there is no such value
	spelt    map[string]string         // what messages print -> the value
	keys     bool                      // it is the name by which a table is asked
	checked  condition.Value           // the newest version with which the rules were compared, unknown where there is none
	unknown  []string                  // members of an object that are unknown when they are not given
	compared comparedWith
}

// comparedWith are the constants beside which a fact stands in the rules: values between two of them are told apart by no rule.
type comparedWith struct {
	numbers  []float64
	divisors []float64
	texts    []condition.Value // texts and versions
}

// backend is one implementation that the library may choose. Its variants are told apart only by rules and reports.
type backend struct {
	name        string
	first, last int                           // its variants are variants[first:last]
	called      ranged[*condition.Expression] // what the library calls it, where that is not its name
	reports     string                        // the name under which the choice of a variant is reported
	loses       string                        // what it is worse at than the others
}

// variant is one way in which a backend can work: a generation of a package, a sub-backend.
type variant struct {
	name    string // "" when the backend has only one
	backend int
	when    ranged[[]*condition.Expression] // the variant exists only then
	reports ranged[*condition.Expression]
}

// preference puts one available backend before another.
type preference struct {
	first, over []int // variants
	when        ranged[[]*condition.Expression]
}

// Vocabulary is a vocabulary with the library's own facts in it.
func (l *Library) Vocabulary(v *fact.Vocabulary) *fact.Vocabulary { return v.With(l.own) }

// Release is a release that the rules cover.
type Release struct {
	Version string
	Checked bool // the rules were compared with what the release's own code decides; the others were only read
}

// Releases are those that the rules cover, the oldest first.
func (l *Library) Releases() []Release {
	covered := make([]Release, len(l.releases))
	for i, r := range l.releases {
		covered[i] = Release{r.version.String(), r.checked}
	}
	return covered
}

// Facts are the facts that the rules ask for.
func (l *Library) Facts() []fact.Info {
	infos := make([]fact.Info, len(l.facts))
	for i, f := range l.facts {
		infos[i] = f.Info
	}
	return infos
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

// Usual completes facts with what most callers pass, where nobody says what this one does. It names what it took for granted. An
// answer about the completed facts is a good guess and no more: unlike that of Evaluate it need not hold for other values.
func (l *Library) Usual(facts map[string]condition.Value) (completed map[string]condition.Value, assumed []string) {
	completed = maps.Clone(facts)
	for i := range l.facts {
		f := &l.facts[i]
		if !facts[f.Name].Known() && f.usual.Known() {
			completed[f.Name] = f.usual
			assumed = append(assumed, f.Name)
		}
	}
	return completed, assumed
}

// releaseOf is the index of the release that a version belongs to; a patch release that is not listed decides as the last one listed of
// its minor release.
func (l *Library) releaseOf(v condition.Version) (index int, ok bool) {
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

// variantsOf are those of some variants that belong to a backend; they stand side by side.
func (l *Library) variantsOf(backend int, variants []int) []int {
	first, last := 0, len(variants)
	for first < last && l.variants[variants[first]].backend != backend {
		first++
	}
	for last > first && l.variants[variants[last-1]].backend != backend {
		last--
	}
	return variants[first:last]
}

// factsOf are the facts that an expression reads.
func (l *Library) factsOf(e *condition.Expression) (facts factSet) {
	for _, name := range e.Names() {
		if i, ok := l.byName[name]; ok {
			facts.add(i)
		}
	}
	return facts
}

// link is the address of a source "file@tag".
func (l *Library) link(source string) string {
	if file, tag, ok := strings.Cut(source, "@"); ok && l.source != "" {
		return strings.NewReplacer("{file}", file, "{tag}", tag).Replace(l.source)
	}
	return source
}

// asRead is a value as the library reads it: a version only so far, an object without members that were not given, and of a thing that is
// only asked whether it is there, whether it is.
func (f *libraryFact) asRead(v condition.Value) condition.Value {
	if version, ok := v.Version(); ok && f.digits > 0 {
		return condition.VersionValue(version.Truncate(f.digits))
	}
	if f.Type == condition.Bool && v.Present() && v.Type() != condition.Bool {
		return condition.BoolValue(true)
	}
	members := v.Members()
	if members == nil || len(f.unknown) == 0 {
		return v
	}
	whole := maps.Clone(members)
	for _, name := range f.unknown {
		if _, given := whole[name]; !given {
			whole[name] = condition.Value{}
		}
	}
	return condition.ObjectValue(whole)
}

// factSet is a set of a library's facts, by their places.
type factSet [maxFacts / 64]uint64

func (f *factSet) add(fact int) { f[fact/64] |= 1 << (fact % 64) }

func (f *factSet) addAll(o factSet) {
	for i := range f {
		f[i] |= o[i]
	}
}

func (f factSet) overlaps(o factSet) bool {
	for i := range f {
		if f[i]&o[i] != 0 {
			return true
		}
	}
	return false
}
