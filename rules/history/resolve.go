package history

import (
	"slices"
	"strings"

	"github.com/gpu-triage/triage/rules/history/table"
)

// The resolver follows a dotted name through the declarations of one release, as Python's import system would: modules, then what they
// define, import or make lazily, then classes and their bases.

// maxDepth bounds how far imports and bases are followed.
const maxDepth = 24

// found is what a name stands for in a release.
type found struct {
	presence Presence
	module   string // where it is defined; "" when outside of the package or not known
	name     string // the name there; "" for a module itself
	said     string // what the package says of an absent name
	soft     bool   // not known, but only because of names of C or C++, or of an __all__ that is computed
}

// at is what release i has of a name.
func (p *Package) at(name Name, i int) Presence {
	if p.table.Releases[i].Unread || p.empty(i) {
		return Unknown
	}
	dotted := name.Dotted
	if name.Parameter != "" {
		dotted = strings.TrimSuffix(dotted, ".__init__") // the class, whose constructor may be a dataclass's own
	}
	f := p.find(dotted, i)
	if f.presence != Present || name.Parameter == "" {
		return f.presence
	}
	if parent, last, ok := cutLast(dotted); ok && f.name == "" { // a module may have a function of the same name beside it
		f = p.member(p.find(parent, i), last, i, 0)
	}
	return p.parameter(f, name.Parameter, i, 0)
}

// empty tells that a release lacks the package itself, which others have: its archive was only a frame that installs something else, or
// has the sources at a place where they were not looked for. What it does not show says nothing.
func (p *Package) empty(i int) bool {
	root := p.table.Roots[0]
	return p.module(root, i) == nil && p.modules[root] != nil
}

func cutLast(dotted string) (parent, last string, ok bool) {
	dot := strings.LastIndexByte(dotted, '.')
	if dot < 0 {
		return "", dotted, false
	}
	return dotted[:dot], dotted[dot+1:], true
}

// find follows a dotted name in release i. A module goes before a name that hides it: `from package.module import name` finds the module.
func (p *Package) find(dotted string, i int) found {
	parts := strings.Split(dotted, ".")
	if p.module(parts[0], i) == nil && !slices.Contains(p.table.Roots, parts[0]) && normal(parts[0]) == normal(p.table.Package) {
		parts[0] = p.table.Roots[0] // asked for by the distribution's name
	}
	longest := 0
	for longest < len(parts) && p.module(strings.Join(parts[:longest+1], "."), i) != nil {
		longest++
	}
	best := found{presence: Absent}
	for n := longest; n > 0; n-- {
		f := p.follow(found{presence: Present, module: strings.Join(parts[:n], ".")}, parts[n:], i)
		if f.presence == Present || n == longest {
			best = f
		}
		if f.presence == Present {
			break
		}
	}
	return best
}

// follow takes one part of a dotted name after the other.
func (p *Package) follow(at found, parts []string, i int) found {
	for _, part := range parts {
		if at.presence != Present {
			break
		}
		at = p.member(at, part, i, 0)
	}
	return at
}

// member is a name below what was found: in a module or in a class.
func (p *Package) member(of found, name string, i, depth int) found {
	switch {
	case of.module == "":
		return found{presence: Unknown}
	case of.name == "":
		return p.inModule(of.module, name, i, depth)
	}
	m := p.module(of.module, i)
	if m == nil {
		return found{presence: Unknown}
	}
	if p.isClass(of, i) {
		return p.inClass(of, name, i, depth)
	}
	return found{presence: Unknown}
}

// entries are those of a name in a module, for one release.
func entries(m *table.Module, name string, i int) (all []table.Entry) {
	from, _ := slices.BinarySearchFunc(m.Entries, name, func(e table.Entry, name string) int { return strings.Compare(e.Name, name) })
	for _, e := range m.Entries[from:] {
		if e.Name != name {
			break
		}
		if e.In.Has(i) {
			all = append(all, e)
		}
	}
	return all
}

// inModule is a name in a module that release i has.
func (p *Package) inModule(module, name string, i, depth int) found {
	m := p.module(module, i)
	if m == nil || depth > maxDepth {
		return found{presence: Unknown}
	}
	bound, best := p.bound(m, name, i, depth)
	if bound {
		return best
	}
	if p.module(module+"."+name, i) != nil {
		return found{presence: Present, module: module + "." + name}
	}
	for _, e := range entries(m, name, i) {
		if e.Kind == table.Gone {
			return found{presence: Absent, said: e.Arg}
		}
	}
	return p.brought(m, name, i, depth)
}

// bound looks for what binds a name in the module itself.
func (p *Package) bound(m *table.Module, name string, i, depth int) (ok bool, best found) {
	for _, e := range entries(m, name, i) {
		var f found
		switch e.Kind {
		case table.Function, table.Class, table.Value:
			f = found{presence: Present, module: m.Name, name: name}
		case table.Import, table.Lazy:
			f = p.imported(e.Arg, i, depth+1)
		default:
			continue
		}
		if !ok || best.module == "" || best.name != "" && p.isValue(best, i) {
			ok, best = true, f
		}
	}
	return ok, best
}

// isValue tells that nothing but an assignment is known of what was found.
func (p *Package) isValue(f found, i int) bool {
	m := p.module(f.module, i)
	return m == nil || !slices.ContainsFunc(entries(m, f.name, i), func(e table.Entry) bool { return e.Kind != table.Value })
}

// imported is what an import binds. It is there in any case; where it comes from is followed inside the package.
func (p *Package) imported(arg string, i, depth int) found {
	module, name, _ := strings.Cut(arg, ":")
	if module == "" || p.module(module, i) == nil {
		return found{presence: Present}
	}
	if name == "" {
		return found{presence: Present, module: module}
	}
	f := p.inModule(module, name, i, depth+1)
	switch {
	case f.presence == Present && f.module != "":
		return f
	case p.module(module+"."+name, i) != nil: // `from torch import _C` in torch itself
		return found{presence: Present, module: module + "." + name}
	}
	return found{presence: Present}
}
