package history

import (
	"slices"
	"strings"

	"github.com/gpu-triage/triage/rules/history/table"
)

// Find looks for what a message calls by a bare name, as Trainer or Trainer.__init__: the dotted names that some release has, the
// nearest to the top of the package first. Deep looks into all modules and not only at what the package itself offers. What a package only
// imports from others is not its own.
func (p *Package) Find(bare string, deep bool) []string {
	first, rest, _ := strings.Cut(bare, ".")
	top := p.table.Roots[0] + "." + first
	last := p.lastWith(Name{Dotted: top})
	var all []string
	if last >= 0 && p.find(top, last).module != "" {
		all = append(all, top)
	}
	if deep && last < 0 {
		all = p.definers(first)
	}
	if rest != "" {
		for i := range all {
			all[i] += "." + rest
		}
	}
	return all
}

// IsModule tells whether a dotted name is a module of the package in the newest release that has it.
func (p *Package) IsModule(dotted string) bool {
	last := p.lastWith(Name{Dotted: dotted})
	return last >= 0 && p.find(dotted, last).name == ""
}

// definers are the modules' own classes and functions of that name.
func (p *Package) definers(word string) []string {
	var all []string
	for _, name := range p.table.ModuleNames() {
		m, err := p.table.Module(name)
		if err != nil || m == nil {
			continue
		}
		if slices.ContainsFunc(m.Entries, func(e table.Entry) bool {
			return e.Name == word && (e.Kind == table.Class || e.Kind == table.Function)
		}) {
			all = append(all, name+"."+word)
		}
	}
	slices.SortStableFunc(all, func(a, b string) int { return awkward(a, "") - awkward(b, "") })
	return all[:min(len(all), maxMoved)]
}
