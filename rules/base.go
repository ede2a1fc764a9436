package rules

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"sort"
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
	Scope      *Scope // of signatures: facts, captures and what is known of an event
	Signatures []*Signature
	Xids       *XidCatalogue

	libraries func() ([]*Library, error) // read when first asked for: most failures need none
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
func Load(layers ...fs.FS) (*Base, error) {
	if len(layers) == 0 {
		layers = []fs.FS{Shipped()}
	}
	d := &decoder{file: vocabularyFile}
	content, err := fs.ReadFile(layers[0], vocabularyFile)
	if err != nil {
		return nil, fmt.Errorf("the knowledge base has no vocabulary: %w", err)
	}
	b := &Base{Vocabulary: d.vocabulary(content)}
	b.libraries = sync.OnceValues(func() ([]*Library, error) { return LoadLibraries(b.Vocabulary, layers...) })
	b.Scope = b.Vocabulary.Scope()
	for name, shape := range eventNames() {
		if err := b.Scope.Declare(name, shape); err != nil {
			d.problem(1, 1, "%v", err)
		}
	}
	l := &signatures{decoder: d, scope: b.Scope, vocabulary: b.Vocabulary, captures: make(map[string]bool)}
	byID := make(map[string]*Signature)
	for _, layer := range layers {
		if content, err := fs.ReadFile(layer, xidFile); err == nil {
			d.file = xidFile
			b.Xids = d.catalogue(content)
		}
		if err := l.layer(layer, byID); err != nil {
			return nil, err
		}
	}
	for _, s := range byID {
		b.Signatures = append(b.Signatures, s)
	}
	sort.Slice(b.Signatures, func(i, j int) bool { return b.Signatures[i].ID < b.Signatures[j].ID })
	if len(d.problems) > 0 {
		slices.SortStableFunc(d.problems, func(a, b Problem) int {
			return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
		return nil, d.problems
	}
	return b, nil
}

// layer reads the signatures of one knowledge base.
func (l *signatures) layer(files fs.FS, byID map[string]*Signature) error {
	drafts, err := readDrafts(files)
	if err != nil {
		return fmt.Errorf("reading rules: %w", err)
	}
	here := make(map[string]bool)
	for i := range drafts {
		l.file = drafts[i].name
		s := l.signature(&drafts[i])
		if s == nil {
			continue
		}
		if s.ID != strings.TrimSuffix(path.Base(l.file), path.Ext(l.file)) {
			l.problem(s.Place.Line, s.Place.Column, "the id %q is not the file's name", s.ID)
		}
		if here[s.ID] {
			l.problem(s.Place.Line, s.Place.Column, "the id %q stands in %s too", s.ID, byID[s.ID].Place.File)
		}
		here[s.ID] = true
		byID[s.ID] = s
	}
	return nil
}

// draft is a signature's file as it was read, before its expressions are compiled.
type draft struct {
	name     string
	file     signatureFile
	root     *yaml.Node // nil when the file could not be read as YAML
	problems Problems
}

// readDrafts reads all signature files below a folder, several at a time: reading YAML is most of the work of loading.
func readDrafts(files fs.FS) ([]draft, error) {
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
	workers := runtime.GOMAXPROCS(0)
	failures := make([]error, workers)
	var done sync.WaitGroup
	for w := range workers {
		done.Go(func() {
			for i := w; i < len(drafts) && failures[w] == nil; i += workers {
				failures[w] = drafts[i].read(files)
			}
		})
	}
	done.Wait()
	return drafts, errors.Join(failures...)
}

func (f *draft) read(files fs.FS) error {
	content, err := fs.ReadFile(files, f.name)
	if err != nil {
		return err
	}
	d := &decoder{file: f.name}
	f.file, f.root = decode[signatureFile](d, content)
	f.problems = d.problems
	return nil
}

// Signature is the signature of that id, or nil.
func (b *Base) Signature(id string) *Signature {
	i := sort.Search(len(b.Signatures), func(i int) bool { return b.Signatures[i].ID >= id })
	if i < len(b.Signatures) && b.Signatures[i].ID == id {
		return b.Signatures[i]
	}
	return nil
}
