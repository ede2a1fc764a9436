package rules

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"
)

//go:embed facts.yaml xid.yaml all:failures backends
var shipped embed.FS

// Shipped is the knowledge base that comes with the program.
func Shipped() fs.FS { return shipped }

// Base is a loaded knowledge base. It does not change, so that it may be shared by many diagnoses at once.
type Base struct {
	Vocabulary *Vocabulary
	Scope      *Scope   // of signatures: facts, captures and what is known of an event
	Entries    []*Entry // of the signatures, sorted by their ids
	Xids       *XidCatalogue

	precedence precedence
	libraries  func() ([]*Library, error) // read when first asked for: most failures need none
}

// Libraries are the libraries whose backend rules are known. The error is Problems.
func (b *Base) Libraries() ([]*Library, error) { return b.libraries() }

// Library is the library of that name, or nil. The error is Problems.
func (b *Base) Library(name string) (*Library, error) {
	libraries, err := b.libraries()
	for _, l := range libraries {
		if l.Name == name {
			return l, err
		}
	}
	return nil, err
}

// vocabularyFile is the one file of a knowledge base that is not a signature or a library.
const vocabularyFile = "facts.yaml"

// Load reads knowledge bases, a later one adding to the earlier and replacing what has the same id. The error is Problems: every
// mistake of every file.
func Load(layers ...fs.FS) (*Base, error) { return load(nil, layers) }

// Open is Load for a program that is to start at once: what was shipped is known to have no mistakes, and a signature of it is read
// when it is first asked for.
func Open(layers ...fs.FS) (*Base, error) { return load(shippedIndex, layers) }

func load(known []byte, layers []fs.FS) (*Base, error) {
	if len(layers) == 0 {
		layers = []fs.FS{Shipped()}
	}
	x, err := readIndex(known)
	if err != nil {
		return nil, err
	}
	d := &decoder{file: vocabularyFile}
	v, err := d.vocabulary(layers[0], x)
	if err != nil {
		return nil, fmt.Errorf("the knowledge base has no vocabulary: %w", err)
	}
	b := &Base{Vocabulary: v}
	x.under(b.Vocabulary)
	b.libraries = sync.OnceValues(func() ([]*Library, error) { return LoadLibraries(b.Vocabulary, layers...) })
	l := newSignatures(d, b.Vocabulary)
	b.Scope, l.index = l.scope, x
	byID := make(map[string]*Entry)
	for _, layer := range layers {
		if content, err := fs.ReadFile(layer, xidFile); err == nil {
			b.Xids = d.catalogue(content, l.index.of(layer, xidFile))
		}
		if err := l.layer(layer, byID); err != nil {
			return nil, err
		}
	}
	l.explained(byID)
	b.precedence = l.precedence(byID)
	b.Entries = slices.SortedFunc(maps.Values(byID), func(a, b *Entry) int { return strings.Compare(a.ID, b.ID) })
	if len(d.problems) > 0 {
		slices.SortStableFunc(d.problems, func(a, b Problem) int {
			return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
		return nil, d.problems
	}
	return b, nil
}

// explained refuses to explain a signature that is not there.
func (l *signatures) explained(byID map[string]*Entry) {
	for _, e := range byID {
		for _, id := range e.Explains {
			if byID[id] == nil {
				l.file = e.place.File
				l.problem(e.place.Line, e.place.Column, "explains: there is no signature %s", id)
			}
		}
	}
}

// layer reads the signatures of one knowledge base.
func (l *signatures) layer(files fs.FS, byID map[string]*Entry) error {
	known := l.index
	if files != Shipped() { // others may change while the program runs
		known = nil
	}
	drafts, err := readDrafts(files, known)
	if err != nil {
		return fmt.Errorf("reading rules: %w", err)
	}
	here := make(map[string]bool)
	for i := range drafts {
		l.file = drafts[i].name
		e := l.entry(files, &drafts[i])
		if e == nil {
			continue
		}
		if e.ID != strings.TrimSuffix(path.Base(l.file), path.Ext(l.file)) {
			l.problem(e.place.Line, e.place.Column, "the id %q is not the file's name", e.ID)
		}
		if here[e.ID] {
			l.problem(e.place.Line, e.place.Column, "the id %q stands in %s too", e.ID, byID[e.ID].place.File)
		}
		here[e.ID] = true
		byID[e.ID] = e
	}
	return nil
}

// entry is what a file has to say at first; nil means that problems were noted.
func (l *signatures) entry(files fs.FS, f *draft) *Entry {
	if f.known != nil {
		return l.known(files, f.known)
	}
	s := l.signature(f)
	if s == nil {
		return nil
	}
	return newEntry(s, l.scope)
}

// draft is a signature's file as it was read, before its expressions are compiled.
type draft struct {
	name     string
	known    *indexed // when the index tells enough, and the rest is missing
	file     *signatureFile
	root     *yaml.Node // nil when the file could not be read as YAML
	problems Problems
}

// readDrafts reads all signature files below a folder, several at a time: reading YAML is most of the work of loading.
func readDrafts(files fs.FS, known *index) ([]draft, error) {
	var drafts []draft
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name == "backends":
			return fs.SkipDir
		case entry.IsDir() || name == vocabularyFile || name == xidFile || path.Ext(name) != ".yaml" && path.Ext(name) != ".yml":
			return nil
		}
		drafts = append(drafts, draft{name: name})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return drafts, onAllProcessors(len(drafts), func(i int) error { return drafts[i].read(files, known) })
}

// onAllProcessors calls f with the numbers below n, on each processor until it fails there.
func onAllProcessors(n int, f func(i int) error) error {
	workers := runtime.GOMAXPROCS(0)
	failures := make([]error, workers)
	var done sync.WaitGroup
	for w := range workers {
		done.Go(func() {
			for i := w; i < n && failures[w] == nil; i += workers {
				failures[w] = f(i)
			}
		})
	}
	done.Wait()
	return errors.Join(failures...)
}

func (f *draft) read(files fs.FS, known *index) error {
	if f.known = known.of(files, f.name); f.known != nil {
		return nil
	}
	content, err := fs.ReadFile(files, f.name)
	if err != nil {
		return err
	}
	d := &decoder{file: f.name}
	file, root := decode[signatureFile](d, content)
	f.file, f.root, f.problems = &file, root, d.problems
	return nil
}

// Signatures are all signatures, sorted by their ids.
func (b *Base) Signatures() []*Signature {
	all := make([]*Signature, len(b.Entries))
	for i, e := range b.Entries {
		all[i] = e.Signature()
	}
	return all
}

// Signature is the signature of that id, or nil.
func (b *Base) Signature(id string) *Signature {
	i, found := slices.BinarySearchFunc(b.Entries, id, func(e *Entry, id string) int { return strings.Compare(e.ID, id) })
	if !found {
		return nil
	}
	return b.Entries[i].Signature()
}
