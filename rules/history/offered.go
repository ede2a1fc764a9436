package history

import _ "embed" // for the names that packages offer

// offeredText has a line for each name that packages offer: the name, the distributions that have it at their top, and the modules of
// submodules.txt that have it. It is made of the tables, all of which would have to be opened for it otherwise: go generate ./rules/history.
//
//go:embed offered.tsv
var offeredText string

// Offering are the distributions that offer a name at their top in some release, as transformers does Trainer, without those that stand
// apart.
func Offering(name string) []string { return column(offeredText, name, 1) }

// InSubmodules are the full names of what a bare name can mean below the tops of packages, as sklearn.preprocessing.OneHotEncoder for
// OneHotEncoder. The modules that are looked through stand in submodules.txt; those named first come first.
func InSubmodules(name string) []string {
	modules := column(offeredText, name, 2)
	for i := range modules {
		modules[i] += "." + name
	}
	return modules
}
