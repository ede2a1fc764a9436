package history

import (
	_ "embed" // for the parameters that came or went
	"slices"
	"strings"

	"github.com/gpu-triage/triage/rules/history/table"
)

// parametersText has a line for each parameter that some releases of a function take by name and others do not: the parameter, and the
// distributions with such a function. What too many have tells nothing and is left out. Like offered.tsv it is made of the tables: go generate
// ./rules/history.
//
//go:embed parameters.tsv
var parametersText string

// Taking are the distributions of which a function took a parameter in some releases and not in others.
func Taking(parameter string) []string { return column(parametersText, parameter, 1) }

// maxFunctions is how many functions of a package with the same parameter are looked at.
const maxFunctions = 40

// Functions are the functions of a package that take a parameter in some release and whose names end in that of a call, as train, or
// Trainer.__init__: their full names as programs write them, public ones first. It is empty when more have it than a parameter with a meaning
// of its own has.
func (p *Package) Functions(call, parameter string) []string {
	var all []string
	for _, name := range p.table.ModuleNames() {
		m, err := p.table.Module(name)
		if err != nil {
			p.damaged = err
		}
		if m == nil {
			continue
		}
		for _, e := range m.Entries {
			if function := taker(e, parameter); function != "" && endsIn(function, call) {
				all = append(all, p.public(name+"."+strings.TrimSuffix(function, ".__init__")))
			}
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) > maxFunctions {
		return nil
	}
	slices.SortStableFunc(all, func(a, b string) int { return awkward(a, "") - awkward(b, "") })
	return all
}

// taker is the function that takes a parameter by a record: a function or method, or the constructor for a field of a class.
func taker(e table.Entry, parameter string) string {
	switch e.Kind {
	case table.Function, table.Member:
		if strings.Contains(e.Arg, parameter) && takes(e.Arg, parameter) == Present {
			return e.Name
		}
	case table.Field:
		if class, ok := strings.CutSuffix(e.Name, "."+parameter); ok {
			return class + ".__init__"
		}
	}
	return ""
}

// endsIn tells whether the last words of a dotted name are those of a call.
func endsIn(function, call string) bool {
	return function == call || strings.HasSuffix(function, "."+call)
}

// public is the name at the top of the package of what is defined below it, or else the name itself.
func (p *Package) public(full string) string {
	last := p.lastWith(Name{Dotted: full})
	if last < 0 {
		return full
	}
	f := p.find(full, last)
	word, rest, member := strings.Cut(f.name, ".")
	top := p.table.Roots[0] + "." + word
	if member {
		top += "." + rest
	}
	if word == "" || p.find(top, last) != f {
		return full
	}
	return top
}
