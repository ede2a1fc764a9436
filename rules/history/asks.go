package history

import (
	"strings"

	"github.com/gpu-triage/triage/rules/history/table"
)

// Asking are the releases of the package whose module imports a name of another package, such as transformers.AdamW, or that whole
// module, when it is loaded: Present. What functions import while they run is not known. An empty module asks about all of the package.
func (p *Package) Asking(module, name string) []Range {
	parent, last, _ := cutLast(name)
	asks := make([]bool, len(p.table.Releases))
	modules := []string{module}
	if module == "" {
		modules = p.table.ModuleNames()
	}
	for _, module := range modules {
		m, err := p.table.Module(module)
		if err != nil {
			p.damaged = err
		}
		if m == nil {
			continue
		}
		for _, e := range m.Entries {
			if (e.Kind == table.Import || e.Kind == table.Star) && isImportOf(e.Arg, name, parent, last) {
				mark(asks, e.In)
			}
		}
	}
	return p.ranges(func(i int) Presence {
		if asks[i] {
			return Present
		}
		return Absent
	})
}

// isImportOf tells whether an import, "module:name" or a module, binds a name or needs that module.
func isImportOf(arg, name, parent, last string) bool {
	module, imported, _ := strings.Cut(arg, ":")
	return module == parent && imported == last || module == name || strings.HasPrefix(module, name+".")
}

func mark(asks []bool, in table.Set) {
	for _, r := range in {
		for i := r.From; i <= r.To; i++ {
			asks[i] = true
		}
	}
}
