package history

import (
	"slices"
	"strings"

	"github.com/gpu-triage/triage/rules/history/table"
)

// maxNamed is in how many places of a package a name can be that still tells something.
const maxNamed = 8

// Named are the classes, functions and methods of a package that have a name in some release, as programs write them. It is empty when
// there are more than a name of its own has.
func (p *Package) Named(word string) []string {
	var all []string
	for _, name := range p.table.ModuleNames() {
		if strings.Contains(name, ".test") {
			continue
		}
		m, err := p.table.Module(name)
		if err != nil {
			p.damaged = err
		}
		if m == nil {
			continue
		}
		for _, e := range m.Entries {
			switch e.Kind {
			case table.Function, table.Class, table.Member:
				if endsIn(e.Name, word) {
					all = append(all, p.public(name+"."+e.Name))
				}
			}
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) > maxNamed {
		return nil
	}
	return all
}
