package history

import (
	_ "embed" // for what classes elsewhere have
	"slices"
	"strings"
	"sync"

	"github.com/gpu-triage/triage/rules/history/table"
)

//go:embed bases.txt
var basesText string

// elsewhere are the attributes of classes outside of the packages: Python's own, and torch.nn.Module.
var elsewhere = sync.OnceValue(func() map[string][]string {
	classes := make(map[string][]string)
	for _, row := range rows(basesText) {
		classes[row[0]] = row[1:]
	}
	return classes
})

// fullName is the dotted name of a class that a module has from outside of its package: nn.Module is torch.nn.Module after
// `from torch import nn`. What the module does not bind is Python's own.
func (p *Package) fullName(module, dotted string, i int) string {
	head, rest, _ := strings.Cut(dotted, ".")
	m := p.module(module, i)
	if m == nil {
		return dotted
	}
	for _, e := range entries(m, head, i) {
		if e.Kind == table.Import || e.Kind == table.Lazy {
			return strings.Trim(strings.Trim(strings.ReplaceAll(e.Arg, ":", "."), ".")+"."+rest, ".")
		}
	}
	return dotted
}

// inherits tells what a class elsewhere has: false for known when nobody knows that class.
func inherits(class, name string) (has, known bool) {
	attributes, known := elsewhere()[class]
	return slices.Contains(attributes, name), known
}
