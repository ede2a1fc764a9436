package rules

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
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
	v, err := readVocabulary(d, layers[0], x.facts(layers[0]))
	if err != nil {
		return nil, fmt.Errorf("the knowledge base has no vocabulary: %w", err)
	}
	b := &Base{Vocabulary: v}
	x.under(b.Vocabulary)
	b.libraries = sync.OnceValues(func() ([]*Library, error) { return LoadLibraries(b.Vocabulary, layers...) })
	l := newSignatures(d, b.Vocabulary)
	b.Scope = l.Scope()
	for _, layer := range layers {
		if content, err := fs.ReadFile(layer, xidFile); err == nil {
			b.Xids = readXids(d, content, x.keyword(layer, xidFile))
		}
		if err := l.layer(layer, x.signatures(layer)); err != nil {
			return nil, err
		}
	}
	b.Entries = l.entries()
	if len(d.problems) > 0 {
		slices.SortStableFunc(d.problems, func(a, b Problem) int {
			return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
		return nil, d.problems
	}
	return b, nil
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
