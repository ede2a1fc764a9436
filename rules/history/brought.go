package history

import (
	"slices"
	"strings"

	"github.com/gpu-triage/triage/rules/history/table"
)

// brought looks for a name that the module does not bind by itself: star imports, lazy folders, and what is made at run time.
func (p *Package) brought(m *table.Module, name string, i, depth int) found {
	answer := found{presence: Absent, soft: true}
	for _, e := range entries(m, "", i) {
		f := p.broughtBy(e, m, name, i, depth)
		switch f.presence {
		case Present:
			return f
		case Unknown:
			answer = found{presence: Unknown, soft: answer.soft && f.soft}
		}
	}
	switch {
	case p.isPromised(m, name, answer.presence, i, depth):
		return found{presence: Present}
	case p.exports(m, name, i):
		return found{presence: Unknown}
	case answer.presence == Unknown && answer.soft && p.ruledOut(m, name, i):
		return found{presence: Absent}
	case answer.presence == Absent && hasEntryAt(m, "__path__", i, table.Value): // shared with other distributions, as google is
		return found{presence: Unknown}
	}
	return answer
}

// isPromised tells whether a name that is perhaps made at run time is in __all__, or is told to type checkers.
func (p *Package) isPromised(m *table.Module, name string, presence Presence, i, depth int) bool {
	if presence == Unknown && (p.exports(m, name, i) || hasEntryAt(m, name, i, table.Stub)) {
		return true
	}
	for _, e := range entries(m, "", i) {
		if e.Kind == table.Open && !strings.HasPrefix(e.Arg, "table:") {
			return p.typed(m, name, i, depth)
		}
	}
	return false
}

// broughtBy is what one record about the whole module says of a name.
func (p *Package) broughtBy(e table.Entry, m *table.Module, name string, i, depth int) found {
	switch e.Kind {
	case table.Open:
		if of, ok := strings.CutPrefix(e.Arg, "table:"); ok {
			return p.tabled(of, m.Name+":"+name, i)
		}
		if e.Arg != "stub" {
			return found{presence: Unknown, soft: e.Arg == "names made in a loop" || e.Arg == "globals().update"}
		}
	case table.Star:
		return p.starred(e.Arg, name, i, depth+1)
	case table.Delegate:
		if strings.HasPrefix(name, "__") || e.Arg == m.Name {
			break
		}
		return p.inModule(e.Arg, name, i, depth+1)
	case table.Folder:
		return p.inFolder(e.Arg, name, i)
	}
	return found{presence: Absent}
}

// tabled is a name that a module gives by a table in another module.
func (p *Package) tabled(module, key string, i int) found {
	m := p.module(module, i)
	if m == nil {
		return found{presence: Unknown}
	}
	for _, e := range entries(m, key, i) {
		if e.Kind == table.Lazy {
			return found{presence: Present}
		}
	}
	return found{presence: Absent}
}

// ruledOut tells whether a name that was not found in a module with names of C or C++ is absent all the same. It is when the release
// has stubs of what comes from C, which do not mention it, and another release has it in such a stub or in the source of the module.
func (p *Package) ruledOut(m *table.Module, name string, i int) bool {
	if made := p.table.Has(m.Name + "." + name); made { // a source file in another release
		return true
	}
	stubbed, known := false, hasEntry(m, name, table.Function, table.Class, table.Value, table.Import, table.Stub, table.Typing)
	for _, e := range m.Entries {
		switch {
		case !e.In.Has(i):
		case e.Kind == table.Stub:
			stubbed = true
		case e.Kind == table.TypingStar, e.Kind == table.Star:
			of := p.module(e.Arg, i)
			stubbed = stubbed || e.Kind == table.TypingStar && of != nil
			known = known || of != nil && hasEntry(of, name, table.Function, table.Value, table.Class)
		}
	}
	return stubbed && known && !strings.Contains(m.Name, ".") // the stub of a package is whole, others leave out what a star brings
}

// hasEntryAt tells whether release i has a name in a module as one kind, with one of the arguments if any are given.
func hasEntryAt(m *table.Module, name string, i int, kind table.Kind, args ...string) bool {
	return slices.ContainsFunc(entries(m, name, i), func(e table.Entry) bool {
		return e.Kind == kind && (len(args) == 0 || slices.Contains(args, e.Arg))
	})
}

// hasEntry tells whether some release has a name in a module as one of several kinds.
func hasEntry(m *table.Module, name string, kinds ...table.Kind) bool {
	from, _ := slices.BinarySearchFunc(m.Entries, name, func(e table.Entry, name string) int { return strings.Compare(e.Name, name) })
	for _, e := range m.Entries[from:] {
		if e.Name != name {
			return false
		}
		if slices.Contains(kinds, e.Kind) {
			return true
		}
	}
	return false
}

// exports tells whether __all__ has a name.
func (p *Package) exports(m *table.Module, name string, i int) bool {
	return slices.ContainsFunc(entries(m, name, i), func(e table.Entry) bool { return e.Kind == table.Exported && e.Arg == "" })
}

// typed tells whether a module whose names are made at run time promises a name to type checkers.
func (p *Package) typed(m *table.Module, name string, i, depth int) bool {
	for _, e := range entries(m, name, i) {
		if e.Kind == table.Typing || e.Kind == table.Stub {
			return true
		}
	}
	for _, e := range entries(m, "", i) {
		if e.Kind == table.TypingStar && p.starred(e.Arg, name, i, depth+1).presence == Present {
			return true
		}
	}
	return false
}

// starred is a name that `from module import *` brings.
func (p *Package) starred(module, name string, i, depth int) found {
	m := p.module(module, i)
	if m == nil || depth > maxDepth {
		return found{presence: Unknown, soft: depth <= maxDepth}
	}
	listed, has, open := p.hasExports(m, i), p.exports(m, name, i), false
	for _, e := range entries(m, "", i) {
		switch e.Kind {
		case table.OpenAll:
			listed, open = true, true
		case table.ExportsOf:
			listed = true
			inner := p.starred(e.Arg, name, i, depth+1)
			has = has || inner.presence == Present
			open = open || inner.presence == Unknown
		}
	}
	if !has && (listed || strings.HasPrefix(name, "_")) {
		if !open {
			return found{presence: Absent}
		}
		if f := p.inModule(module, name, i, depth+1); f.presence == Present && f.module == module && !p.isValue(f, i) {
			return f
		}
		return found{presence: Unknown, soft: true}
	}
	f := p.inModule(module, name, i, depth+1)
	if f.presence == Unknown {
		f.soft = f.soft || hasEntryAt(m, "", i, table.Open, "native")
		if has {
			return found{presence: Present}
		}
	}
	return f
}

// hasExports tells whether a module has an __all__ in release i.
func (p *Package) hasExports(m *table.Module, i int) bool {
	return slices.ContainsFunc(m.Entries, func(e table.Entry) bool {
		return e.Kind == table.Exported && e.Arg == "" && e.In.Has(i)
	})
}

// inFolder is a name that some module below a folder exports, which transformers imports lazily.
func (p *Package) inFolder(folder, name string, i int) found {
	names := p.table.ModuleNames()
	at, _ := slices.BinarySearch(names, folder+".")
	for _, module := range names[at:] {
		if !strings.HasPrefix(module, folder+".") {
			break
		}
		m := p.module(module, i)
		if m == nil {
			continue
		}
		for _, e := range entries(m, name, i) {
			if e.Kind == table.Exported {
				return found{presence: Present, module: module, name: name}
			}
		}
	}
	return found{presence: Absent}
}
