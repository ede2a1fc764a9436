package history

import (
	_ "embed" // for the modules below the tops of packages
	"strings"
	"sync"
)

//go:embed shelves.txt
var shelvesText string

// Shelved are the full names of what a bare name can mean below the tops of packages, as sklearn.preprocessing.OneHotEncoder for
// OneHotEncoder.
func Shelved(name string) []string { return shelved()[name] }

// shelved is made when it is first asked for, as offering is.
var shelved = sync.OnceValue(func() map[string][]string {
	all := make(map[string][]string)
	opened := make(map[string]*Package)
	for line := range strings.Lines(shelvesText) {
		module := strings.TrimSpace(line)
		if module == "" || strings.HasPrefix(module, "#") {
			continue
		}
		root, _, _ := strings.Cut(module, ".")
		p := opened[root]
		if p == nil {
			read, err := Open(root)
			if err != nil { // the tables are part of the program and tested
				continue
			}
			p, opened[root] = read, read
		}
		m, err := p.table.Module(module)
		if err != nil || m == nil {
			continue
		}
		for i, e := range m.Entries { // sorted by their names
			if i == 0 || m.Entries[i-1].Name != e.Name {
				all[e.Name] = append(all[e.Name], module+"."+e.Name)
			}
		}
	}
	return all
})
