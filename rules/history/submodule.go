package history

import (
	_ "embed" // for the modules below the tops of packages
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/gpu-triage/triage/rules/history/table"
)

//go:embed submodules.txt
var submodulesText string

// InSubmodules are the full names of what a bare name can mean below the tops of packages, as sklearn.preprocessing.OneHotEncoder for
// OneHotEncoder. The modules that are looked through stand in submodules.txt; those named first come first.
func InSubmodules(name string) []string { return inSubmodules()[name] }

// inSubmodules is made when it is first asked for, as offering is.
var inSubmodules = sync.OnceValue(func() map[string][]string {
	all := make(map[string][]string)
	opened := make(map[string]*Package)
	for _, row := range rows(submodulesText) {
		module := row[0]
		d := Distribution(module)
		if opened[d] == nil {
			p, err := Open(d)
			if err != nil { // the tables are part of the program and tested
				continue
			}
			opened[d] = p
		}
		for _, name := range opened[d].reachable(module) {
			all[name] = append(all[name], module+"."+name)
		}
	}
	return all
})

// maxStars is how far the names of a module are looked for in modules of which it imports all.
const maxStars = 3

// reachable are what a module has in some release, by itself or from another one of its package of which it imports all, each once; none
// when there is no such module.
func (p *Package) reachable(module string) []string {
	all := make(map[string]bool)
	p.addReachable(all, module, 0)
	return slices.Sorted(maps.Keys(all))
}

func (p *Package) addReachable(all map[string]bool, module string, stars int) {
	for _, name := range p.names(module) {
		all[name] = true
	}
	m, err := p.table.Module(module)
	if err != nil || m == nil || stars == maxStars {
		return
	}
	for _, e := range m.Entries {
		if e.Kind == table.Star {
			p.addReachable(all, e.Arg, stars+1)
		}
	}
}

// names are what a module itself has in some release and does not only import from another package, each once; none when there is no such
// module.
func (p *Package) names(module string) (all []string) {
	m, err := p.table.Module(module)
	if err != nil || m == nil {
		return nil
	}
	for _, e := range m.Entries { // sorted by their names
		foreign := e.Kind == table.Import && !p.has(e.Arg)
		if e.Name != "" && !foreign && (len(all) == 0 || all[len(all)-1] != e.Name) {
			all = append(all, e.Name)
		}
	}
	return all
}

// has tells whether a module, or a name of one as in "module:name", is below the package.
func (p *Package) has(dotted string) bool {
	root, _, _ := strings.Cut(strings.ReplaceAll(dotted, ":", "."), ".")
	return slices.Contains(p.table.Roots, root)
}
