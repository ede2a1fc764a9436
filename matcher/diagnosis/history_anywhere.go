package diagnosis

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/history"
	"github.com/gpu-triage/triage/rules/pattern"
)

const (
	// anyPackage stands in a signature's template before a name of which nobody says where it is: *.__init__(row_log_interval=), since Python
	// before 3.10 does not name the class of a method that it calls, or *.training_epoch_end, of a program's own subclass.
	anyPackage = "*."

	// anyName stands behind it for all names of code in the sentences of those who ask.
	anyName = "*"
)

// anywhere answers what is asked of a name of which nobody says where it is.
func (a *archive) anywhere(name history.Name, situation *condition.Situation) condition.Value {
	if name.Parameter != "" {
		return a.byParameter(name, situation)
	}
	return a.lost(name.Dotted, situation, true)
}

// mentioned is lost for the names of code in what people write.
func (a *archive) mentioned(situation *condition.Situation) condition.Value {
	for _, word := range a.shown.words() {
		if answer := a.lost(word, situation, false); !answer.IsNil() {
			return answer
		}
	}
	return condition.Nil
}

// lost answers which of the packages that are known to be installed had a method, class or function in earlier releases, and has it no more in
// the installed one. Only names of several words are looked for, which few give to what is their own. Of several classes with the method those
// count that the object's own can be derived from, and no others when it is held to these.
func (a *archive) lost(word string, situation *condition.Situation, derived bool) condition.Value {
	if !isDistinctive(word) {
		return condition.Nil
	}
	holder := ""
	if m := holderForm().FindStringSubmatch(situation.Value("error").Member("message").String()); m != nil {
		holder = m[1]
	}
	for _, d := range a.stated(situation) {
		p := a.open(d)
		if p == nil {
			continue
		}
		places := p.Named(word)
		if kin := slices.DeleteFunc(slices.Clone(places), func(place string) bool { return !isBaseOf(place, holder) }); len(kin) > 0 || derived {
			places = kin
		}
		if q := a.lostFrom(p, places, situation); q != nil {
			return condition.ObjectValue(q.members())
		}
	}
	return condition.Nil
}

// holderForm finds the class of the object that lacks an attribute.
var holderForm = pattern.Lazy(`'(\w+)' object has no attribute`)

// isBaseOf tells whether a class is named after that of a method: MathAgentLoop is one of AgentLoopBase's, and MyTrainer of Trainer's.
func isBaseOf(method, class string) bool {
	parts := strings.Split(method, ".")
	base := parts[max(0, len(parts)-2)]
	for _, word := range []string{"Base", "Abstract", "Mixin"} {
		base = strings.TrimSuffix(strings.TrimPrefix(base, word), word)
	}
	return startsUpper(base) && strings.HasSuffix(class, base)
}

// lostFrom is what is wanted of the first of some places that a name had, if the installed release has it at none of them.
func (a *archive) lostFrom(p *history.Package, places []string, situation *condition.Situation) (first *wanted) {
	for _, place := range places {
		q := &wanted{archive: a, pkg: p, name: history.Name{Dotted: place}, situation: situation}
		if !q.lostLately() {
			return nil
		}
		if first == nil {
			first = q
		}
	}
	return first
}

// lostLately tells whether the installed release lacks a name that a release shortly before it still had.
func (q *wanted) lostLately() bool {
	installed := q.archive.installed(q.pkg.Name(), q.situation)
	at, exact := q.pkg.Index(installed)
	if !exact || q.pkg.At(q.name, installed) != history.Absent {
		return false
	}
	ranges := q.ranges()
	for _, r := range slices.Backward(ranges) {
		if r.To < at && r.Presence == history.Present {
			return q.pkg.Releases()[at].Date.Sub(r.Last.Date) < recently
		}
	}
	return false
}

// recently is how long before the installed release a name may have left that code in use still asks for.
const recently = 2 * 365 * 24 * time.Hour

// maxStated is how many packages are looked through for a name.
const maxStated = 8

// stated are the packages of which the logs name the release, none when they are many: a list of all that is installed says nothing of what a
// program uses.
func (a *archive) stated(situation *condition.Situation) (all []string) {
	for _, d := range history.Listed() {
		if d.Name != history.Python && a.installed(d.Name, situation) != "" {
			all = append(all, d.Name)
		}
	}
	if len(all) > maxStated {
		return nil
	}
	return all
}

// isDistinctive tells whether a name is of two words or more, as init_class or AgentLoopBase, and long enough to be nobody's chance.
func isDistinctive(word string) bool {
	const shortest = 8
	word = strings.Trim(word, "_")
	humps := 0
	for i, r := range word {
		if i > 0 && unicode.IsUpper(r) {
			humps++
		}
	}
	return len(word) >= shortest && (strings.Contains(word, "_") || humps > 0 && strings.ToUpper(word) != word)
}
