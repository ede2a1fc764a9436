package diagnosis

import (
	"slices"
	"strings"
	"unicode"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/history"
)

// byParameter answers which function refused a parameter, by that parameter's name. It is sure enough where the logs show the package too, by an
// import, a frame or a list of releases, or where the message names a class that no other package has with it: else a program's own train()
// would be taken for another's. What only one package ever had, by a name of several words, is told as a guess.
func (a *archive) byParameter(name history.Name, situation *condition.Situation) condition.Value {
	all := a.takers(name, situation)
	var shown []*wanted
	for _, q := range all {
		if a.isShown(q.pkg.Name(), situation) && isPublic(q.pkg, q.name.Dotted) || a.isPassed(q.pkg.Name(), situation) {
			shown = append(shown, q)
		}
	}
	switch {
	case len(shown) == 0 && namesClass(name.Dotted) && a.oneTaker(all):
		return condition.ObjectValue(all[0].members())
	case a.oneTaker(shown):
		return condition.ObjectValue(shown[0].members())
	case len(shown) == 0 && a.oneTaker(all) && isTelling(name.Parameter) && isPublic(all[0].pkg, all[0].name.Dotted):
		members := all[0].members()
		members["guessed"] = condition.BoolValue(true)
		return condition.ObjectValue(members)
	}
	return condition.Nil
}

// takers are the functions that a call can mean, one of each package: those with the parameter in some releases and not in others.
func (a *archive) takers(name history.Name, situation *condition.Situation) (takers []*wanted) {
	for _, d := range history.Taking(name.Parameter) {
		if p := a.open(d); p != nil {
			if q := a.takerOf(p, name, situation); q != nil && hadLately(p, q.name) {
				takers = append(takers, q)
			}
		}
	}
	return takers
}

// takerOf is the function of a package that a call can mean: of several those that are for programs, and none unless the parameter came and went
// in all of these together.
func (a *archive) takerOf(p *history.Package, name history.Name, situation *condition.Situation) (first *wanted) {
	all := p.Functions(name.Dotted, name.Parameter)
	if i := slices.IndexFunc(all, func(full string) bool { return isPublic(p, full) }); i >= 0 {
		all = slices.DeleteFunc(all[i:], func(full string) bool { return !isPublic(p, full) })
	}
	class := situation.Value("error").Member("call").String()
	class = class[strings.LastIndexByte(class, '.')+1:]
	for _, full := range all {
		q := &wanted{archive: a, pkg: p, name: history.Name{Dotted: full, Parameter: name.Parameter}, situation: situation}
		switch {
		case isConstructor(name.Dotted) && startsUpper(class) && !strings.HasSuffix(full, "."+class), !q.decides():
		case first == nil:
			first = q
		case spansOf(q) != spansOf(first):
			return nil
		}
	}
	return first
}

func spansOf(q *wanted) string { return spans(q.ranges(), history.Present, ", ") }

func isConstructor(function string) bool {
	return function == "__init__" || strings.HasSuffix(function, ".__init__")
}

func startsUpper(word string) bool { return word != "" && unicode.IsUpper(rune(word[0])) }

// oneTaker tells whether functions are of one package, or of packages that are released together.
func (a *archive) oneTaker(takers []*wanted) bool {
	names := make([]history.Name, len(takers))
	for i, q := range takers {
		names[i] = q.name
	}
	return len(names) == 1 || len(names) > 1 && a.oneProject(names)
}

// isPublic tells whether programs can be expected to call a function: it is at the top of its package, or in a module that is looked through.
func isPublic(p *history.Package, full string) bool {
	parts := strings.Split(full, ".")
	for i, part := range parts[1:] {
		place := strings.Join(parts[:i+2], ".")
		if i == 0 && !p.IsModule(place) || slices.Contains(history.InSubmodules(part), place) {
			return true
		}
	}
	return false
}

// isTelling tells whether a parameter has a name of so many words that hardly two people give it.
func isTelling(parameter string) bool {
	const words = 3
	return len(strings.FieldsFunc(parameter, func(r rune) bool { return r == '_' })) >= words
}

// namesClass tells whether a method is given with its class, whose name is so long that hardly two people give it: PotBrewer.__init__.
func namesClass(method string) bool {
	class, _, found := strings.Cut(method, ".")
	return found && startsUpper(class) && isDistinctive(class)
}

// isPassed tells whether the error passed through the code of a package.
func (a *archive) isPassed(distribution string, situation *condition.Situation) bool {
	return slices.ContainsFunc([]string{"owner", "caller", "asker", "through"}, func(member string) bool {
		owner := situation.Value("error").Member(member).String()
		return owner != "" && history.Distribution(owner) == distribution
	})
}

// isShown tells whether the logs show that a program uses a package.
func (a *archive) isShown(distribution string, situation *condition.Situation) bool {
	return a.installed(distribution, situation) != "" || a.shown.names(distribution)
}
