package history

import (
	_ "embed" // for what took the place of names
	"strings"
	"sync"
)

//go:embed successors.txt
var successorsText string

// written is a row of successors.txt: the code to write in place of a name.
type written struct {
	old  Name
	code string
}

// successors are the rows by the distribution of the old name.
var successors = sync.OnceValue(func() map[string][]written {
	all := make(map[string][]written)
	for line := range strings.Lines(successorsText) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		old, code, ok := strings.Cut(strings.TrimSpace(line), " -> ")
		name, err := ParseName(old)
		if !ok || err != nil { // the file is part of the program and tested
			continue
		}
		d := Distribution(name.Dotted)
		all[d] = append(all[d], written{name, code})
	}
	return all
})

// instead is the code to write in place of a name, "" when none is known. A class that inherits the name, or another path to it, counts as
// the name itself.
func (p *Package) instead(name Name) string {
	name.Dotted = strings.TrimSuffix(name.Dotted, ".__init__")
	rows := successors()[p.Name()]
	for _, row := range rows {
		if row.old == name {
			return row.code
		}
	}
	last := p.lastWith(name)
	if last < 0 {
		return ""
	}
	was := p.find(name.Dotted, last)
	for _, row := range rows {
		if row.old.Parameter == name.Parameter && was.name != "" && p.find(row.old.Dotted, last) == was {
			return row.code
		}
	}
	return ""
}
