package diagnosis

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/gpu-triage/triage/matcher/reading"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/fact"
	"github.com/gpu-triage/triage/rules/history"
	"github.com/gpu-triage/triage/rules/signature"
)

// archive opens the histories of packages, each once for a diagnosis.
type archive struct {
	vocabulary *fact.Vocabulary
	opened     map[string]*history.Package
	meant      map[history.Name]string // what misspelt names mean, which several signatures ask about
	shown      shown
}

func newArchive(read *reading.Result) *archive {
	return &archive{
		vocabulary: read.Base.Vocabulary, opened: make(map[string]*history.Package), meant: make(map[history.Name]string),
		shown: shown{heads: read.Heads, named: make(map[string]bool)},
	}
}

// open is the history of the package that has a name, nil when it is not covered.
func (a *archive) open(name string) *history.Package {
	d := history.Distribution(name)
	if p, known := a.opened[d]; known || d == "" {
		return p
	}
	p, err := history.Open(d)
	if err != nil { // the tables are part of the program and tested
		p = nil
	}
	a.opened[d] = p
	return p
}

// ask answers what a signature asks about a name; condition.Nil when nothing is known of it.
func (a *archive) ask(s *signature.Signature, situation *condition.Situation) condition.Value {
	var refusing []*wanted
	for _, template := range s.History {
		asked, anywhere := strings.CutPrefix(template.Fill(situation), anyPackage)
		if anywhere && asked == anyName {
			if answer := a.mentioned(situation); !answer.IsNil() {
				return answer
			}
			continue
		}
		name, err := history.ParseName(history.Unaliased(asked))
		if err != nil { // a part of it is not known
			continue
		}
		if anywhere {
			if answer := a.anywhere(name, situation); !answer.IsNil() {
				return answer
			}
			continue
		}
		for _, candidate := range a.candidates(name, situation) {
			p := a.open(candidate.Dotted)
			if p == nil {
				continue
			}
			q := &wanted{archive: a, pkg: p, name: candidate, situation: situation}
			if members := q.asked(name); members != nil {
				return condition.ObjectValue(members)
			}
			if q.neverTakes() {
				refusing = append(refusing, q)
			}
		}
	}
	if answer := a.unimported(s, situation); !answer.IsNil() {
		return answer
	}
	if answer := a.misspelt(s, situation); !answer.IsNil() {
		return answer
	}
	return a.refused(refusing, situation)
}

// asked is what the history of a full name tells that a name may mean; nil when it decides nothing. Of a guessed package only what decides
// counts.
func (q *wanted) asked(name history.Name) map[string]condition.Value {
	switch {
	case q.decides():
		members := q.members()
		members["imports"] = imports(name)
		return members
	case q.name == name && q.never():
		members := q.members()
		members["change"], members["implied"], members["meant"] = condition.StringValue("never"), condition.Value{}, known(q.archive.meantFor(q.pkg, name))
		return members
	case q.name == name && q.always():
		members := q.members()
		members["change"], members["state"] = condition.StringValue("always"), condition.StringValue("present")
		return members
	}
	return nil
}

// refused answers that no release of a function takes a parameter: of the only package that is asked, and that the logs show.
func (a *archive) refused(by []*wanted, situation *condition.Situation) condition.Value {
	by = slices.DeleteFunc(by, func(q *wanted) bool {
		return !a.isShown(q.pkg.Name(), situation) && !a.isPassed(q.pkg.Name(), situation)
	})
	if len(by) == 0 || slices.ContainsFunc(by, func(q *wanted) bool { return q.pkg != by[0].pkg }) {
		return condition.Nil
	}
	members := by[0].members()
	members["change"], members["implied"] = condition.StringValue("never"), condition.Value{}
	return condition.ObjectValue(members)
}

// candidates are the full names that a name in a message can mean. Python calls classes and functions by their own names alone: those are
// looked for in the packages whose frames the error passed through, and at the top of all others.
func (a *archive) candidates(name history.Name, situation *condition.Situation) []history.Name {
	whole := strings.Contains(name.Dotted, ".") || name.Parameter == "" // or a module at the top, as tomllib
	if p := a.open(name.Dotted); p != nil && whole {
		return []history.Name{name}
	}
	bare := strings.TrimSuffix(name.Dotted, ".__init__")
	if all := a.passed(bare, name.Parameter, situation); len(all) > 0 {
		return all
	}
	if _, rest, ok := strings.Cut(bare, "."); ok && name.Parameter != "" { // pl.Trainer, by another name of its module
		if all := a.passed(rest, name.Parameter, situation); len(all) > 0 {
			return all
		}
	}
	all := a.offered(bare, name.Parameter, situation)
	if !slices.ContainsFunc(all, a.exists) {
		if aliased := a.aliased(bare, name.Parameter); len(aliased) > 0 {
			return aliased
		}
		if inner := a.inSubmodule(bare, name.Parameter, situation); inner != nil {
			return inner
		}
	}
	return all
}

// inSubmodule is the full name of what is called by its bare name and offered below the top of its package, as OneHotEncoder(sparse=): in the
// one package of which some release has it, with the parameter or member that is asked for. Others may have a class of that name, and
// then nothing follows. The class alone counts where its package is known to be installed.
func (a *archive) inSubmodule(bare, parameter string, situation *condition.Situation) []history.Name {
	top, rest, member := strings.Cut(bare, ".")
	alone := parameter == "" && !member
	var fit []history.Name
	for _, full := range history.InSubmodules(top) {
		p := a.open(full)
		if p == nil || p.IsModule(full) || slices.ContainsFunc(fit, func(n history.Name) bool { return a.open(n.Dotted) == p }) {
			continue
		}
		if alone && a.installed(p.Name(), situation) == "" {
			continue
		}
		if member {
			full += "." + rest
		}
		name := history.Name{Dotted: full, Parameter: parameter}
		if hadLately(p, name) {
			fit = append(fit, name)
		}
	}
	if len(fit) == 0 || len(fit) > 1 && !(alone && a.oneProject(fit)) {
		return nil
	}
	return fit[:1]
}

// lately is how long ago a release may be that code in use was written for. What left before that is mostly asked for by mistake.
const lately = 8 * 365 * 24 * time.Hour

// hadLately tells whether a release of these years has a name.
func hadLately(p *history.Package, name history.Name) bool {
	releases := p.Releases()
	since := releases[len(releases)-1].Date.Add(-lately)
	return slices.ContainsFunc(p.Ranges(name), func(r history.Range) bool {
		return r.Presence == history.Present && r.Last.Date.After(since)
	})
}

// exists tells whether some release has what a name stands for, without its parameter.
func (a *archive) exists(name history.Name) bool {
	p := a.open(name.Dotted)
	return p != nil && slices.ContainsFunc(p.Ranges(history.Name{Dotted: name.Dotted}), func(r history.Range) bool {
		return r.Presence == history.Present
	})
}

// aliased is the full name of a call by another name of a whole package, as te.pytorch.LayerNorm: the one package that has the rest. A
// rest of one word is not looked for, since too many packages have it.
func (a *archive) aliased(dotted, parameter string) []history.Name {
	_, rest, _ := strings.Cut(dotted, ".")
	top, _, deep := strings.Cut(rest, ".")
	if !deep || parameter == "" {
		return nil
	}
	var all []history.Name
	for _, d := range history.Offering(top) {
		p := a.open(d)
		if p == nil {
			continue
		}
		for _, full := range p.Find(rest, false) {
			if name := (history.Name{Dotted: full, Parameter: parameter}); a.exists(name) {
				all = append(all, name)
			}
		}
	}
	if len(all) != 1 {
		return nil
	}
	return all
}

// passed are the full names that a bare one can mean in the packages that the error passed through.
func (a *archive) passed(bare, parameter string, situation *condition.Situation) []history.Name {
	var all []history.Name
	for _, member := range []string{"owner", "caller", "through"} {
		p := a.open(situation.Value("error").Member(member).String())
		if p == nil {
			continue
		}
		for _, dotted := range p.Find(bare, true) {
			all = append(all, history.Name{Dotted: dotted, Parameter: parameter})
		}
	}
	return all
}

// offered are the full names that packages offer at their top by a bare name. Where several do, only the one that is known to be installed
// can be meant, or of a class the one that ever had the member or parameter which is asked for, and no other. Functions, as train, are
// called alike everywhere.
func (a *archive) offered(bare, parameter string, situation *condition.Situation) []history.Name {
	var all, installed, had []history.Name
	top, _, member := strings.Cut(bare, ".")
	isClass := top != "" && unicode.IsUpper(rune(top[0]))
	for _, d := range history.Offering(top) {
		p := a.open(d)
		if p == nil {
			continue
		}
		for _, dotted := range p.Find(top, false) {
			if p.IsModule(dotted) { // messages call classes and functions by their bare names
				continue
			}
			name := history.Name{Dotted: dotted + strings.TrimPrefix(bare, top), Parameter: parameter}
			all = append(all, name)
			if a.installed(d, situation) != "" {
				installed = append(installed, name)
			}
			if isClass && (member || parameter != "") && hadLately(p, name) {
				had = append(had, name)
			}
		}
	}
	for _, names := range [][]history.Name{all, installed, had} {
		if len(names) == 1 || len(names) > 1 && member && a.oneProject(names) {
			return names[:1]
		}
	}
	return nil
}

// oneProject tells whether names are of one package, or of packages that are released together, as pytorch-lightning and lightning: those
// have one code, and the one that is asked for most stands first.
func (a *archive) oneProject(names []history.Name) bool {
	first := a.open(names[0].Dotted)
	for _, n := range names[1:] {
		p := a.open(n.Dotted)
		one, other := newest(first), newest(p)
		if p == first || one.Version != other.Version || one.Date.Sub(other.Date).Abs() > 24*time.Hour {
			return false
		}
	}
	return true
}

// newest is the last release of a package.
func newest(p *history.Package) history.Release {
	releases := p.Releases()
	return releases[len(releases)-1]
}

// installed is the release of a distribution that the facts name, "" when they do not.
func (a *archive) installed(distribution string, situation *condition.Situation) string {
	name, ok := a.vocabulary.Package(distribution)
	if !ok {
		return ""
	}
	v := situation.Value(name)
	if !v.Known() || v.IsNil() {
		return ""
	}
	return v.String()
}
