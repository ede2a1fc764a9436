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

// Unaliased is a name with the module or class in the place of its usual alias: lightgbm.train for lgb.train, and
// torch.distributed.fsdp.FullyShardedDataParallel(mixed_precision=) for FSDP(mixed_precision=). A traceback shows the line that calls and
// not the one that imports. A module is not called, so its alias alone stays.
func Unaliased(name string) string {
	end := strings.IndexAny(name, ".(")
	if end < 0 {
		return name
	}
	full := aliases()[name[:end]]
	if full == "" || name[end] == '(' && !isClass(full) {
		return name
	}
	return full + name[end:]
}

// isClass tells whether the last word of a dotted name is that of a class, by its capital letter.
func isClass(full string) bool {
	last := full[strings.LastIndexByte(full, '.')+1:]
	return strings.ToLower(last[:1]) != last[:1]
}
