package fact

import (
	"fmt"
	"io/fs"
	"sort"
	"strings"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/pattern"
	"github.com/gpu-triage/triage/rules/rulefile"
)

// Vocabulary is the set of facts that rules may ask about, with what each means and how it can be learned.
type Vocabulary struct {
	facts map[string]*Info
	names []string
	// Readers find facts in the lines of a log.
	Readers []Reader
	// Dicts are facts printed as a Python dict after a marker.
	Dicts []DictReader
	// Trails are lines by which a library tells how it chooses its backend.
	Trails []SelectionLogReader
	// PackageLines are patterns of lines that name a package and its version, with groups name and value.
	PackageLines []Reader
	// Inferences are facts that follow from others.
	Inferences []Inference
	packages   map[string]string
	libraries  map[string]string
	files      []InstalledFile
}

// FactInfo describes one fact.
type Info struct {
	Name  string
	Type  condition.Type
	About string // what it is, in a few words
	Ask   string // the command that tells it
}

// FactReader is one way in which a log states a fact: Pattern has a group "value" and, when it serves several facts, a group "name".
type Reader struct {
	Fact     string // "" when the group "name" says which
	Prefix   string // what stands before the name in the vocabulary: "env." for environment variables
	Keywords []string
	Within   *pattern.Pattern // the part of a line that is looked at, nil for all of it
	Pattern  *pattern.Pattern
	Decode   string           // how the value is spelt: see Decodings
	Value    *condition.Value // the value itself when the line means one without naming it
	Head     bool             // its lines have words as common as "torch", and stand among the first of a log
	Place    rulefile.Problem
}

// Marks is a pattern that every line matches which the reader finds something in.
func (r *Reader) Marks() *pattern.Pattern {
	if r.Within != nil {
		return r.Within
	}
	return r.Pattern
}

// DictReader takes facts out of a Python dict that a library prints after Marker.
type DictReader struct {
	Marker string
	Keys   map[string]string // key of the dict -> fact; other keys are facts of their own name, where there is one
	Absent []string          // texts that mean that the thing is not there
	Decode map[string]string // fact -> spelling
}

// TrailReader says which lines of a log a library's backend rules want to see.
type SelectionLogReader struct {
	Library  string   `yaml:"library"`
	Keywords []string `yaml:"keywords"`
}

// factsFile is the form of facts.yaml.
type File struct {
	Facts []struct {
		Name     rulefile.Text `yaml:"name"`
		Type     rulefile.Text `yaml:"type"`
		About    string        `yaml:"about"`
		Ask      string        `yaml:"ask"`
		Packages []string      `yaml:"packages"`
		// Where a machine keeps the fact.
		Libraries []string         `yaml:"libraries"`
		Binaries  []string         `yaml:"binaries"`
		Files     []installedEntry `yaml:"files"`
		Read      []readerEntry    `yaml:"read"`
		Infer     []inferEntry     `yaml:"infer"`
	} `yaml:"facts"`
	Read  []readerEntry `yaml:"read"`
	Dicts []struct {
		Marker string            `yaml:"marker"`
		Keys   map[string]string `yaml:"keys"`
		Absent []string          `yaml:"absent"`
		Decode map[string]string `yaml:"decode"`
		Source string            `yaml:"source"`
	} `yaml:"dicts"`
	Trails   []SelectionLogReader `yaml:"trails"`
	Packages []readerEntry        `yaml:"packages"`
}

type readerEntry struct {
	Within   rulefile.Text `yaml:"within"`
	Pattern  rulefile.Text `yaml:"pattern"`
	Keywords []string      `yaml:"keywords"`
	Decode   rulefile.Text `yaml:"decode"`
	Value    rulefile.Text `yaml:"value"`
	Prefix   string        `yaml:"prefix"`
	Source   string        `yaml:"source"`
	Head     bool          `yaml:"head"`
}

// readVocabulary reads a file of facts, unless its content is known.
func Read(d *rulefile.Decoder, files fs.FS, known *File) (*Vocabulary, error) {
	var file File
	if known != nil {
		file = *known
	} else {
		content, err := fs.ReadFile(files, d.File)
		if err != nil {
			return nil, err
		}
		file, _ = rulefile.Read[File](d, content)
	}
	v := &Vocabulary{facts: make(map[string]*Info), packages: make(map[string]string), libraries: make(map[string]string)}
	for _, f := range file.Facts {
		typ, ok := typeNamed(f.Type.Value)
		if !ok {
			d.Problem(f.Type.Line, f.Type.Column, "unknown type %q; facts are version, number, string, bool, list or object", f.Type.Value)
		}
		if v.facts[f.Name.Value] != nil {
			d.Problem(f.Name.Line, f.Name.Column, "the fact %s stands here twice", f.Name.Value)
		}
		info := &Info{Name: f.Name.Value, Type: typ, About: f.About, Ask: f.Ask}
		v.facts[info.Name] = info
		v.names = append(v.names, info.Name)
		for _, p := range f.Packages {
			v.packages[normalPackage(p)] = info.Name
		}
		v.installed(d, info, f.Libraries, f.Binaries, f.Files)
		for _, entry := range f.Read {
			v.Readers = append(v.Readers, newReader(d, entry, info))
		}
		for _, entry := range f.Infer {
			v.Inferences = append(v.Inferences, newInference(d, entry, info))
		}
	}
	for _, i := range v.Inferences {
		if v.facts[i.From] == nil {
			d.Problem(1, 1, "%s follows from %q, which is no fact", i.Fact, i.From)
		}
	}
	sort.Strings(v.names)
	for _, entry := range file.Read {
		v.Readers = append(v.Readers, newReader(d, entry, nil))
	}
	for _, entry := range file.Packages {
		v.PackageLines = append(v.PackageLines, newReader(d, entry, nil))
	}
	v.Trails = file.Trails
	for _, e := range file.Dicts {
		v.Dicts = append(v.Dicts, DictReader{Marker: e.Marker, Keys: e.Keys, Absent: e.Absent, Decode: e.Decode})
	}
	return v, nil
}

func typeNamed(name string) (condition.Type, bool) {
	for t, n := range condition.TypeNames {
		if n == name && condition.Type(t) != condition.Null {
			return condition.Type(t), true
		}
	}
	return condition.Any, false
}

func newReader(d *rulefile.Decoder, e readerEntry, fact *Info) Reader {
	r := Reader{Keywords: e.Keywords, Prefix: e.Prefix, Decode: e.Decode.Value, Head: e.Head}
	r.Place = rulefile.Problem{File: d.File, Line: e.Pattern.Line, Column: e.Pattern.Column}
	if fact != nil {
		r.Fact = fact.Name
	}
	compiled, err := pattern.New(e.Pattern.Value)
	if err != nil {
		d.Problem(e.Pattern.Line, e.Pattern.Column, "%v", err)
		return r
	}
	r.Pattern = compiled
	if e.Within.Value != "" {
		if r.Within, err = pattern.New(e.Within.Value); err != nil {
			d.Problem(e.Within.Line, e.Within.Column, "%v", err)
		}
	}
	if len(r.Keywords) == 0 {
		d.Problem(e.Pattern.Line, e.Pattern.Column, "a reader needs keywords: literals, one of which stands in every line that it reads")
	}
	if _, ok := Decodings[r.Decode]; !ok {
		d.Problem(e.Decode.Line, e.Decode.Column, "unknown decoding %q", r.Decode)
	}
	if e.Value.Line > 0 && fact != nil {
		value, err := condition.FromText(e.Value.Value, fact.Type)
		if err != nil {
			d.Problem(e.Value.Line, e.Value.Column, "%v", err)
		}
		r.Value = &value
	} else if compiled.Group("value") < 0 {
		d.Problem(e.Pattern.Line, e.Pattern.Column, "the pattern needs a group (?P<value>…), or the reader a value:")
	}
	return r
}

// Fact describes the fact of that name; environment variables (env.NAME) need no entry.
func (v *Vocabulary) Fact(name string) (Info, bool) {
	if info := v.facts[name]; info != nil {
		return *info, true
	}
	if variable, ok := strings.CutPrefix(name, condition.Environment); ok && variable != "" {
		return Info{Name: name, Type: condition.String, About: "environment variable", Ask: "echo $" + variable}, true
	}
	return Info{}, false
}

// Names are the facts of the vocabulary, sorted.
func (v *Vocabulary) Names() []string { return v.names }

// Package is the fact that holds the version of a Python package.
func (v *Vocabulary) Package(name string) (fact string, ok bool) {
	fact, ok = v.packages[normalPackage(name)]
	return fact, ok
}

// normalPackage is PEP 503's normal form, in which flash_attn and Flash-Attn are one.
func normalPackage(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "-", ".", "-").Replace(name))
}

// Parse reads a fact's value from what a person writes; "none" and "null" mean known to be absent.
func (v *Vocabulary) Parse(name, text string) (condition.Value, error) {
	info, err := v.Known(name)
	if err != nil {
		return condition.Value{}, err
	}
	if text == "none" || text == "null" || text == "None" {
		return condition.Nil, nil
	}
	value, err := condition.FromText(text, info.Type)
	if err != nil {
		return condition.Value{}, fmt.Errorf("%s: %w", name, err)
	}
	return value, nil
}

// FromJSON reads a fact's value from what encoding/json decoded.
func (v *Vocabulary) FromJSON(name string, decoded any) (condition.Value, error) {
	info, err := v.Known(name)
	if err != nil {
		return condition.Value{}, err
	}
	value, err := condition.FromJSON(decoded, info.Type)
	if err != nil {
		return condition.Value{}, fmt.Errorf("%s: %w", name, err)
	}
	return value, nil
}

func (v *Vocabulary) Known(name string) (Info, error) {
	info, ok := v.Fact(name)
	if ok {
		return info, nil
	}
	if near := rulefile.Nearest(name, v.names); near != "" {
		return info, fmt.Errorf("unknown fact %s, did you mean %s?", name, near)
	}
	return info, fmt.Errorf("unknown fact %s", name)
}

// Scope is a scope that holds every fact of the vocabulary.
func (v *Vocabulary) Scope() *condition.Scope {
	s := condition.NewScope()
	for _, name := range v.names {
		// The names are unique, so declaring them cannot fail.
		_ = s.Declare(name, condition.Shape{Type: v.facts[name].Type})
	}
	return s
}
