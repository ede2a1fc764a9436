package backend

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/fact"
	"github.com/gpu-triage/triage/rules/rulefile"
)

// libraryFile is the form of a file in backends/<library>/. The files of one folder make one library; rules stand in the order of the
// files' names.
type libraryFile struct {
	Library      rulefile.Text      `yaml:"library"`
	Title        string             `yaml:"title"`   // what people call it
	Version      rulefile.Text      `yaml:"version"` // the fact that holds the release
	Source       string             `yaml:"source"`
	Releases     []rulefile.Text    `yaml:"releases"`
	Checked      []rulefile.Text    `yaml:"checked"`  // the releases whose own code was run beside the rules; the others were read
	Patches      []rulefile.Text    `yaml:"patches"`  // releases that were checked and decide as the last of releases: before them
	Filters      []string           `yaml:"filters"`  // the stages of the choice, in their order
	Messages     map[string]string  `yaml:"messages"` // filter -> what its rules print
	Backends     []backendEntry     `yaml:"backends"`
	Prefer       []preferEntry      `yaml:"prefer"`
	Asks         *rulefile.Node     `yaml:"asks"`  // an expression: the backend that is asked for
	Order        []orderEntry       `yaml:"order"` // in which backends are tried when none is asked for
	SelectionLog selectionLogEntry  `yaml:"selection_log"`
	Facts        map[string]factUse `yaml:"facts"`
	Tables       []tableEntry       `yaml:"tables"` // what facts are for a name and a release
	Define       *rulefile.Node     `yaml:"define"`
	Rules        []ruleEntry        `yaml:"rules"`
	Levers       []leverEntry       `yaml:"levers"`
	Calls        []callEntry        `yaml:"calls"` // how what is called differs from what was selected for
}

// Load reads the backend rules of knowledge bases, from backends/<library>/*.yaml; a library of a later one replaces the earlier one of
// its name. The error is rulefile.Problems (every mistake of every file) or one of reading files.
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
				return nil, fmt.Errorf("reading backend rules: %w", err)
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
	return slices.SortedFunc(maps.Values(byName), func(a, b *Library) int { return cmp.Compare(a.Name, b.Name) }), nil
}

// LoadLibrary is Load for the one library of that name, which is nil where there is none. The others are not read.
func LoadLibrary(v *fact.Vocabulary, name string, layers ...fs.FS) (*Library, error) {
	for _, layer := range slices.Backward(layers) {
		l, problems, err := loadLibrary(v, layer, path.Join("backends", name))
		if err != nil {
			return nil, fmt.Errorf("reading backend rules: %w", err)
		}
		if len(problems) > 0 {
			return nil, problems
		}
		if l != nil {
			return l, nil
		}
	}
	return nil, nil
}

// LibraryNames are the names of all libraries, sorted. A library is named as its folder is.
func LibraryNames(layers ...fs.FS) ([]string, error) {
	var names []string
	for _, layer := range layers {
		folders, err := fs.Glob(layer, "backends/*")
		if err != nil {
			return nil, err
		}
		for _, folder := range folders {
			names = append(names, path.Base(folder))
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// loadLibrary reads a folder; without a library in it, it returns nil.
func loadLibrary(v *fact.Vocabulary, layer fs.FS, folder string) (*Library, rulefile.Problems, error) {
	names, err := fs.Glob(layer, path.Join(folder, "*.yaml"))
	if err != nil || len(names) == 0 {
		return nil, nil, err
	}
	b := newBuilder(v)
	b.layer = layer
	for _, name := range names {
		content, err := fs.ReadFile(layer, name)
		if err != nil {
			return nil, nil, err
		}
		b.File = name
		file, _ := rulefile.Read[libraryFile](b.Decoder, content)
		b.files = append(b.files, namedFile{name, file})
	}
	b.build()
	if len(b.Problems) > 0 {
		return nil, b.Problems, nil
	}
	return b.library, nil, nil
}

type namedFile struct {
	name string
	libraryFile
}

// builder makes a library out of its files.
type builder struct {
	reader
	vocabulary *fact.Vocabulary
	layer      fs.FS
	files      []namedFile
	version    string // the fact that holds the library's release
	filters    []string
	messages   map[string]string
	leftNames  map[string]int // name -> the variant of which it tells, in a rule, whether the rules before left it
	passes     []passing
	defined    []*condition.Expression
}

func newBuilder(v *fact.Vocabulary) *builder {
	l := &Library{scope: condition.NewScope(), byName: make(map[string]int)}
	return &builder{reader: reader{&rulefile.Decoder{}, l}, vocabulary: v, leftNames: make(map[string]int)}
}

// build takes the files' parts in the order in which they need each other. It stops after the first step with mistakes, since what
// follows would only complain of what is missing.
func (b *builder) build() {
	facts, backends, rules := factLoader{b}, backendLoader{b}, ruleLoader{b}
	steps := []func(){
		b.head, facts.declare, tableLoader{b}.compile, backends.declare, definitionLoader{b}.define, rules.compile, backends.linkPasses, backends.compile, orderLoader{b}.compile,
		rules.index, logLoader{b}.compile, leverLoader{b}.compile, callLoader{b}.compile, b.noteComparisons,
	}
	for _, step := range steps {
		if len(b.Problems) > 0 {
			return
		}
		step()
	}
}

// each calls f for every file, so that problems name the right one.
func (b *builder) each(f func(libraryFile)) {
	for _, file := range b.files {
		b.File = file.name
		f(file.libraryFile)
	}
}

func (b *builder) head() {
	const maxReleases = 100
	l := b.library
	b.each(func(f libraryFile) {
		if f.Library.Value == "" {
			return
		}
		if l.Name != "" {
			b.Problem(f.Library.Line, f.Library.Column, "the library has a name in another file, too")
		}
		l.Name, l.Title, l.source, l.ask = f.Library.Value, cmp.Or(f.Title, f.Library.Value), f.Source, f.SelectionLog.Ask
		b.version, b.filters, b.messages = f.Version.Value, f.Filters, f.Messages
		for _, r := range f.Releases {
			l.releases = append(l.releases, release{version: b.parseVersion(r)})
		}
		for _, r := range f.Patches {
			l.patches = append(l.patches, b.parseVersion(r))
		}
		b.markChecked(f.Checked)
	})
	if folder := path.Base(path.Dir(b.File)); l.Name != "" && l.Name != folder {
		b.Problem(1, 1, "the library %s must be in a folder of its name, not in %s", l.Name, folder)
	}
	if l.Name == "" || len(l.releases) == 0 || len(l.releases) > maxReleases {
		b.Problem(1, 1, "one file of the folder must hold library:, version: and releases: (at most %d)", maxReleases)
	}
}

// markChecked notes which releases were compared with the library's own code.
func (b *builder) markChecked(releases []rulefile.Text) {
	for _, r := range releases {
		v, err := condition.ParseVersion(r.Value)
		i := slices.IndexFunc(b.library.releases, func(known release) bool { return err == nil && known.version.Compare(v) == 0 })
		if i < 0 {
			b.Problem(r.Line, r.Column, "%s is none of releases:", r.Value)
			continue
		}
		b.library.releases[i].checked = true
	}
}

func (b *builder) parseVersion(t rulefile.Text) condition.Version {
	v, err := condition.ParseVersion(t.Value)
	if err != nil {
		b.Problem(t.Line, t.Column, "%v", err)
	}
	return v
}

// noteComparisons collects, for every fact, what the expressions compare it with: from that, values are chosen when the fact is missing.
func (b *builder) noteComparisons() {
	l := b.library
	for _, e := range b.defined {
		b.noteComparisonsOf(e)
	}
	for _, r := range l.rules {
		for _, e := range r.conditions() {
			b.noteComparisonsOf(e)
		}
	}
	for _, o := range l.orders {
		for _, e := range slices.Concat(o.when.parts...) {
			b.noteComparisonsOf(e)
		}
	}
	for i := range l.facts {
		c := &l.facts[i].compared
		slices.Sort(c.numbers)
		slices.Sort(c.divisors)
		c.numbers, c.divisors = slices.Compact(c.numbers), slices.Compact(c.divisors)
		slices.SortStableFunc(c.texts, func(x, y condition.Value) int { order, _ := condition.Compare(x, y); return order })
		c.texts = distinct(c.texts)
	}
}

func (b *builder) noteComparisonsOf(e *condition.Expression) {
	for _, comparison := range e.Comparisons() {
		for _, name := range comparison.Names {
			if i, ok := b.library.byName[name]; ok {
				b.library.facts[i].compareWith(comparison)
			}
		}
	}
}

// compareWith takes the constants of a comparison in which the fact stands.
func (f *libraryFact) compareWith(comparison condition.Comparison) {
	if comparison.Operator == "%" {
		for _, n := range comparison.Numbers {
			if n >= 1 {
				f.compared.divisors = append(f.compared.divisors, n)
			}
		}
	} else {
		f.compared.numbers = append(f.compared.numbers, comparison.Numbers...)
	}
	ofParts := slices.Contains([]string{"contains", "startsWith", "endsWith"}, comparison.Operator)
	if f.Type != condition.VersionType && (f.Type != condition.String || ofParts) {
		return
	}
	for _, text := range comparison.Texts {
		if value, err := condition.FromText(text, f.Type); err == nil {
			f.compared.texts = append(f.compared.texts, value)
		}
	}
}

func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
