package history

import (
	_ "embed" // for the modules below the tops of packages
	"sync"
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
		for _, name := range opened[d].names(module) {
			all[name] = append(all[name], module+"."+name)
		}
	}
	return all
})

// names are what a module has in some release, each once; none when there is no such module.
func (p *Package) names(module string) (all []string) {
	m, err := p.table.Module(module)
	if err != nil || m == nil {
		return nil
	}
	for i, e := range m.Entries { // sorted by their names
		if i == 0 || m.Entries[i-1].Name != e.Name {
			all = append(all, e.Name)
		}
	}
	return all
}
