package traceback

import (
	"path"
	"slices"
	"strings"
)

// Hidden is the module that a package, or Python itself, imports and gets a file of the user's in its place, with that file: "code" and
// /home/u/code.py, for a frame of pdb.py that shows `import code` above one in that file. Both are "" when no frames show it.
func (e *Exception) Hidden() (module, file string) {
	for i := range len(e.Frames) - 1 {
		importer, imported := e.Frames[i], e.Frames[i+1]
		if importer.Package() == "" || imported.Package() != "" {
			continue
		}
		if module := moduleOf(imported.File); slices.Contains(importedBy(importer.Code), module) {
			return module, imported.File
		}
	}
	return "", ""
}

// moduleOf is the name by which a file is imported: the one of its folder for an __init__.py.
func moduleOf(file string) string {
	file = strings.ReplaceAll(file, `\`, "/")
	if path.Base(file) == "__init__.py" {
		return path.Base(path.Dir(file))
	}
	return strings.TrimSuffix(path.Base(file), ".py")
}

// importedBy are the modules at the top that an import statement names: "os" and "code" of `import os.path, code as c`.
func importedBy(code string) (modules []string) {
	if from, ok := strings.CutPrefix(code, "from "); ok {
		return []string{topName(from)}
	}
	list, ok := strings.CutPrefix(code, "import ")
	if !ok {
		return nil
	}
	for module := range strings.SplitSeq(list, ",") {
		modules = append(modules, topName(strings.TrimSpace(module)))
	}
	return modules
}

// topName is the first word of a dotted name: "" of a relative one.
func topName(dotted string) string {
	if end := strings.IndexAny(dotted, ". "); end >= 0 {
		return dotted[:end]
	}
	return dotted
}
