package history

import (
	_ "embed" // for the list of packages
	"slices"
	"strings"
	"sync"
)

//go:embed packages.txt
var packagesText string

// Listing is a distribution whose history is kept.
type Listing struct {
	Name string
	// Roots are the packages that it installs; all that an archive holds when there are none. One that begins with - is left out, with all
	// below it.
	Roots []string
	// Apart says that a bare name, as messages give those of classes, means something of it only where the traceback shows it.
	Apart bool
}

// Imported are the packages that a program imports of a distribution.
func (l Listing) Imported() []string {
	return slices.DeleteFunc(slices.Clone(l.roots()), func(root string) bool { return strings.HasPrefix(root, "-") })
}

// roots are the packages that are imported of a distribution.
func (l Listing) roots() []string {
	if len(l.Roots) > 0 {
		return l.Roots
	}
	return []string{strings.ReplaceAll(l.Name, "-", "_")}
}

// Listed are the distributions whose histories are kept, the most asked for first. The slice belongs to the package.
var Listed = sync.OnceValue(func() (all []Listing) {
	apart := false
	for _, row := range rows(packagesText) {
		if row[0] == "---" {
			apart = true
			continue
		}
		all = append(all, Listing{row[0], row[1:], apart})
	}
	return all
})

// Covered are the names of the distributions that have a table, sorted. The slice belongs to the package.
var Covered = sync.OnceValue(func() (names []string) {
	for _, d := range Listed() {
		names = append(names, d.Name)
	}
	slices.Sort(names)
	return names
})

// distributions are their names by what is imported of them, and by their own as the index compares those.
var distributions = sync.OnceValue(func() map[string]string {
	by := make(map[string]string)
	for _, d := range Listed() {
		by[normal(d.Name)] = d.Name
	}
	for _, d := range slices.Backward(Listed()) { // of two that install the same, the one that is asked for most
		for _, root := range d.Roots {
			by[root] = d.Name
		}
	}
	return by
})

// Distribution is the distribution that has a dotted name, as "scikit-learn" for sklearn.metrics; "" when none is covered. A
// distribution's own name is taken too, with - or _.
func Distribution(name string) string {
	root, _, _ := strings.Cut(name, ".")
	if d, ok := distributions()[root]; ok {
		return d
	}
	return distributions()[normal(root)]
}

func normal(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "-")) }
