package history

import (
	_ "embed" // for the usual names of modules
	"strings"
	"sync"
)

//go:embed aliases.txt
var aliasesText string

// aliases are the modules by the names by which they are usually imported.
var aliases = sync.OnceValue(func() map[string]string {
	modules := make(map[string]string)
	for _, row := range rows(aliasesText) {
		modules[row[0]] = row[1]
	}
	return modules
})

// Unaliased is a name with the module in the place of its usual alias: lightgbm.train for lgb.train. A traceback shows the line that calls
// and not the one that imports.
func Unaliased(name string) string {
	root, rest, dotted := strings.Cut(name, ".")
	module := aliases()[root]
	if module == "" || !dotted {
		return name
	}
	return module + "." + rest
}
