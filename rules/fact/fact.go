package fact

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/pattern"
	"github.com/gpu-triage/triage/rules/rulefile"
	"github.com/gpu-triage/triage/rules/spelling"
)

// Vocabulary is the set of facts that rules may ask about, with what each means and how it can be learned.
type Vocabulary struct {
	// Readers find facts in the lines of a log.
	Readers []Reader
	// Paths find facts in the files that a traceback names.
	Paths []Reader
	// Dicts are facts printed as a Python dict after a marker.
	Dicts []DictReader
	// SelectionLogs are lines by which a library tells how it chooses its backend.
	SelectionLogs []SelectionLogReader
	// PackageLines are patterns of lines that name a package and its version, with groups name and value.
	PackageLines []Reader
	// Hedges matches a sentence in which a person does not say what is there, but what would be, is needed, or was tried; nil when there is
	// none.
	Hedges *pattern.Pattern
	// Speaks matches a line in which a person speaks; nil when there is none.
	Speaks *pattern.Pattern
	// FoundOut is what tells in a post what its author has found out. Its patterns are many and long, and read when a post is there.
	FoundOut func() FoundOut
	// Inferences are facts that follow from others.
	Inferences []Inference

	facts     map[string]*Info
	names     []string          // of the facts, sorted
	packages  map[string]string // Python package in its normal form -> fact
	installs  map[string]string // fact -> the first of its packages
	listed    []string          // facts of what lists of packages name and no package installs
	otherwise []string          // facts that are nil where nothing tells them
	libraries map[string]string // shared library -> fact
	loaders   map[string]string // fact -> the file of a package that loads its library
	files     []InstalledFile
}

// Info describes one fact.
type Info struct {
	Name  string
	Type  condition.Type
	About string // what it is, in a few words
	Ask   string // the command that tells it
}

// File is the form of facts.yaml.
type File struct {
	Facts []factEntry   `yaml:"facts"`
	Read  []readerEntry `yaml:"read"`
	Dicts []struct {
		Marker string            `yaml:"marker"`
		Keys   map[string]string `yaml:"keys"`
		Absent []string          `yaml:"absent"`
		Decode map[string]string `yaml:"decode"`
		Source string            `yaml:"source"`
	} `yaml:"dicts"`
	SelectionLogs []SelectionLogReader `yaml:"selection_logs"`
	Packages      []readerEntry        `yaml:"packages"`
	Hedges        rulefile.Text        `yaml:"hedges"`
	Speaks        rulefile.Text        `yaml:"speaks"`
	FoundOut      foundOutEntry        `yaml:"found_out"`
}

type factEntry struct {
	Name     rulefile.Text `yaml:"name"`
	Type     rulefile.Text `yaml:"type"`
	About    string        `yaml:"about"`
	Ask      string        `yaml:"ask"`
	Packages []string      `yaml:"packages"`
	Listed   []string      `yaml:"listed"` // as packages, but of conda alone: Python itself
	// Where a machine keeps the fact.
	Libraries []string         `yaml:"libraries"`
	Loader    string           `yaml:"loader"`
	Binaries  []string         `yaml:"binaries"`
	Files     []installedEntry `yaml:"files"`
	Read      []readerEntry    `yaml:"read"`
	Infer     []inferEntry     `yaml:"infer"`
	// A fix for one system is not for everybody who says nothing of his.
	OtherwiseNone bool `yaml:"otherwise_none"`
}

// FileName is the one file of facts that a knowledge base has.
const FileName = "facts.yaml"

// Read reads the facts of a knowledge base. A content that is known already is not read again.
func Read(d *rulefile.Decoder, files fs.FS, known *File) (*Vocabulary, error) {
	d.File = FileName
	if known != nil {
		v := newVocabulary(d, known)
		v.FoundOut = sync.OnceValue(func() FoundOut { return newFoundOut(&rulefile.Decoder{File: FileName}, v, &known.FoundOut) }) // it was checked
		return v, nil
	}
	content, err := fs.ReadFile(files, d.File)
	if err != nil {
		return nil, err
	}
	file, _ := rulefile.Read[File](d, content)
	v := newVocabulary(d, &file)
	found := newFoundOut(d, v, &file.FoundOut)
	v.FoundOut = func() FoundOut { return found }
	return v, nil
}

func newVocabulary(d *rulefile.Decoder, file *File) *Vocabulary {
	v := &Vocabulary{facts: make(map[string]*Info), packages: make(map[string]string), installs: make(map[string]string), libraries: make(map[string]string), loaders: make(map[string]string)}
	for i := range file.Facts {
		v.addFact(d, &file.Facts[i])
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
	v.Hedges, v.Speaks = optionalPattern(d, file.Hedges), optionalPattern(d, file.Speaks)
	v.SelectionLogs = file.SelectionLogs
	for _, e := range file.Dicts {
		v.Dicts = append(v.Dicts, DictReader{Marker: e.Marker, Keys: e.Keys, Absent: e.Absent, Decode: e.Decode})
	}
	return v
}

// optionalPattern is nil where there is none.
func optionalPattern(d *rulefile.Decoder, t rulefile.Text) *pattern.Pattern {
	if t.Value == "" {
		return nil
	}
	p, err := pattern.New(t.Value)
	if err != nil {
		d.Problem(t.Line, t.Column, "%v", err)
	}
	return p
}

func (v *Vocabulary) addFact(d *rulefile.Decoder, f *factEntry) {
	typ, ok := condition.ParseType(f.Type.Value)
	if !ok {
		d.Problem(f.Type.Line, f.Type.Column, "unknown type %q; facts are version, number, string, bool, list or object", f.Type.Value)
	}
	if v.facts[f.Name.Value] != nil {
		d.Problem(f.Name.Line, f.Name.Column, "the fact %s stands here twice", f.Name.Value)
	}
	info := &Info{Name: f.Name.Value, Type: typ, About: f.About, Ask: f.Ask}
	v.facts[info.Name] = info
	v.names = append(v.names, info.Name)
	for _, p := range slices.Concat(f.Packages, f.Listed) {
		v.packages[normalPackage(p)] = info.Name
	}
	if len(f.Packages) > 0 {
		v.installs[info.Name] = f.Packages[0]
	}
	if len(f.Listed) > 0 {
		v.listed = append(v.listed, info.Name)
	}
	if f.OtherwiseNone {
		v.otherwise = append(v.otherwise, info.Name)
	}
	v.addInstalled(d, f)
	for _, entry := range f.Read {
		reader := newReader(d, entry, info)
		if entry.Path {
			v.Paths = append(v.Paths, reader)
		} else {
			v.Readers = append(v.Readers, reader)
		}
	}
	for _, entry := range f.Infer {
		v.Inferences = append(v.Inferences, newInference(d, entry, info))
	}
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

// With is the vocabulary with more facts, which stand for those of the same names.
func (v *Vocabulary) With(more []Info) *Vocabulary {
	with := *v
	with.facts, with.names = maps.Clone(v.facts), slices.Clone(v.names)
	for _, info := range more {
		if with.facts[info.Name] == nil {
			with.names = append(with.names, info.Name)
		}
		with.facts[info.Name] = &info
	}
	slices.Sort(with.names)
	return &with
}

// Names are the facts of the vocabulary, sorted.
func (v *Vocabulary) Names() []string { return v.names }

// OtherwiseNone are the facts that are nil, and not unknown, where nothing tells them.
func (v *Vocabulary) OtherwiseNone() []string { return v.otherwise }

// Package is the fact that holds the version of a Python package.
func (v *Vocabulary) Package(name string) (fact string, ok bool) {
	fact, ok = v.packages[normalPackage(name)]
	return fact, ok
}

// normalPackage is PEP 503's normal form, in which flash_attn and Flash-Attn are one, as is "Flash Attn" in a sentence.
func normalPackage(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "-", ".", "-", " ", "-").Replace(name))
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

// Known is Fact with an error that says what was probably meant.
func (v *Vocabulary) Known(name string) (Info, error) {
	info, ok := v.Fact(name)
	if ok {
		return info, nil
	}
	if near := spelling.Nearest(name, v.names); near != "" {
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
