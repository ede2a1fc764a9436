package history

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/rules/history/table"
)

// Successor is what took the place of a name that a release lacks.
type Successor struct {
	Moved   []string // where the same name is now, best first
	Renamed string   // the new name of a parameter
	Said    string   // what the package itself says about the name
	Instead string   // the code to write in its place
}

// maxMoved is how many places are told of a name that moved.
const maxMoved = 3

// Successor looks in release i for what took the place of a name that is not there. It is empty when nothing is known.
func (p *Package) Successor(name Name, i int) Successor {
	if name.Parameter != "" {
		return Successor{Renamed: p.renamed(name), Instead: p.instead(name)}
	}
	s := Successor{Said: p.find(name.Dotted, i).said, Instead: p.instead(name)}
	last := p.lastWith(name)
	if last < 0 {
		return s
	}
	was := p.find(name.Dotted, last)
	if !p.isKnownAgain(was, last) {
		return s
	}
	s.Moved = p.places(name.Dotted, was, i)
	return s
}

// lastWith is the newest release that has a name, -1 when none has.
func (p *Package) lastWith(name Name) int {
	for i := len(p.table.Releases) - 1; i >= 0; i-- {
		if p.at(name, i) == Present {
			return i
		}
	}
	return -1
}

// isKnownAgain tells whether what was found would be known again by its name: modules, functions, classes and constants of the package.
func (p *Package) isKnownAgain(f found, i int) bool {
	if f.module == "" || strings.Contains(f.name, ".") {
		return false
	}
	return f.name == "" || !p.isValue(f, i) || f.name == strings.ToUpper(f.name)
}

// places are where release i has what was known as a name, best first: public ones, short ones.
func (p *Package) places(name string, was found, i int) []string {
	word := name[strings.LastIndexByte(name, '.')+1:]
	var all []string
	for _, module := range p.table.ModuleNames() {
		m := p.module(module, i)
		if m == nil {
			continue
		}
		if was.name == "" {
			if module == private(name) { // it is no longer for others, and still there
				return []string{module}
			}
			if strings.HasSuffix(module, "."+word) {
				all = append(all, module)
			}
			continue
		}
		if has, f := p.bound(m, word, i, 0); has && sameKind(p, was, f, i) {
			all = append(all, module+"."+word)
		}
	}
	for _, root := range p.table.Roots {
		if p.find(root+"."+word, i).presence == Present && !slices.Contains(all, root+"."+word) {
			all = append(all, root+"."+word)
		}
	}
	slices.SortStableFunc(all, func(a, b string) int { return cmp.Compare(awkward(a, name), awkward(b, name)) })
	return all[:min(len(all), maxMoved)]
}

// private is the name of a module as its package has it for itself alone: sklearn.feature_selection._base.
func private(module string) string {
	i := strings.LastIndexByte(module, '.') + 1
	return module[:i] + "_" + module[i:]
}

// sameKind tells whether a name that is found now can be what was known by it: it is defined in the package, not imported from elsewhere.
func sameKind(p *Package, was, now found, i int) bool {
	return now.module != "" && (now.name == "") == (was.name == "")
}

// awkward orders places: private ones and those of tests last, then those with less in common with the old name, then long ones.
func awkward(place, old string) int {
	score := 10 * strings.Count(place, ".")
	if strings.Contains(place, "._") || strings.Contains(place, ".test") {
		score += 1000
	}
	if strings.Contains(place, "dummy") {
		score += 2000
	}
	oldParts := strings.Split(old, ".")
	for _, part := range strings.Split(place, ".")[1:] {
		if slices.Contains(oldParts, part) {
			score -= 15
		}
	}
	return score
}

// renamed is the new name of a parameter, as some release stated it.
func (p *Package) renamed(name Name) string {
	for i := len(p.table.Releases) - 1; i >= 0; i-- {
		f := p.find(name.Dotted, i)
		if f.presence != Present || f.module == "" || f.name == "" {
			continue
		}
		if p.isClass(f, i) {
			f = p.inClass(f, "__init__", i, 0)
		}
		m := p.module(f.module, i)
		if m == nil {
			continue
		}
		for _, e := range entries(m, f.name, i) {
			if old, renamed, _ := strings.Cut(e.Arg, ">"); e.Kind == table.Renamed && old == name.Parameter {
				return renamed
			}
		}
	}
	return ""
}
