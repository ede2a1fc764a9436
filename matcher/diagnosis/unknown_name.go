package diagnosis

import (
	"strings"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/history"
	"github.com/gpu-triage/triage/rules/signature"
)

// unimported answers what a signature asks about a bare name that is perhaps one of a package that was not imported.
func (a *archive) unimported(s *signature.Signature, situation *condition.Situation) condition.Value {
	for _, template := range s.History {
		name, err := history.ParseName(template.Fill(situation))
		if err != nil {
			continue
		}
		if lines := imports(name); lines.Known() {
			return condition.ObjectValue(map[string]condition.Value{"name": condition.StringValue(name.Dotted), "imports": lines})
		}
	}
	return condition.Nil
}

// imports are the lines that import a bare name.
func imports(name history.Name) condition.Value {
	if !isBare(name) {
		return condition.Value{}
	}
	return known(strings.Join(history.Imports(name.Dotted), ", or: "))
}

func isBare(name history.Name) bool {
	return name.Parameter == "" && !strings.Contains(name.Dotted, ".")
}

// misspelt answers what a signature asks about a name that no release has and that is spelled almost like one that is there.
func (a *archive) misspelt(s *signature.Signature, situation *condition.Situation) condition.Value {
	for _, template := range s.History {
		name, err := history.ParseName(history.Unaliased(template.Fill(situation)))
		if err != nil {
			continue
		}
		answer := a.meantBy(name, situation)
		if !answer.IsNil() {
			return answer
		}
	}
	return condition.Nil
}

// meantBy is what is known of a name that was misspelt. What a class is called in several packages has to mean the same in all that have such
// a name.
func (a *archive) meantBy(name history.Name, situation *condition.Situation) condition.Value {
	if isBare(name) {
		return moduleMeantBy(name.Dotted)
	}
	candidates := a.candidates(name, situation)
	if len(candidates) == 0 {
		candidates = a.everywhere(strings.TrimSuffix(name.Dotted, ".__init__"), name.Parameter)
	}
	meant, answer := "", condition.Nil
	for _, candidate := range candidates {
		p := a.open(candidate.Dotted)
		if p == nil {
			continue
		}
		word := a.meantFor(p, candidate)
		switch {
		case word == "":
			continue
		case meant != "" && word != meant:
			return condition.Nil
		}
		q := wanted{archive: a, pkg: p, name: candidate, situation: situation}
		members := q.members()
		members["change"], members["implied"], members["meant"] = condition.Value{}, condition.Value{}, known(word)
		meant, answer = word, condition.ObjectValue(members)
	}
	return answer
}

// meantFor is the word that was meant by the last one of a name, "" when none is like it.
func (a *archive) meantFor(p *history.Package, name history.Name) string {
	word, asked := a.meant[name]
	if !asked {
		word = p.Meant(name)
		a.meant[name] = word
	}
	return word
}

// moduleMeantBy is the package that a misspelt import means.
func moduleMeantBy(name string) condition.Value {
	meant := history.MeantModule(name)
	if meant == "" {
		return condition.Nil
	}
	return condition.ObjectValue(map[string]condition.Value{
		"name": condition.StringValue(name), "package": known(history.Distribution(meant)), "meant": known(meant),
	})
}

// everywhere are the full names that a bare one has at the tops of packages and in the modules that are looked through.
func (a *archive) everywhere(bare, parameter string) []history.Name {
	top, rest, _ := strings.Cut(bare, ".")
	places := history.InSubmodules(top)
	for _, d := range history.Offering(top) {
		p := a.open(d)
		if p != nil {
			places = append(places, p.Find(top, false)...)
		}
	}
	all := make([]history.Name, len(places))
	for i, place := range places {
		all[i] = history.Name{Dotted: strings.TrimSuffix(place+"."+rest, "."), Parameter: parameter}
	}
	return all
}
