// Package distribution is the table of distributions.yaml: what has to be installed for a Python module or a program to be there. Its name
// goes in; the distribution that brings it, or the repository that it is built from, comes out.
package distribution

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/gpu-triage/triage/rules/rulefile"
)

// File is the one file of a knowledge base that holds the table.
const File = "distributions.yaml"

// Distribution is what brings a module. What does not apply is "".
type Distribution struct {
	Install    string // what pip is told to install, perhaps with extras
	Repository string // where the source is that it is built from
	Within     string // the folder of the repository that is installed
	WithTorch  bool   // its build imports torch, which has to be there before
	Say        string // what else one has to know: whole sentences
	Own        bool   // no distribution: projects give that name to modules of their own
	System     string // packages of the system, as apt names them, that bring a program
}

// Folder is what is installed of a clone of the repository, seen from where it was cloned.
func (d Distribution) Folder() string {
	if d.Repository == "" {
		return ""
	}
	return path.Join(path.Base(d.Repository), d.Within)
}

// Table knows modules. A nil table knows none.
type Table struct {
	modules func() map[string]Distribution
	next    *Table
}

// What stands before a name that is no module's: a program that a shell calls, a header that a compiler reads, and a library that a linker or
// loader looks for.
const (
	programs  = "bin/"
	headers   = "include/"
	libraries = "lib/"
)

// Of is what brings a module, by its dotted name or the nearest package above it. A distribution's own name is known too, and some names that
// code imports from one, as PeftModel. A program's name stands behind "bin/", that of a header behind "include/", as include/GL/glew.h, and
// that of a shared library behind "lib/", as lib/libGL.so.1.
func (t *Table) Of(module string) (Distribution, bool) {
	if t == nil {
		return Distribution{}, false
	}
	known := t.modules()
	for name := module; name != ""; name = above(name) {
		if d, ok := known[name]; ok {
			return d, true
		}
	}
	return t.next.Of(module)
}

// above is the package that a module is in, or the folder of a header, "" for one at the top.
func above(name string) string {
	cut := strings.LastIndexAny(name, "./")
	if cut < 0 || cut == strings.IndexByte(name, '/') { // what is left is the kind
		return ""
	}
	return name[:cut]
}

// Before is a table, as it was read, that is asked before another.
func (t *Table) Before(next *Table) *Table { return &Table{modules: t.modules, next: next} }

// Read reads the table.
func Read(d *rulefile.Decoder, content []byte) *Table {
	d.File = File
	modules := parse(d, content)
	return &Table{modules: func() map[string]Distribution { return modules }}
}

// Later leaves the reading of a table that has no mistakes to the first question: few logs ask for it.
func Later(content []byte) *Table {
	return &Table{modules: sync.OnceValue(func() map[string]Distribution { return parse(&rulefile.Decoder{}, content) })}
}

type tableFile struct {
	Same          []rulefile.Text `yaml:"same"`
	Own           []rulefile.Text `yaml:"own"`
	Distributions []entry         `yaml:"distributions"`
	Programs      []program       `yaml:"programs"`
	Headers       []program       `yaml:"headers"`
	Libraries     []program       `yaml:"libraries"`
}

// program is the form of a row under programs, headers and libraries.
type program struct {
	Names   []rulefile.Text `yaml:"names"`
	Install rulefile.Text   `yaml:"install"`
	System  rulefile.Text   `yaml:"system"`
	Say     string          `yaml:"say"`
}

// entry is the form of a row in distributions.yaml.
type entry struct {
	Modules    []rulefile.Text `yaml:"modules"`
	Names      []rulefile.Text `yaml:"names"`
	Install    rulefile.Text   `yaml:"install"`
	Repository rulefile.Text   `yaml:"repository"`
	Within     string          `yaml:"within"`
	WithTorch  bool            `yaml:"with_torch"`
	Say        string          `yaml:"say"`
}

var (
	moduleName  = regexp.MustCompile(`^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$`)
	programName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.+/-]*$`)
	packages    = regexp.MustCompile(`^[a-z0-9][a-z0-9.+-]*( [a-z0-9][a-z0-9.+-]*)*$`)
	requirement = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*(\[[A-Za-z0-9,_-]+\])?([<>=]=?[0-9.]+)?$`)
	repository  = regexp.MustCompile(`^https://[a-z.]+/[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$`)
)

func parse(d *rulefile.Decoder, content []byte) map[string]Distribution {
	file, _ := rulefile.Read[tableFile](d, content)
	modules := make(map[string]Distribution)
	add := func(module rulefile.Text, is Distribution) {
		if !moduleName.MatchString(module.Value) {
			d.Problem(module.Line, module.Column, "%q is no name of a module", module.Value)
		}
		if _, again := modules[module.Value]; again {
			d.Problem(module.Line, module.Column, "the module %s stands here twice", module.Value)
		}
		modules[module.Value] = is
	}
	for _, m := range file.Same {
		add(m, Distribution{Install: strings.ReplaceAll(m.Value, "_", "-")})
	}
	for _, m := range file.Own {
		add(m, Distribution{Own: true})
	}
	for _, e := range file.Distributions {
		e.check(d)
		for _, m := range slices.Concat(e.Modules, e.Names) {
			add(m, Distribution{Install: e.Install.Value, Repository: e.Repository.Value, Within: e.Within, WithTorch: e.WithTorch, Say: strings.TrimSpace(e.Say)})
		}
	}
	addNames(modules)
	addPrograms(d, modules, programs, file.Programs)
	addPrograms(d, modules, headers, file.Headers)
	addPrograms(d, modules, libraries, file.Libraries)
	return modules
}

func addPrograms(d *rulefile.Decoder, to map[string]Distribution, kind string, rows []program) {
	for _, p := range rows {
		p.add(d, kind, to)
	}
}

// add notes a row of programs, headers or libraries, and what is wrong with it.
func (p program) add(d *rulefile.Decoder, kind string, to map[string]Distribution) {
	if p.Install.Value != "" && !requirement.MatchString(p.Install.Value) {
		d.Problem(p.Install.Line, p.Install.Column, "%q is nothing that pip takes by name", p.Install.Value)
	}
	if p.System.Value != "" && !packages.MatchString(p.System.Value) {
		d.Problem(p.System.Line, p.System.Column, "%q are no names of packages of a system", p.System.Value)
	}
	for _, name := range p.Names {
		if !programName.MatchString(name.Value) {
			d.Problem(name.Line, name.Column, "%q is no name of a file", name.Value)
		}
		if p.Install.Value == "" && p.System.Value == "" && p.Say == "" {
			d.Problem(name.Line, name.Column, "a row needs install:, system: or say:")
		}
		if _, again := to[kind+name.Value]; again {
			d.Problem(name.Line, name.Column, "%s%s stands here twice", kind, name.Value)
		}
		to[kind+name.Value] = Distribution{Install: p.Install.Value, System: p.System.Value, Say: strings.TrimSpace(p.Say)}
	}
}

// addNames adds the distributions by their own names, where no module is called so.
func addNames(modules map[string]Distribution) {
	names := make(map[string]Distribution)
	for _, is := range modules {
		name, _, _ := strings.Cut(is.Install, "[")
		if _, module := modules[name]; !module && name != "" {
			names[name] = is
		}
	}
	maps.Copy(modules, names)
}

// check notes what is wrong with a row.
func (e entry) check(d *rulefile.Decoder) {
	line, column := e.Install.Line, e.Install.Column
	if all := slices.Concat(e.Modules, e.Names); len(all) > 0 {
		line, column = all[0].Line, all[0].Column
	}
	switch {
	case len(e.Modules)+len(e.Names) == 0:
		d.Problem(line, column, "a row needs modules: or names:, a list")
	case e.Install.Value == "" && e.Repository.Value == "" && e.Say == "":
		d.Problem(line, column, "a row needs install:, repository: or say:")
	case e.Install.Value != "" && !requirement.MatchString(e.Install.Value):
		d.Problem(e.Install.Line, e.Install.Column, "%q is nothing that pip takes by name", e.Install.Value)
	case e.Repository.Value != "" && !repository.MatchString(e.Repository.Value):
		d.Problem(e.Repository.Line, e.Repository.Column, "%q is no https address of a repository, as https://github.com/OWNER/NAME", e.Repository.Value)
	}
}
