package history

import (
	"slices"
	"strings"

	"github.com/gpu-triage/triage/rules/history/table"
	"github.com/gpu-triage/triage/rules/spelling"
)

// Meant is the word that was most likely meant by the last one of a name which no release has, or by its parameter: a name of the same module,
// class or function that is spelled almost like it. It is "" when a release has the name, or nothing is like it.
func (p *Package) Meant(name Name) string {
	place, word, ok := cutLast(name.Dotted)
	if name.Parameter != "" {
		place, word = strings.TrimSuffix(name.Dotted, ".__init__"), name.Parameter
	} else if !ok {
		return ""
	}
	i := p.lastWith(Name{Dotted: place})
	if i < 0 || p.lastWith(name) >= 0 {
		return ""
	}
	g := gatherer{p: p, release: i, seen: make(map[string]bool)}
	at := p.find(place, i)
	if name.Parameter == "" {
		g.names(at)
	} else {
		g.parameters(at)
	}
	sibling := func(word string) Name {
		if name.Parameter != "" {
			return Name{place, word}
		}
		return Name{Dotted: place + "." + word}
	}
	meant := spelling.Meant(word, g.words)
	switch {
	case meant == "" || p.at(sibling(meant), i) != Present:
		return ""
	case name.Parameter == "" && sameButPlural(meant, word): // torch.Tensor.logits is asked of an object that is no tensor
		return ""
	}
	return meant
}

// MeantModule is the module at the top of a package that a name of none was most likely meant to be, "" when none is like it. A project's own
// module may differ from a package by its plural alone, as transformer, and is left alone.
func MeantModule(name string) string {
	var roots []string
	for _, d := range Listed() {
		roots = append(roots, d.roots()...)
	}
	meant := spelling.Meant(name, roots)
	if slices.Contains(roots, name) || sameButPlural(meant, name) {
		return ""
	}
	return meant
}

func sameButPlural(a, b string) bool { return strings.TrimSuffix(a, "s") == strings.TrimSuffix(b, "s") }

// gatherer collects the words that may stand behind a place. It takes too many rather than too few: what is chosen is looked up again.
type gatherer struct {
	p       *Package
	release int
	words   []string
	seen    map[string]bool // modules and classes
}

// once tells whether a module or a class is new.
func (g *gatherer) once(f found) bool {
	key := f.module + ":" + f.name
	fresh := !g.seen[key]
	g.seen[key] = true
	return fresh
}

// names are those in a module or a class.
func (g *gatherer) names(of found) {
	m := g.p.module(of.module, g.release)
	if m == nil || !g.once(of) {
		return
	}
	if of.name == "" {
		g.inModule(m)
		return
	}
	g.members(m, of.name)
	bases, _ := g.p.bases(of, g.release, 0)
	for _, base := range bases {
		g.names(base)
	}
}

func (g *gatherer) inModule(m *table.Module) {
	for _, e := range m.Entries {
		switch {
		case !e.In.Has(g.release) || strings.Contains(e.Name, "."):
		case e.Name != "":
			g.words = append(g.words, e.Name)
		case e.Kind == table.Star || e.Kind == table.TypingStar || e.Kind == table.Delegate:
			g.names(found{module: e.Arg})
		case e.Kind == table.Folder:
			g.exported(e.Arg)
		case e.Kind == table.Open:
			g.tabled(m.Name, strings.TrimPrefix(e.Arg, "table:"))
		}
	}
	g.below(m.Name, func(module string) { g.words = append(g.words, module) })
}

// below calls a function with the rest of the name of each module below another.
func (g *gatherer) below(module string, use func(rest string)) {
	names := g.p.table.ModuleNames()
	at, _ := slices.BinarySearch(names, module+".")
	for _, name := range names[at:] {
		rest, ok := strings.CutPrefix(name, module+".")
		if !ok {
			break
		}
		use(rest)
	}
}

// exported are the names that all modules below a folder export.
func (g *gatherer) exported(folder string) {
	g.below(folder, func(rest string) {
		m := g.p.module(folder+"."+rest, g.release)
		if m == nil {
			return
		}
		for _, e := range m.Entries {
			if e.Kind == table.Exported && e.In.Has(g.release) {
				g.words = append(g.words, e.Name)
			}
		}
	})
}

// tabled are the names that a module gives by a table in another module.
func (g *gatherer) tabled(module, in string) {
	m := g.p.module(in, g.release)
	if m == nil {
		return
	}
	for _, e := range m.Entries {
		if word, ok := strings.CutPrefix(e.Name, module+":"); ok && e.In.Has(g.release) {
			g.words = append(g.words, word)
		}
	}
}

// members are those of a class itself.
func (g *gatherer) members(m *table.Module, class string) {
	for _, e := range m.Entries {
		if word, ok := strings.CutPrefix(e.Name, class+"."); ok && e.In.Has(g.release) && !strings.Contains(word, ".") {
			g.words = append(g.words, word)
		}
	}
}

// parameters are those of a function, or of the constructor of a class, its own or the one that it inherits.
func (g *gatherer) parameters(of found) {
	m := g.p.module(of.module, g.release)
	if m == nil || of.name == "" || !g.once(of) {
		return
	}
	if !g.p.isClass(of, g.release) {
		g.taken(m, of.name)
		return
	}
	if hasEntryAt(m, of.name+".__init__", g.release, table.Member) {
		g.taken(m, of.name+".__init__")
		return
	}
	g.taken(m, of.name+".__new__")
	g.members(m, of.name) // the fields of a dataclass
	bases, _ := g.p.bases(of, g.release, 0)
	for _, base := range bases {
		g.parameters(base)
	}
}

func (g *gatherer) taken(m *table.Module, function string) {
	for _, e := range entries(m, function, g.release) {
		if e.Kind != table.Function && e.Kind != table.Member {
			continue
		}
		for parameter := range strings.SplitSeq(e.Arg, ",") {
			g.words = append(g.words, strings.Trim(parameter, "*~="))
		}
	}
}
