package history

import (
	_ "embed" // for the list of packages
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

// Listed are the distributions whose histories are kept, the most asked for first.
var Listed = sync.OnceValue(func() []Listing {
	var all []Listing
	apart := false
	for line := range strings.Lines(packagesText) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] == "#":
		case words[0] == "---":
			apart = true
		default:
			all = append(all, Listing{words[0], words[1:], apart})
		}
	}
	return all
})

// roots are the distributions by what is imported of them, where the two have different names.
var roots = sync.OnceValue(func() map[string]string {
	bring := make(map[string]string)
	for _, d := range Listed() {
		for _, root := range d.Roots {
			if bring[root] == "" {
				bring[root] = d.Name
			}
		}
	}
	return bring
})
