package history

import (
	_ "embed" // for the names that packages offer
	"sort"
	"strings"
	"sync"
)

// offeredText has a line for each name that packages offer: the name, the distributions that have it at their top, and the modules of
// submodules.txt that have it. It is made of the tables, all of which would have to be opened for it otherwise: go generate ./rules/history.
//
//go:embed offered.tsv
var offeredText string

// Offering are the distributions that offer a name at their top in some release, as transformers does Trainer, without those that stand
// apart.
func Offering(name string) []string { return offeredBy(name, 1) }

// InSubmodules are the full names of what a bare name can mean below the tops of packages, as sklearn.preprocessing.OneHotEncoder for
// OneHotEncoder. The modules that are looked through stand in submodules.txt; those named first come first.
func InSubmodules(name string) []string {
	modules := offeredBy(name, 2)
	for i := range modules {
		modules[i] += "." + name
	}
	return modules
}

var offeredLines = sync.OnceValue(func() []string { return strings.Split(offeredText, "\n") })

// offeredBy are the words of a column in the line of a name.
func offeredBy(name string, column int) []string {
	lines := offeredLines()
	start := name + "\t"
	i := sort.SearchStrings(lines, start)
	if i == len(lines) || !strings.HasPrefix(lines[i], start) {
		return nil
	}
	return strings.Fields(strings.Split(lines[i], "\t")[column])
}
