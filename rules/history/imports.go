package history

import (
	"cmp"
	"slices"
	"strings"
)

// maxImports is how many lines are told that may be meant by one name.
const maxImports = 3

// Imports are the lines that a program most likely means which uses a name and never imports it, best first: by the name's usual meaning, a
// module or package of that name, or the classes and functions that packages offer by it.
func Imports(name string) []string {
	if full := aliases()[name]; full != "" {
		return []string{importLine(full, name)}
	}
	if slices.ContainsFunc(Listed(), func(d Listing) bool { return slices.Contains(d.roots(), name) }) {
		lines := []string{"import " + name}
		if _, ok := defined(name + "." + name); ok { // glob.glob
			lines = append(lines, "from "+name+" import "+name)
		}
		return lines
	}
	var lines []string
	for _, place := range publicPlaces(name) {
		lines = append(lines, importLine(place, name))
	}
	return lines[:min(len(lines), maxImports)]
}

// importLine imports a full name under a short one. What begins with a small letter is imported whole, unless it is a function.
func importLine(full, short string) string {
	place, last, dotted := cutLast(full)
	switch {
	case !dotted && full == short:
		return "import " + full
	case !dotted:
		return "import " + full + " as " + short
	case last == short:
		return "from " + place + " import " + last
	case isClass(full):
		return "from " + place + " import " + last + " as " + short
	}
	return "import " + full + " as " + short
}

// publicPlaces are the full names of the classes and functions that packages have by a bare name, at their top or in the modules that are
// looked through: of each the public place that it is defined below, or else the shortest. Those of the packages that are asked for most come
// first.
func publicPlaces(name string) []string {
	candidates := InSubmodules(name)
	for _, d := range Offering(name) {
		if p, err := Open(d); err == nil {
			candidates = append(candidates, p.Find(name, false)...)
		}
	}
	var places []definedPlace
	for _, full := range candidates {
		if place, ok := defined(full); ok {
			places = append(places, place)
		}
	}
	slices.SortStableFunc(places, func(a, b definedPlace) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.abroad, b.abroad), cmp.Compare(strings.Count(a.full, "."), strings.Count(b.full, ".")))
	})
	var names []string
	seen := make(map[found]bool)
	for _, place := range places {
		if !seen[place.is] {
			seen[place.is] = true
			names = append(names, place.full)
		}
	}
	return names
}

// definedPlace is a full name with what it stands for.
type definedPlace struct {
	full   string
	is     found
	rank   int // of its package among those that are asked for
	abroad int // 1 where it is defined in another part of the package
}

// defined is what a full name stands for in the newest release that has it. False tells that its package only imports it from another, or that
// it is no class or function.
func defined(full string) (definedPlace, bool) {
	p, err := Open(full)
	if err != nil {
		return definedPlace{}, false
	}
	last := p.lastWith(Name{Dotted: full})
	if last < 0 {
		return definedPlace{}, false
	}
	place := definedPlace{full: full, is: p.find(full, last)}
	place.rank = slices.IndexFunc(Listed(), func(l Listing) bool { return l.Name == p.Name() })
	if parent, _, _ := cutLast(full); !strings.HasPrefix(place.is.module+".", parent+".") {
		place.abroad = 1
	}
	if place.is.name == "" || p.isValue(place.is, last) {
		return definedPlace{}, false
	}
	return place, strings.HasPrefix(place.is.module+".", p.table.Roots[0]+".")
}
