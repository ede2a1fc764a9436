package signature

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/fact"
	"github.com/gpu-triage/triage/rules/rulefile"
	"golang.org/x/sync/errgroup"
	"gopkg.in/yaml.v3"
)

// signatures compiles signature files into one scope.
type Loader struct {
	*rulefile.Decoder
	scope      *condition.Scope
	vocabulary *fact.Vocabulary
	captures   map[string]bool // names that are captures of some signature
	byID       map[string]*Entry
}

func NewLoader(d *rulefile.Decoder, v *fact.Vocabulary) *Loader {
	l := &Loader{Decoder: d, scope: v.Scope(), vocabulary: v, captures: make(map[string]bool), byID: make(map[string]*Entry)}
	for name, shape := range eventNames() {
		if err := l.scope.Declare(name, shape); err != nil {
			d.Problem(1, 1, "%v", err)
		}
	}
	return l
}

// Scope is that of all signatures: facts, captures and what is known of an event.
func (l *Loader) Scope() *condition.Scope { return l.scope }

// layer reads the signatures of one knowledge base. known tells enough of a file that need not be read yet, or nil.
func (l *Loader) Layer(files fs.FS, known func(name string) *Known) error {
	drafts, err := readDrafts(files, known)
	if err != nil {
		return fmt.Errorf("reading rules: %w", err)
	}
	here := make(map[string]bool)
	for i := range drafts {
		l.File = drafts[i].name
		e := l.entry(files, &drafts[i])
		if e == nil {
			continue
		}
		if e.ID != strings.TrimSuffix(path.Base(l.File), path.Ext(l.File)) {
			l.Problem(e.place.Line, e.place.Column, "the id %q is not the file's name", e.ID)
		}
		if here[e.ID] {
			l.Problem(e.place.Line, e.place.Column, "the id %q stands in %s too", e.ID, l.byID[e.ID].place.File)
		}
		here[e.ID] = true
		l.byID[e.ID] = e
	}
	return nil
}

// entries are all signatures that were read, sorted by their ids. It notes what is wrong between them.
func (l *Loader) Entries() []*Entry {
	entries := slices.SortedFunc(maps.Values(l.byID), func(a, b *Entry) int { return strings.Compare(a.ID, b.ID) })
	for _, e := range entries {
		for _, id := range e.Explains {
			if l.byID[id] == nil {
				l.File = e.place.File
				l.Problem(e.place.Line, e.place.Column, "explains: there is no signature %s", id)
			}
		}
	}
	return entries
}

// entry is what a file has to say at first; nil means that problems were noted.
func (l *Loader) entry(files fs.FS, f *draft) *Entry {
	if f.known != nil {
		return l.later(files, f)
	}
	s := l.signature(f)
	if s == nil {
		return nil
	}
	return newEntry(s, l.scope)
}

// later is the entry of a file that is read when somebody asks for it. It declares what the file would declare, so that reading it,
// perhaps in the midst of several diagnoses, changes nothing that they share.
func (l *Loader) later(files fs.FS, f *draft) *Entry {
	for _, name := range f.known.Names {
		if !strings.HasPrefix(name, condition.Environment) {
			l.captures[name] = true
		}
		if err := l.scope.Declare(name, condition.Shape{Type: condition.String}); err != nil {
			l.Problem(1, 1, "%v", err)
		}
	}
	for _, source := range f.known.Seen {
		if _, err := l.scope.Seen(source); err != nil {
			l.Problem(1, 1, "%v", err)
		}
	}
	e := f.known.Entry
	e.place = rulefile.Problem{File: f.name}
	e.signature = sync.OnceValue(func() *Signature {
		reader := &Loader{Decoder: &rulefile.Decoder{File: f.name}, scope: l.scope, vocabulary: l.vocabulary, captures: l.captures}
		read := draft{name: f.name}
		err := read.read(files, nil)
		s := reader.signature(&read)
		if s == nil {
			panic(fmt.Sprint("a rule file that has been read before cannot be read again: ", err, reader.Problems))
		}
		return s
	})
	return &e
}

// draft is a signature's file as it was read, before its expressions are compiled.
type draft struct {
	files    fs.FS
	name     string
	known    *Known // when it tells enough, and the rest is missing
	file     *signatureFile
	root     *yaml.Node // nil when the file could not be read as YAML
	problems rulefile.Problems
}

// readDrafts reads all signature files below a folder, several at a time: reading YAML is most of the work of loading.
func readDrafts(files fs.FS, known func(name string) *Known) ([]draft, error) {
	var drafts []draft
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name == "backends":
			return fs.SkipDir
		case entry.IsDir() || slices.Contains(notSignatures, name) || path.Ext(name) != ".yaml" && path.Ext(name) != ".yml":
			return nil
		}
		drafts = append(drafts, draft{name: name})
		return nil
	})
	if err != nil {
		return nil, err
	}
	workers := new(errgroup.Group)
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for i := range drafts {
		workers.Go(func() error { return drafts[i].read(files, known) })
	}
	return drafts, workers.Wait()
}

// read reads the file unless enough is known of it.
func (f *draft) read(files fs.FS, known func(name string) *Known) error {
	f.files = files
	if known != nil {
		f.known = known(f.name)
	}
	if f.known != nil {
		return nil
	}
	content, err := fs.ReadFile(files, f.name)
	if err != nil {
		return err
	}
	d := &rulefile.Decoder{File: f.name}
	file, root := rulefile.Read[signatureFile](d, knowledge(d, content))
	f.file, f.root, f.problems = &file, root, d.Problems
	return nil
}

// notSignatures are the files of a knowledge base that hold something else.
var notSignatures = []string{"facts.yaml", "xid.yaml"}
