package diagnosis

import (
	"slices"
	"time"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/history"
)

// pin is the release to install: one that has the name, and that all packages take whose releases are known; "" when there is none. Of a
// name that left it is the last one that had it, or the one of the time of the package that asks. Of one that came it is not the newest: it
// is of the same line as the first one, since later ones change what else the code asks for.
func (q *wanted) pin(ranges []history.Range) string {
	has := func(r history.Release) bool {
		return !r.Unread && q.pkg.At(q.name, r.Version) == history.Present && q.fits(r)
	}
	releases := q.pkg.Releases()
	last := len(releases) - 1
	for last >= 0 && !has(releases[last]) {
		last--
	}
	if last < 0 {
		return ""
	}
	if change(ranges) == "added" {
		first := slices.IndexFunc(releases, has)
		for last > first && (!sameLine(releases[first].Version, releases[last].Version) || !has(releases[last])) {
			last--
		}
	}
	return releases[q.contemporary(last, has, change(ranges))].Version
}

// contemporary is the newest release up to the last one, by their places, that was out when the package came out that asks for the name: a
// much newer one has lost other names that it asks for. It is the last one where that package, or its release, is not known.
func (q *wanted) contemporary(last int, has func(history.Release) bool, change string) int {
	asked := q.askedOn(change)
	if asked.IsZero() {
		return last
	}
	releases := q.pkg.Releases()
	for i := last; i >= 0; i-- {
		if has(releases[i]) && releases[i].Date.Before(asked.Add(month)) {
			return i
		}
	}
	return last
}

// askedOn is the day on which the package that asks for the name came out: the release of it that is known to be there, or else the last one
// that imports a name which left. It is zero when neither is known, or when all releases up to the newest import it.
func (q *wanted) askedOn(change string) time.Time {
	name, version, _ := q.asker()
	p := q.archive.open(name)
	if p == nil {
		return time.Time{}
	}
	if version != "" {
		i, _ := p.Index(version)
		return p.Releases()[min(i, len(p.Releases())-1)].Date
	}
	if q.name.Parameter != "" || change == "added" {
		return time.Time{}
	}
	asking := p.Asking("", q.name.Dotted)
	for i, r := range slices.Backward(asking) {
		if r.Presence == history.Present && i < len(asking)-1 {
			return r.Last.Date
		}
	}
	return time.Time{}
}

// month is how long the newest packages are taken to be those that a release was made beside.
const month = 30 * 24 * time.Hour

// dayOf is a day on which a release was the newest thing for the packages beside it too, as 2021-11-26: a month after it came out. It is ""
// for a release of the last year, beside which today's packages mostly go, and for a name that came, since what asks for it may be newer.
func dayOf(version, change string, releases []history.Release) string {
	const year = 365 * 24 * time.Hour
	i := slices.IndexFunc(releases, func(r history.Release) bool { return r.Version == version })
	if i < 0 || change == "added" || releases[len(releases)-1].Date.Sub(releases[i].Date) < year {
		return ""
	}
	return releases[i].Date.Add(month).Format(time.DateOnly)
}

// pythonOf is the Python that a release was made for, as 3.8, when the one that is known to be there came out after it: a package with compiled
// parts has no wheel for a Python that it does not know. It is "" when that Python is older, or nobody knows which it is.
func (q *wanted) pythonOf(version string) string {
	python, table := q.archive.installed(history.Python, q.situation), q.archive.open(history.Python)
	i, ok := q.pkg.Index(version)
	if python == "" || table == nil || !ok {
		return ""
	}
	at, _ := table.Index(python)
	lines, day := table.Releases(), q.pkg.Releases()[i].Date
	if at == len(lines) || lines[at].Date.Before(day) {
		return ""
	}
	for _, line := range slices.Backward(lines) {
		if line.Date.Add(2 * month).Before(day) {
			return line.Version
		}
	}
	return ""
}

// neededPython is the oldest Python that takes a release with the name, as 3.7, when the one that is known to be there takes none of them; nil
// when it takes one, or nobody knows which it is.
func (q *wanted) neededPython() condition.Value {
	python, table := q.archive.installed(history.Python, q.situation), q.archive.open(history.Python)
	if python == "" || table == nil {
		return condition.Nil
	}
	requires := ""
	for _, r := range q.pkg.Releases() {
		switch {
		case r.Unread || q.pkg.At(q.name, r.Version) != history.Present:
		case history.Allows(r.RequiresPython, python):
			return condition.Nil
		case requires == "":
			requires = r.RequiresPython
		}
	}
	for _, line := range table.Releases() {
		if requires != "" && history.Allows(requires, line.Version) {
			return condition.StringValue(line.Version)
		}
	}
	return condition.Nil
}

// sameLine tells whether two releases share the number in which breaking changes are counted: the first, or the second after a zero.
func sameLine(a, b string) bool {
	v, errA := condition.ParseVersion(a)
	w, errB := condition.ParseVersion(b)
	if errA != nil || errB != nil {
		return false
	}
	m, n := v.Minor(), w.Minor()
	return m[0] == n[0] && (m[0] > 0 || m[1] == n[1])
}

// fits tells whether the Python and the packages that are known to be there take a release.
func (q *wanted) fits(r history.Release) bool {
	if python := q.archive.installed("python", q.situation); python != "" && !history.Allows(r.RequiresPython, python) {
		return false
	}
	for _, d := range history.Covered() {
		version := q.archive.installed(d, q.situation)
		if version == "" || d == q.pkg.Name() {
			continue
		}
		if p := q.archive.open(d); p != nil {
			if wanted, depends := p.Wants(version, q.pkg.Name()); depends && !history.Allows(wanted, r.Version) {
				return false
			}
		}
	}
	return true
}
