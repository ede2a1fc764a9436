package rules

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// libraryFile is the form of a file in backends/<library>/. The files of one folder make one library; rules stand in the order of the
// files' names.
type libraryFile struct {
	Library  Text               `yaml:"library"`
	Title    string             `yaml:"title"`
	Version  Text               `yaml:"version"`
	Source   string             `yaml:"source"`
	Releases []Text             `yaml:"releases"`
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

type backendEntry struct {
	Name     Text           `yaml:"name"`
	Reports  string         `yaml:"reports"`
	Loses    string         `yaml:"loses"`
	Variants []variantEntry `yaml:"variants"`
}

type variantEntry struct {
	Name     Text              `yaml:"name"`
	As       string            `yaml:"as"` // name for "still left when this rule is asked"
	Versions Text              `yaml:"versions"`
	When     *yaml.Node        `yaml:"when"`
	Reports  *yaml.Node        `yaml:"reports"`
	Passes   map[string]string `yaml:"passes"` // name -> filter: no rule of the filter takes exactly this variant out
}

type preferEntry struct {
	ID       Text       `yaml:"id"`
	Versions Text       `yaml:"versions"`
	First    *yaml.Node `yaml:"first"`
	Over     *yaml.Node `yaml:"over"`
	When     *yaml.Node `yaml:"when"`
	Because  string     `yaml:"because"`
	Message  string     `yaml:"message"`
	Source   string     `yaml:"source"`
}

type factUse struct {
	Type    Text       `yaml:"type"`
	About   string     `yaml:"about"`
	Ask     string     `yaml:"ask"`
	Values  *yaml.Node `yaml:"values"`
	Least   int        `yaml:"least"`
	Digits  int        `yaml:"digits"`
	Same    string     `yaml:"same"`
	Since   Text       `yaml:"since"`
	Default Text       `yaml:"default"`
	Assume  *yaml.Node `yaml:"assume"`
	Usual   *yaml.Node `yaml:"usual"`
	Unknown []string   `yaml:"unknown_members"`
}

type ruleEntry struct {
	ID       Text       `yaml:"id"`
	Off      *yaml.Node `yaml:"off"`
	Versions Text       `yaml:"versions"`
	Filter   Text       `yaml:"filter"`
	When     *yaml.Node `yaml:"when"`
	Requires *yaml.Node `yaml:"requires"`
	Because  Text       `yaml:"because"`
	Message  *yaml.Node `yaml:"message"`
	Note     string     `yaml:"note"`
	Tells    *yaml.Node `yaml:"tells"`
	Silent   *yaml.Node `yaml:"silent"`
	Source   *yaml.Node `yaml:"source"`
}

// LoadLibraries reads the backend rules of knowledge bases, from backends/<library>/*.yaml; a library of a later one replaces the
// earlier one of its name. The error is Problems: every mistake of every file.
func LoadLibraries(v *Vocabulary, layers ...fs.FS) ([]*Library, error) {
	byName := make(map[string]*Library)
	var problems Problems
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

func loadLibrary(v *Vocabulary, layer fs.FS, folder string) (*Library, Problems, error) {
	names, err := fs.Glob(layer, path.Join(folder, "*.yaml"))
	if err != nil || len(names) == 0 {
		return nil, nil, err
	}
	b := &libraryBuilder{decoder: &decoder{}, vocabulary: v, library: &Library{}, states: make(map[string]int)}
	for _, name := range names {
		content, err := fs.ReadFile(layer, name)
		if err != nil {
			return nil, nil, fmt.Errorf("reading backend rules: %w", err)
		}
		b.file = name
		file, _ := decode[libraryFile](b.decoder, content)
		b.files = append(b.files, named{name, file})
	}
	if len(b.problems) == 0 {
		b.build()
	}
	if len(b.problems) > 0 {
		return nil, b.problems, nil
	}
	return b.library, nil, nil
}

type named struct {
	name string
	libraryFile
}

// libraryBuilder makes a library out of its files.
type libraryBuilder struct {
	*decoder
	vocabulary *Vocabulary
	files      []named
	library    *Library
	filters    []string
	messages   map[string]string
	states     map[string]int // name -> variant whose being left it tells
}

func (b *libraryBuilder) build() {
	steps := []func(){b.head, b.declareFacts, b.declareBackends, b.define, b.compileRules, b.compileBackends, b.indexRules, b.compileTrail, b.compileLevers, b.finish}
	for _, step := range steps {
		if step(); len(b.problems) > 0 {
			return
		}
	}
}

// each calls f for every file, so that problems name the right one.
func (b *libraryBuilder) each(f func(libraryFile)) {
	for _, file := range b.files {
		b.file = file.name
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
			b.problem(f.Library.Line, f.Library.Column, "the library has a name in another file, too")
		}
		l.Name, l.Title, l.version, l.source, l.Ask = f.Library.Value, f.Title, f.Version.Value, f.Source, f.Trail.Ask
		b.filters, b.messages = f.Filters, f.Messages
		for _, r := range f.Releases {
			v, err := ParseVersion(r.Value)
			if err != nil {
				b.problem(r.Line, r.Column, "%v", err)
			}
			l.releases = append(l.releases, release{version: v})
		}
	})
	if l.Name == "" || len(l.releases) == 0 || len(l.releases) > 100 {
		b.problem(1, 1, "one file of the folder must hold library:, version: and releases: (at most 100)")
	}
}

func (b *libraryBuilder) declareFacts() {
	l := b.library
	l.scope, l.bySlot, l.byName = NewScope(), make(map[int]int), make(map[string]int)
	b.each(func(f libraryFile) {
		for _, name := range sortedKeys(f.Facts) {
			b.declareFact(name, f.Facts[name])
		}
	})
	b.each(func(f libraryFile) {
		for name, use := range f.Facts {
			if use.Same == "" {
				continue
			}
			same, ok := l.byName[use.Same]
			if !ok {
				b.problem(1, 1, "%s: there is no fact %s", name, use.Same)
			}
			l.facts[l.byName[name]].same = same
		}
	})
	if len(l.facts) > maxFacts {
		b.problem(1, 1, "a library reads at most %d facts", maxFacts)
	}
	if _, ok := l.byName[l.version]; !ok {
		b.problem(1, 1, "the fact %q that holds the version is not among facts:", l.version)
	}
	l.now = b.hidden("release", Shape{Type: Number}, nil)
}

func (b *libraryBuilder) declareFact(name string, use factUse) {
	l := b.library
	info, ok := b.vocabulary.Fact(name)
	if use.Type.Value != "" {
		t, known := typeNamed(use.Type.Value)
		if !known || ok && t != info.Type {
			b.problem(use.Type.Line, use.Type.Column, "%s cannot be a %s", name, use.Type.Value)
		}
		if !ok {
			info, ok = FactInfo{Name: name, Type: t, About: use.About, Ask: use.Ask}, true
		}
	}
	if !ok {
		b.problem(1, 1, "%s is no fact of the vocabulary; give it a type: here", name)
		return
	}
	if _, twice := l.byName[name]; twice {
		b.problem(1, 1, "the fact %s stands in two files", name)
		return
	}
	if err := l.scope.Declare(name, Shape{Type: info.Type}); err != nil {
		b.problem(1, 1, "%v", err)
		return
	}
	fact := libraryFact{FactInfo: info, slot: l.scope.index[name], least: float64(use.Least), digits: use.Digits, same: -1, unknown: use.Unknown}
	fact.values = parts(b, use.Values, b.all(), func(n *yaml.Node) []Value { return b.values(n, info.Type) })
	if use.Assume != nil {
		fact.assumed = b.values(list(use.Assume), info.Type)[0]
	}
	if use.Usual != nil {
		fact.usual = append(fact.usual, b.values(list(use.Usual), info.Type)...)
	}
	fact.since = b.since(use.Since)
	l.byName[name], l.bySlot[fact.slot] = len(l.facts), len(l.facts)
	l.facts = append(l.facts, fact)
}

// values reads a list of constants of one type.
func (b *libraryBuilder) values(n *yaml.Node, want Type) []Value {
	var decoded []any
	if err := n.Decode(&decoded); err != nil {
		b.problem(n.Line, n.Column, "a list of values is needed here: %v", err)
	}
	values := make([]Value, 0, len(decoded)+1)
	for _, item := range decoded {
		v, err := FromJSON(plain(item), want)
		if err != nil {
			b.problem(n.Line, n.Column, "%v", err)
		}
		values = append(values, v)
	}
	return values
}

// list is a list of one node.
func list(n *yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{n}, Line: n.Line, Column: n.Column}
}

// plain turns what yaml decodes into what encoding/json would.
func plain(value any) any {
	switch v := value.(type) {
	case int:
		return float64(v)
	case []any:
		items := make([]any, len(v))
		for i, item := range v {
			items[i] = plain(item)
		}
		return items
	case map[string]any:
		members := make(map[string]any, len(v))
		for name, m := range v {
			members[name] = plain(m)
		}
		return members
	}
	return value
}

func (b *libraryBuilder) since(t Text) int {
	if t.Value == "" {
		return 0
	}
	v, err := ParseVersion(t.Value)
	if err != nil {
		b.problem(t.Line, t.Column, "%v", err)
	}
	i, ok := b.library.release(v)
	if !ok {
		b.problem(t.Line, t.Column, "%s is none of the releases", t.Value)
	}
	return i
}

// hidden adds a slot that rule files cannot name, with a value computed by eval when there is one.
func (b *libraryBuilder) hidden(name string, shape Shape, eval func(*Situation) Value) int {
	s := b.library.scope
	i := len(s.slots)
	s.index[" "+name] = i
	s.slots = append(s.slots, slot{name: name, shape: shape, hidden: true})
	if eval != nil {
		s.slots[i].defined = &Expression{source: name, root: &node{shape: shape, slot: -1, eval: eval}}
	}
	return i
}

// now is the index of the situation's release.
func (l *Library) at(s *Situation) int { return int(s.values[l.now].number) }

// rangeOf is the releases of a range, as a set of indices.
func (b *libraryBuilder) rangeOf(t Text) []bool {
	set := make([]bool, len(b.library.releases))
	r, err := parseRange(t.Value)
	if err != nil {
		b.problem(t.Line, t.Column, "%v", err)
	}
	for i := range set {
		set[i] = r.has(b.library.releases[i].version)
	}
	return set
}

// parts reads a node that is either one thing for all releases or a mapping from ranges to things.
func parts[T any](b *libraryBuilder, n *yaml.Node, within []bool, read func(*yaml.Node) T) ranged[T] {
	r := ranged[T]{of: slices.Repeat([]int8{-1}, len(b.library.releases))}
	if n == nil {
		return r
	}
	add := func(value *yaml.Node, set []bool) {
		r.parts = append(r.parts, read(value))
		for i := range set {
			if !set[i] || !within[i] {
				continue
			}
			if r.of[i] >= 0 {
				b.problem(value.Line, value.Column, "two entries hold for release %s", b.library.releases[i].version)
			}
			r.of[i] = int8(len(r.parts) - 1)
		}
	}
	if n.Kind != yaml.MappingNode {
		add(n, within)
		return r
	}
	b.pairs(n, func(key, value *yaml.Node) { add(value, b.rangeOf(place(key))) })
	return r
}

// conditions reads one condition or a list of them.
func (b *libraryBuilder) conditions(n *yaml.Node) []*Expression {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	var list []*Expression
	for _, item := range items {
		if !b.scalar(item, "a condition") {
			continue
		}
		if e := b.compile(b.library.scope, place(item), true); e != nil {
			list = append(list, e)
		}
	}
	return list
}

func (b *libraryBuilder) text(n *yaml.Node) string {
	if !b.scalar(n, "a text") {
		return ""
	}
	return n.Value
}

func (b *libraryBuilder) all() []bool { return slices.Repeat([]bool{true}, len(b.library.releases)) }

func sortedKeys[T any](m map[string]T) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// definition is one name that is computed, in the order in which names need each other.
type definition struct {
	name   string
	file   string
	node   *yaml.Node
	placed bool
}

// define adds the computed names. They may need each other in any order, so those whose names are missing wait for the others.
func (b *libraryBuilder) define() {
	var waiting []*definition
	for _, file := range b.files {
		b.file = file.name
		if file.Define == nil {
			continue
		}
		b.pairs(file.Define, func(key, value *yaml.Node) {
			waiting = append(waiting, &definition{name: key.Value, file: file.name, node: value})
		})
	}
	defined := make(map[string]*definition)
	for _, d := range waiting {
		if b.file = d.file; defined[d.name] != nil || b.library.scope.Has(d.name) {
			b.problem(d.node.Line, d.node.Column, "%s is defined already", d.name)
		}
		defined[d.name] = d
	}
	var place func(d *definition, depth int)
	place = func(d *definition, depth int) {
		if d.placed || depth > len(waiting) {
			return
		}
		d.placed = true
		for _, name := range wordsOf(d.node) {
			if needed := defined[name]; needed != nil && needed != d {
				place(needed, depth+1)
			}
		}
		b.file = d.file
		b.defineOne(d.name, d.node)
	}
	for _, d := range waiting {
		place(d, 0)
	}
}

// wordsOf are the words in the expressions of a node, among them the names that they use.
func wordsOf(n *yaml.Node) []string {
	if n.Kind == yaml.ScalarNode {
		return strings.FieldsFunc(n.Value, func(r rune) bool {
			return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
		})
	}
	var words []string
	for _, kid := range n.Content {
		words = append(words, wordsOf(kid)...)
	}
	return words
}

func (b *libraryBuilder) defineOne(name string, n *yaml.Node) {
	l := b.library
	if n.Kind == yaml.ScalarNode {
		t := place(n)
		e := b.compile(l.scope, t, false)
		if e != nil {
			l.scope.index[name] = len(l.scope.slots)
			l.scope.slots = append(l.scope.slots, slot{name: name, shape: e.root.shape, defined: e})
		}
		return
	}
	choice := parts(b, n, b.all(), func(value *yaml.Node) *Expression {
		if !b.scalar(value, "an expression") {
			return nil
		}
		return b.compile(l.scope, place(value), false)
	})
	if len(b.problems) > 0 || len(choice.parts) == 0 {
		return
	}
	root := &node{shape: choice.parts[0].root.shape, slot: -1}
	for _, part := range choice.parts {
		root.kids = append(root.kids, part.root)
		if part.root.shape.Type != root.shape.Type {
			root.shape = Shape{}
		}
	}
	root.choose = func(s *Situation) *node {
		if part, ok := choice.at(l.at(s)); ok {
			return part.root
		}
		return nothing
	}
	root.eval = func(s *Situation) Value { return root.choose(s).eval(s) }
	l.scope.index[name] = len(l.scope.slots)
	l.scope.slots = append(l.scope.slots, slot{name: name, shape: root.shape, defined: &Expression{source: name, root: root}})
}

// nothing stands where a release has no definition of a name.
var nothing = constant(Nil)

func (b *libraryBuilder) declareBackends() {
	l := b.library
	b.each(func(f libraryFile) {
		for _, entry := range f.Backends {
			one := backend{name: entry.Name.Value, first: len(l.variants), reports: entry.Reports, loses: entry.Loses}
			if len(entry.Variants) == 0 {
				entry.Variants = []variantEntry{{}}
			}
			for _, v := range entry.Variants {
				b.declareVariant(len(l.backends), v)
			}
			one.last = len(l.variants)
			l.backends = append(l.backends, one)
		}
	})
	if len(l.variants) == 0 || len(l.variants) > maxVariants || len(l.backends) > maxBackends {
		b.problem(1, 1, "a library has 1 to %d backends with together at most %d variants", maxBackends, maxVariants)
	}
}

func (b *libraryBuilder) declareVariant(backend int, entry variantEntry) {
	l := b.library
	at := len(l.variants)
	l.variants = append(l.variants, variant{name: entry.Name.Value, backend: backend})
	if entry.As != "" {
		b.states[entry.As] = at
	}
	for _, name := range sortedKeys(entry.Passes) {
		filter := slices.Index(b.filters, entry.Passes[name])
		if filter < 0 {
			b.problem(entry.Name.Line, entry.Name.Column, "there is no filter %q", entry.Passes[name])
		}
		b.hidden(name, Shape{Type: Bool}, func(s *Situation) Value { return l.passes(s, at, filter) })
		l.scope.index[name] = len(l.scope.slots) - 1
		l.scope.slots[len(l.scope.slots)-1].hidden = false
	}
}

// compileBackends reads what needs the definitions: when variants exist, what they report, and the preferences.
func (b *libraryBuilder) compileBackends() {
	l, at := b.library, 0
	b.each(func(f libraryFile) {
		for _, entry := range f.Backends {
			for _, v := range entry.Variants {
				within := b.rangeOf(v.Versions)
				if v.When != nil {
					l.variants[at].when = parts(b, v.When, within, b.conditions)
				} else {
					l.variants[at].when = b.always(within)
				}
				l.variants[at].reports = parts(b, v.Reports, within, func(n *yaml.Node) *Expression {
					return b.compile(l.scope, place(n), false)
				})
				at++
			}
			if len(entry.Variants) == 0 {
				l.variants[at].when = b.always(b.all())
				at++
			}
		}
		for _, p := range f.Prefer {
			b.compilePreference(p)
		}
	})
}

// always is a list without conditions, for the releases of a set.
func (b *libraryBuilder) always(within []bool) ranged[[]*Expression] {
	return parts(b, &yaml.Node{Kind: yaml.SequenceNode}, within, b.conditions)
}

func (b *libraryBuilder) compilePreference(entry preferEntry) {
	within := b.rangeOf(entry.Versions)
	p := preference{id: entry.ID.Value, because: entry.Because, message: entry.Message, source: entry.Source}
	p.first, _ = b.targets(entry.First)
	p.over, _ = b.targets(entry.Over)
	if entry.When != nil {
		p.when = parts(b, entry.When, within, b.conditions)
	} else {
		p.when = b.always(within)
	}
	if p.source == "" || p.because == "" {
		b.problem(entry.ID.Line, entry.ID.Column, "%s needs because: and source:", p.id)
	}
	b.library.prefer = append(b.library.prefer, p)
}

// targets reads names of backends and variants: FlashAttention, [FusedAttention/0, FusedAttention/1].
func (b *libraryBuilder) targets(n *yaml.Node) (variants []int, whole bool) {
	if n == nil {
		b.problem(1, 1, "a rule must say what it takes out: off:")
		return nil, false
	}
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	for _, item := range items {
		name, number, chosen := strings.Cut(item.Value, "/")
		found := false
		for i, v := range b.library.variants {
			if b.library.backends[v.backend].name == name && (!chosen || v.name == number) {
				variants, found = append(variants, i), true
			}
		}
		if !found {
			b.problem(item.Line, item.Column, "there is no backend or variant %q", item.Value)
		}
		whole = !chosen
	}
	return variants, whole
}

func (b *libraryBuilder) compileRules() {
	type placed struct {
		file  string
		entry ruleEntry
	}
	var entries []placed
	b.each(func(f libraryFile) {
		for _, entry := range f.Rules {
			if !slices.Contains(b.filters, entry.Filter.Value) {
				b.problem(entry.Filter.Line, entry.Filter.Column, "the filter %q is not in the list filters:", entry.Filter.Value)
			}
			entries = append(entries, placed{b.file, entry})
		}
	})
	slices.SortStableFunc(entries, func(x, y placed) int {
		return slices.Index(b.filters, x.entry.Filter.Value) - slices.Index(b.filters, y.entry.Filter.Value)
	})
	ids := make(map[string]bool)
	for _, p := range entries {
		b.file = p.file
		if ids[p.entry.ID.Value] || p.entry.ID.Value == "" {
			b.problem(p.entry.ID.Line, p.entry.ID.Column, "every rule needs an id of its own, %q is not", p.entry.ID.Value)
		}
		ids[p.entry.ID.Value] = true
		b.compileRule(p.entry)
	}
}

func (b *libraryBuilder) compileRule(entry ruleEntry) {
	l := b.library
	releases := b.rangeOf(entry.Versions)
	r := &rule{id: entry.ID.Value, because: entry.Because.Value, note: entry.Note, place: Problem{File: b.file, Line: entry.ID.Line, Column: entry.ID.Column}}
	r.filter = slices.Index(b.filters, entry.Filter.Value)
	if r.because == "" || entry.Source == nil || entry.When == nil && entry.Requires == nil {
		b.problem(entry.ID.Line, entry.ID.Column, "%s needs because:, source: and when: or requires:", r.id)
		return
	}
	r.off = parts(b, entry.Off, releases, func(n *yaml.Node) []int { v, _ := b.targets(n); return v })
	r.whole = parts(b, entry.Off, releases, func(n *yaml.Node) bool { _, whole := b.targets(n); return whole })
	b.declareStates(len(l.rules))
	r.when = parts(b, entry.When, releases, b.conditions)
	r.requires = parts(b, entry.Requires, releases, b.conditions)
	for name := range b.states {
		delete(l.scope.index, name)
	}
	r.message = parts(b, entry.Message, releases, b.text)
	if message := b.messages[entry.Filter.Value]; entry.Message == nil && message != "" {
		r.message = parts(b, &yaml.Node{Kind: yaml.ScalarNode, Value: message}, releases, b.text)
	}
	r.source = parts(b, entry.Source, releases, b.text)
	r.tells = within(b, entry.Tells, releases, b.constants)
	r.silent = within(b, entry.Silent, releases, b.constants)
	r.index = len(l.rules)
	for _, n := range r.nodes() {
		for i, set := range l.factsOf(&Expression{root: n}) {
			r.reads[i] |= set
		}
	}
	l.rules = append(l.rules, r)
}

// declareStates gives the names of variants the meaning "no earlier rule took exactly this variant out".
func (b *libraryBuilder) declareStates(before int) {
	l := b.library
	for _, name := range sortedKeys(b.states) {
		at := b.states[name]
		slot := b.hidden(name+" before rule "+strconv.Itoa(before), Shape{Type: Bool}, func(s *Situation) Value { return l.left(s, at, before) })
		l.scope.slots[slot].defined.root.kids = b.taking(at, before)
		l.scope.slots[slot].hidden = false
		l.scope.index[name] = slot
	}
}

// taking are the conditions of the first rules that can take a variant out.
func (b *libraryBuilder) taking(variant, before int) []*node {
	var nodes []*node
	for _, r := range b.library.rules[:before] {
		if slices.ContainsFunc(r.off.parts, func(targets []int) bool { return slices.Contains(targets, variant) }) {
			nodes = append(nodes, r.nodes()...)
		}
	}
	return nodes
}

// constants reads a mapping from facts to their values.
func (b *libraryBuilder) constants(n *yaml.Node) map[int]Value {
	values := make(map[int]Value)
	if n == nil {
		return values
	}
	b.pairs(n, func(key, value *yaml.Node) {
		fact, ok := b.library.byName[key.Value]
		if !ok {
			b.problem(key.Line, key.Column, "%s is none of the library's facts", key.Value)
			return
		}
		values[fact] = b.values(list(value), b.library.facts[fact].Type)[0]
	})
	return values
}

// within is parts for a thing that is a mapping itself, and holds for all releases of a rule unless its keys are ranges.
func within[T any](b *libraryBuilder, n *yaml.Node, releases []bool, read func(*yaml.Node) T) ranged[T] {
	if n != nil && n.Kind == yaml.MappingNode && len(n.Content) > 0 && !strings.ContainsAny(n.Content[0].Value[:1], "<>=!") {
		n = list(n)
	}
	return parts(b, n, releases, func(n *yaml.Node) T {
		if n.Kind == yaml.SequenceNode {
			n = n.Content[0]
		}
		return read(n)
	})
}

func (r *rule) nodes() []*node {
	var nodes []*node
	for _, lists := range [][][]*Expression{r.when.parts, r.requires.parts} {
		for _, list := range lists {
			for _, e := range list {
				nodes = append(nodes, e.root)
			}
		}
	}
	return nodes
}

// indexRules lists, for each release, the rules that hold in it.
func (b *libraryBuilder) indexRules() {
	l := b.library
	for i := range l.releases {
		release := &l.releases[i]
		release.byVariant = make([][]*rule, len(l.variants))
		for _, r := range l.rules {
			off, ok := r.off.at(i)
			if !ok {
				continue
			}
			if _, ok := r.source.at(i); !ok {
				b.file = r.place.File
				b.problem(r.place.Line, r.place.Column, "%s holds in release %s but names no source for it", r.id, release.version)
			}
			release.rules = append(release.rules, r)
			for _, v := range off {
				release.byVariant[v] = append(release.byVariant[v], r)
			}
		}
	}
}
