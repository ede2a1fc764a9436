package fact

import (
	"github.com/gpu-triage/triage/rules/pattern"
	"github.com/gpu-triage/triage/rules/rulefile"
)

// InstalledFile is a file of an installed package that states a fact, where Pattern matches, in the group "value", or without a pattern by the
// GPU architectures that the device code of a binary was built for. A list is words with blanks between them.
type InstalledFile struct {
	Fact    string
	Path    string           // below the folder of packages; the last part may hold *
	Pattern *pattern.Pattern // nil for a binary
}

// installedEntry is how a fact of facts.yaml says where the machine keeps it.
type installedEntry struct {
	Path    string        `yaml:"path"`
	Pattern rulefile.Text `yaml:"pattern"`
}

// Files are the files of installed packages that state facts.
func (v *Vocabulary) Files() []InstalledFile { return v.files }

// Libraries maps shared libraries, without .so and what follows ("libcudnn"), to the facts that hold their versions. The map
// belongs to the vocabulary and must not be changed.
func (v *Vocabulary) Libraries() map[string]string { return v.libraries }

// Loaders maps facts to the file, below the folder of packages, that has the loader look for the library that states the fact. The map
// belongs to the vocabulary and must not be changed.
func (v *Vocabulary) Loaders() map[string]string { return v.loaders }

// addInstalled reads where the machine keeps a fact.
func (v *Vocabulary) addInstalled(d *rulefile.Decoder, f *factEntry) {
	name := f.Name.Value
	for _, library := range f.Libraries {
		v.libraries[library] = name
	}
	if f.Loader != "" {
		v.loaders[name] = f.Loader
	}
	for _, entry := range f.Files {
		compiled, err := pattern.New(entry.Pattern.Value)
		if err != nil || compiled.Group("value") < 0 {
			d.Problem(entry.Pattern.Line, entry.Pattern.Column, "a file of a fact needs a pattern with a group (?P<value>…)")
			continue
		}
		v.files = append(v.files, InstalledFile{Fact: name, Path: entry.Path, Pattern: compiled})
	}
	for _, path := range f.Binaries { // what a file says of itself goes before what is found in it
		v.files = append(v.files, InstalledFile{Fact: name, Path: path})
	}
}

// InstalledPackages is the set of facts that packages state, and nothing else of the machine: without such a package the thing is
// not there.
func (v *Vocabulary) InstalledPackages() map[string]bool {
	facts := make(map[string]bool)
	for _, fact := range v.packages {
		facts[fact] = true
	}
	for _, fact := range v.libraries {
		delete(facts, fact)
	}
	for _, fact := range v.listed {
		delete(facts, fact)
	}
	return facts
}
