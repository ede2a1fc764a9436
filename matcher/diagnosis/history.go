package diagnosis

import (
	"slices"
	"strings"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/history"
)

// wanted is one name of one package, asked by the code in an error.
type wanted struct {
	archive   *archive
	pkg       *history.Package
	name      history.Name
	situation *condition.Situation
}

// decides tells whether the history of the name says anything: some release has it, and some release is known to lack it.
func (q *wanted) decides() bool {
	has, lacks := false, false
	for _, r := range q.ranges() {
		has, lacks = has || r.Presence == history.Present, lacks || r.Presence == history.Absent
	}
	return has && (lacks || q.archive.installed(q.pkg.Name(), q.situation) != "")
}

// always tells whether each release is known to have a name of a module: then what lacks it is not that package.
func (q *wanted) always() bool {
	dot := strings.LastIndexByte(q.name.Dotted, '.')
	if dot < 0 || q.name.Parameter != "" || !q.pkg.IsModule(q.name.Dotted[:dot]) || len(q.pkg.Releases()) < fewReleases {
		return false
	}
	return !slices.ContainsFunc(q.ranges(), func(r history.Range) bool { return r.Presence != history.Present })
}

// fewReleases is how many releases a package has, at least, of which "always" means something: an older one may have been taken back.
const fewReleases = 5

// never tells whether each release that has the place of a name, as transformers.models for transformers.models.x, is known to lack the
// name. Then it comes with a changed copy of the package, with a release that is newer than the table, or is a mistake.
func (q *wanted) never() bool {
	dot := strings.LastIndexByte(q.name.Dotted, '.')
	if dot < 0 || q.name.Parameter != "" {
		return false
	}
	if installed := q.archive.installed(q.pkg.Name(), q.situation); installed != "" && q.pkg.At(q.name, installed) != history.Absent {
		return false // newer than the table
	}
	place, placed := history.Name{Dotted: q.name.Dotted[:dot]}, false
	for _, r := range q.pkg.Releases() {
		if q.pkg.At(place, r.Version) != history.Present {
			continue
		}
		if placed = true; q.pkg.At(q.name, r.Version) != history.Absent {
			return false
		}
	}
	return placed
}

// neverTakes tells whether each release that has a function is known to refuse the parameter that is asked for.
func (q *wanted) neverTakes() bool {
	if q.name.Parameter == "" {
		return false
	}
	function, asked := history.Name{Dotted: q.name.Dotted}, 0
	for _, r := range q.pkg.Releases() {
		if q.pkg.At(function, r.Version) != history.Present {
			continue
		}
		if q.pkg.At(q.name, r.Version) != history.Absent {
			return false
		}
		asked++
	}
	return asked >= fewReleases
}

// ranges are what is known of the name over all releases. A parameter of a function that a release does not have at all says nothing, nor a
// member of a class that it does not have, since the class was there to be asked. Where no release is known to lack a parameter, those that
// may take it or not must lack it: one of them is installed, since it was refused.
func (q *wanted) ranges() []history.Range {
	ranges := q.pkg.Ranges(q.name)
	if q.name.Parameter == "" {
		return q.withClass(ranges)
	}
	function := history.Name{Dotted: q.name.Dotted}
	for i, r := range ranges {
		if r.Presence == history.Absent && q.pkg.At(function, r.Last.Version) != history.Present {
			ranges[i].Presence = history.Unknown
		}
	}
	if slices.ContainsFunc(ranges, func(r history.Range) bool { return r.Presence == history.Absent }) {
		return ranges
	}
	for i, r := range ranges {
		if r.Presence == history.Unknown && q.pkg.At(function, r.Last.Version) == history.Present {
			ranges[i].Presence = history.Absent
		}
	}
	return ranges
}

// withClass leaves out what releases without the class say of a member of it.
func (q *wanted) withClass(ranges []history.Range) []history.Range {
	dot := strings.LastIndexByte(q.name.Dotted, '.')
	if dot < 0 || q.pkg.IsModule(q.name.Dotted[:dot]) {
		return ranges
	}
	class := history.Name{Dotted: q.name.Dotted[:dot]}
	for i, r := range ranges {
		if r.Presence == history.Absent && q.pkg.At(class, r.Last.Version) != history.Present {
			ranges[i].Presence = history.Unknown
		}
	}
	return ranges
}

func (q *wanted) members() map[string]condition.Value {
	ranges := q.ranges()
	releases := q.pkg.Releases()
	installed := q.archive.installed(q.pkg.Name(), q.situation)
	asker, askedBy, wants := q.asker()
	said := q.pkg.Successor(q.name, len(releases)-1)
	pin := q.pin(ranges)
	members := map[string]condition.Value{
		"name":    condition.StringValue(strings.TrimPrefix(q.name.String(), "builtins.")), // which nobody writes
		"package": condition.StringValue(q.pkg.Name()),
		"state":   condition.StringValue(q.state(installed).String()), "lacks": q.lacks(installed),
		"change": known(change(ranges)), "spans": known(spans(ranges, history.Present, ", and ")),
		"installed": known(installed), "implied": {}, "own": q.own(), "without": known(spans(ranges, history.Absent, ", or ")),
		"moved": known(strings.Join(said.Moved, " or ")), "renamed": known(said.Renamed), "said": known(said.Said), "instead": known(said.Instead),
		"asker": known(asker), "asked_by": known(askedBy), "wants": known(wants),
		"asked_in": known(q.askedIn(asker)), "asked_still": q.askedStill(asker),
		"pin": known(pin), "pin_python": known(q.pythonOf(pin)), "needs_python": q.neededPython(), "pin_day": known(dayOf(pin, change(ranges), releases)), "before": known(before(ranges)), "since": known(since(ranges)),
		"checked": condition.StringValue(releases[len(releases)-1].Version), "years": years(ranges, releases),
		"lacked_until": lackedUntil(ranges), "fresh": fresh(installed, since(ranges)), "next": known(nextLine(installed, releases)), "guessed": condition.BoolValue(false),
	}
	if installed == "" {
		members["implied"] = known(spans(ranges, history.Absent, ", or "))
	}
	return members
}

// known is a text, or the value that nobody knows for "".
func known(text string) condition.Value {
	if text == "" {
		return condition.Value{}
	}
	return condition.StringValue(text)
}

// state is what the installed release has of the name.
func (q *wanted) state(installed string) history.Presence {
	if installed == "" {
		return history.Unknown
	}
	return q.pkg.At(q.name, installed)
}

// lacks tells whether the installed release has not the name.
func (q *wanted) lacks(installed string) condition.Value {
	state := q.state(installed)
	if state == history.Unknown {
		return condition.Value{}
	}
	return condition.BoolValue(state == history.Absent)
}

// asker is the package whose code asks for the name, its release, and which releases of the package that one depends on.
func (q *wanted) asker() (name, release, wants string) {
	owner := q.situation.Value("error").Member("owner").String()
	if owner == "" || history.Distribution(owner) == q.pkg.Name() {
		owner = q.situation.Value("error").Member("caller").String()
	}
	if owner == "" || history.Distribution(owner) == q.pkg.Name() {
		return "", "", ""
	}
	p := q.archive.open(owner)
	if p == nil {
		return owner, "", ""
	}
	release = q.archive.installed(p.Name(), q.situation)
	wants, _ = p.Wants(release, q.pkg.Name())
	return p.Name(), release, wants
}

// own tells whether the package's own code is seen to ask for the name. That code is of the installed release and knows what its classes
// have, so that an object without it was made by another release.
func (q *wanted) own() condition.Value {
	owner := q.situation.Value("error").Member("asker").String()
	return condition.BoolValue(owner != "" && history.Distribution(owner) == q.pkg.Name())
}

// askedIn are the releases of the package that asks whose modules import the name.
func (q *wanted) askedIn(asker string) string {
	p := q.archive.open(asker)
	if p == nil || q.name.Parameter != "" {
		return ""
	}
	return spans(p.Asking("", q.name.Dotted), history.Present, ", and ")
}

// askedStill tells whether the newest release of the package that asks still imports the name, so that no upgrade of it helps. It is not
// known when no release is seen to import it.
func (q *wanted) askedStill(asker string) condition.Value {
	p := q.archive.open(asker)
	if p == nil || q.name.Parameter != "" {
		return condition.Value{}
	}
	asking := p.Asking("", q.name.Dotted)
	if len(asking) == 1 && asking[0].Presence == history.Absent {
		return condition.Value{}
	}
	return condition.BoolValue(asking[len(asking)-1].Presence == history.Present)
}
