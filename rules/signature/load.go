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
)

// Layer is a knowledge base, of which a later one adds to the earlier and replaces what has the same id.
type Layer struct {
	Files fs.FS
	Known func(name string) *Known // tells enough of a file that need not be read yet, or nil
}

// Load reads the signatures of knowledge bases. It returns the scope of their expressions (facts, captures and what is known of an
// event) and what must be known of them before a log is read, sorted by their ids. Mistakes are noted in d; the error is one of
// reading files.
func Load(d *rulefile.Decoder, v *fact.Vocabulary, layers ...Layer) (*condition.Scope, []*Entry, error) {
	l := newLoader(d, v)
	for _, layer := range layers {
		if err := l.layer(layer.Files, layer.Known); err != nil {
			return nil, nil, err
		}
	}
	return l.scope, l.entries(), nil
}

// loader compiles signature files into one scope.
type loader struct {
	*rulefile.Decoder
	scope      *condition.Scope
	vocabulary *fact.Vocabulary
	captures   map[string]bool // names that are captures of some signature
	byID       map[string]*Entry
}

func newLoader(d *rulefile.Decoder, v *fact.Vocabulary) *loader {
	l := &loader{Decoder: d, scope: v.Scope(), vocabulary: v, captures: make(map[string]bool), byID: make(map[string]*Entry)}
	for name, shape := range eventNames() {
		if err := l.scope.Declare(name, shape); err != nil {
			d.Problem(1, 1, "%v", err)
		}
	}
	return l
}

// layer reads the signatures of one knowledge base.
func (l *loader) layer(files fs.FS, known func(name string) *Known) error {
	parsed, err := parseFiles(files, known)
	if err != nil {
		return fmt.Errorf("reading rules: %w", err)
	}
	here := make(map[string]bool)
	for i := range parsed {
		l.File = parsed[i].name
		e := l.entry(files, &parsed[i])
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
func (l *loader) entries() []*Entry {
	entries := slices.SortedFunc(maps.Values(l.byID), func(a, b *Entry) int { return strings.Compare(a.ID, b.ID) })
	for _, e := range entries {
		for _, id := range e.Explains {
			if l.byID[id] == nil {
				l.File = e.place.File
				l.Problem(e.place.Line, e.place.Column, "explains: there is no signature %s", id)
			}
		}
	}
	l.setPrecedence(entries)
	return entries
}

// entry is what a file has to say at first; nil means that problems were noted.
func (l *loader) entry(files fs.FS, f *parsedFile) *Entry {
	if f.known != nil {
		return l.entryOfKnown(files, f)
	}
	s := l.signature(f)
	if s == nil {
		return nil
	}
	return newEntry(s, l.scope)
}

// entryOfKnown is the entry of a file that is read when somebody asks for it. It declares what the file would declare, so that reading it,
// perhaps in the midst of several diagnoses, changes nothing that they share.
func (l *loader) entryOfKnown(files fs.FS, f *parsedFile) *Entry {
	for _, name := range f.known.Names {
		if !strings.HasPrefix(name, condition.Environment) {
			l.captures[name] = true
		}
		if err := l.scope.Declare(name, condition.Shape{Type: condition.String}); err != nil {
			l.Problem(1, 1, "%v", err)
		}
	}
	for _, source := range f.known.LogPatterns {
		if err := l.scope.DeclareLogPattern(source); err != nil {
			l.Problem(1, 1, "%v", err)
		}
	}
	e := f.known.Entry
	e.place = rulefile.Problem{File: f.name}
	e.signature = sync.OnceValue(func() *Signature {
		reader := &loader{Decoder: &rulefile.Decoder{File: f.name}, scope: l.scope, vocabulary: l.vocabulary, captures: l.captures}
		parsed := parsedFile{name: f.name}
		err := parsed.read(files, nil)
		s := reader.signature(&parsed)
		if s == nil {
			panic(fmt.Sprint("a rule file that has been read before cannot be read again: ", err, reader.Problems))
		}
		return s
	})
	return &e
}

// parsedFile is a signature's file before its expressions are compiled.
type parsedFile struct {
	files    fs.FS
	name     string
	known    *Known // when it tells enough, and the rest is missing
	file     *signatureFile
	root     *rulefile.Node // nil when the file could not be read as YAML
	problems rulefile.Problems
}

// parseFiles reads all signature files below a folder, several at a time: reading YAML is most of the work of loading.
func parseFiles(files fs.FS, known func(name string) *Known) ([]parsedFile, error) {
	var parsed []parsedFile
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name == "backends":
			return fs.SkipDir
		case entry.IsDir() || slices.Contains(notSignatures, name) || path.Ext(name) != ".yaml" && path.Ext(name) != ".yml":
			return nil
		}
		parsed = append(parsed, parsedFile{name: name})
		return nil
	})
	if err != nil {
		return nil, err
	}
	workers := new(errgroup.Group)
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for part := range slices.Chunk(parsed, partFiles) {
		workers.Go(func() error {
			for i := range part {
				if err := part[i].read(files, known); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return parsed, workers.Wait()
}

// partFiles are the files of one goroutine: most need only a look at their checksum, which is less work than a goroutine.
const partFiles = 64

// read reads the file unless enough is known of it.
func (f *parsedFile) read(files fs.FS, known func(name string) *Known) error {
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
var notSignatures = []string{"knowledge.yaml", "facts.yaml", "tools.yaml", "distributions.yaml", "xid.yaml"}
