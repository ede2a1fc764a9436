package backend

import (
	"fmt"
	"io/fs"
	"path"
	"sort"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/fact"
	"github.com/gpu-triage/triage/rules/rulefile"
	"gopkg.in/yaml.v3"
)

// libraryFile is the form of a file in backends/<library>/. The files of one folder make one library; rules stand in the order of the
// files' names.
type libraryFile struct {
	Library  rulefile.Text      `yaml:"library"`
	Title    string             `yaml:"title"`
	Version  rulefile.Text      `yaml:"version"`
	Source   string             `yaml:"source"`
	Releases []rulefile.Text    `yaml:"releases"`
	Filters  []string           `yaml:"filters"`
	Messages map[string]string  `yaml:"messages"`
	Backends []backendEntry     `yaml:"backends"`
	Prefer   []preferEntry      `yaml:"prefer"`
	Trail    trailEntry         `yaml:"trail"`
	Facts    map[string]factUse `yaml:"facts"`
	Define   *yaml.Node         `yaml:"define"`
	Rules    []ruleEntry        `yaml:"rules"`
	Levers   []leverEntry       `yaml:"levers"`
}

// LoadLibraries reads the backend rules of knowledge bases, from backends/<library>/*.yaml; a library of a later one replaces the
// earlier one of its name. The error is Problems: every mistake of every file.
func Load(v *fact.Vocabulary, layers ...fs.FS) ([]*Library, error) {
	byName := make(map[string]*Library)
	var problems rulefile.Problems
	for _, layer := range layers {
		folders, err := fs.Glob(layer, "backends/*")
		if err != nil {
			return nil, fmt.Errorf("reading backend rules: %w", err)
		}
		for _, folder := range folders {
			l, found, err := loadLibrary(v, layer, folder)
			if err != nil {
				return nil, err
			}
			problems = append(problems, found...)
			if l != nil {
				byName[l.Name] = l
			}
		}
	}
	if len(problems) > 0 {
		return nil, problems
	}
	var libraries []*Library
	for _, l := range byName {
		libraries = append(libraries, l)
	}
	sort.Slice(libraries, func(i, j int) bool { return libraries[i].Name < libraries[j].Name })
	return libraries, nil
}

func loadLibrary(v *fact.Vocabulary, layer fs.FS, folder string) (*Library, rulefile.Problems, error) {
	names, err := fs.Glob(layer, path.Join(folder, "*.yaml"))
	if err != nil || len(names) == 0 {
		return nil, nil, err
	}
	b := &libraryBuilder{Decoder: &rulefile.Decoder{}, vocabulary: v, library: &Library{}, states: make(map[string]int)}
	for _, name := range names {
		content, err := fs.ReadFile(layer, name)
		if err != nil {
			return nil, nil, fmt.Errorf("reading backend rules: %w", err)
		}
		b.File = name
		file, _ := rulefile.Read[libraryFile](b.Decoder, content)
		b.files = append(b.files, named{name, file})
	}
	if len(b.Problems) == 0 {
		b.build()
	}
	if len(b.Problems) > 0 {
		return nil, b.Problems, nil
	}
	return b.library, nil, nil
}

type named struct {
	name string
	libraryFile
}

// libraryBuilder makes a library out of its files.
type libraryBuilder struct {
	*rulefile.Decoder
	vocabulary *fact.Vocabulary
	files      []named
	library    *Library
	filters    []string
	messages   map[string]string
	states     map[string]int // name -> variant whose being left it tells
	passes     []passing
}

func (b *libraryBuilder) build() {
	steps := []func(){b.head, b.declareFacts, b.declareBackends, b.define, b.compileRules, b.linkPasses, b.compileBackends, b.indexRules, b.compileTrail, b.compileLevers, b.finish}
	for _, step := range steps {
		if step(); len(b.Problems) > 0 {
			return
		}
	}
}

// each calls f for every file, so that problems name the right one.
func (b *libraryBuilder) each(f func(libraryFile)) {
	for _, file := range b.files {
		b.File = file.name
		f(file.libraryFile)
	}
}

func (b *libraryBuilder) head() {
	l := b.library
	b.each(func(f libraryFile) {
		if f.Library.Value == "" {
			return
		}
		if l.Name != "" {
			b.Problem(f.Library.Line, f.Library.Column, "the library has a name in another file, too")
		}
		l.Name, l.Title, l.version, l.source, l.Ask = f.Library.Value, f.Title, f.Version.Value, f.Source, f.Trail.Ask
		b.filters, b.messages = f.Filters, f.Messages
		for _, r := range f.Releases {
			v, err := condition.ParseVersion(r.Value)
			if err != nil {
				b.Problem(r.Line, r.Column, "%v", err)
			}
			l.releases = append(l.releases, release{version: v})
		}
	})
	if l.Name == "" || len(l.releases) == 0 || len(l.releases) > 100 {
		b.Problem(1, 1, "one file of the folder must hold library:, version: and releases: (at most 100)")
	}
}

func sortedKeys[T any](m map[string]T) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
