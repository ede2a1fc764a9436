package rules

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/gpu-triage/triage/rules/backend"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/distribution"
	"github.com/gpu-triage/triage/rules/fact"
	"github.com/gpu-triage/triage/rules/rulefile"
	"github.com/gpu-triage/triage/rules/signature"
	"github.com/gpu-triage/triage/rules/tool"
	"github.com/gpu-triage/triage/rules/xid"
)

//go:embed knowledge.yaml facts.yaml tools.yaml distributions.yaml xid.yaml all:failures backends
var shipped embed.FS

// Shipped is the knowledge base that comes with the program.
func Shipped() fs.FS { return shipped }

// Base is a loaded knowledge base. It does not change, so that it may be shared by many diagnoses at once.
type Base struct {
	Vocabulary    *fact.Vocabulary
	Scope         *condition.Scope   // of signatures: facts, captures and what is known of an event
	Entries       []*signature.Entry // of the signatures, sorted by their ids
	Xids          *xid.Catalogue
	Distributions *distribution.Table
	Tools         *tool.Table

	layers    []fs.FS
	version   string
	libraries *libraries // read when first asked for: most failures need none
}

// libraries are those that were asked for so far.
type libraries struct {
	mu   sync.Mutex
	read map[string]*backend.Library
}

// LibraryNames are the libraries whose backend rules are known, sorted.
func (b *Base) LibraryNames() ([]string, error) { return backend.LibraryNames(b.layers...) }

// Libraries are the libraries whose backend rules are known, all of them read. The error is Problems.
func (b *Base) Libraries() ([]*backend.Library, error) {
	names, err := b.LibraryNames()
	if err != nil {
		return nil, err
	}
	var all []*backend.Library
	for _, name := range names {
		l, err := b.Library(name)
		if err != nil {
			return nil, err
		}
		if l != nil {
			all = append(all, l)
		}
	}
	return all, nil
}

// Library is the library of that name, or nil. No other is read for it. The error is Problems.
func (b *Base) Library(name string) (*backend.Library, error) {
	b.libraries.mu.Lock()
	defer b.libraries.mu.Unlock()
	if l, ok := b.libraries.read[name]; ok {
		return l, nil
	}
	l, err := backend.LoadLibrary(b.Vocabulary, name, b.layers...)
	if err == nil {
		b.libraries.read[name] = l
	}
	return l, err
}

// Load reads knowledge bases, a later one adding to the earlier and replacing what has the same id. The error is Problems: every
// mistake of every file. Examples are read by Base.Examples alone.
func Load(layers ...fs.FS) (*Base, error) { return load("", layers) }

// Open is Load for a program that is to start at once: what was shipped, or is in a bundle, is known to have no mistakes, and a signature
// of it is read when it is first asked for.
func Open(layers ...fs.FS) (*Base, error) {
	if len(layers) == 0 {
		layers = []fs.FS{Shipped()}
	}
	return load(indexOf(layers[0]), layers)
}

func load(known string, layers []fs.FS) (*Base, error) {
	if len(layers) == 0 {
		layers = []fs.FS{Shipped()}
	}
	x, err := readIndex(known)
	if err != nil {
		return nil, err
	}
	d := &rulefile.Decoder{}
	v, err := fact.Read(d, layers[0], x.facts(layers[0]))
	if err != nil {
		return nil, fmt.Errorf("the knowledge base has no vocabulary: %w", err)
	}
	x.readWith(v)
	b := &Base{Vocabulary: v, layers: layers, version: versionOf(layers), libraries: &libraries{read: make(map[string]*backend.Library)}}
	b.Tools = tools(d, known != "", layers)
	b.Distributions = distributions(d, known != "", layers)
	signatures := make([]signature.Layer, len(layers))
	for i, layer := range layers {
		if content, err := fs.ReadFile(layer, xid.File); err == nil {
			b.Xids = xid.Read(d, content, x.keyword(layer, xid.File))
		}
		signatures[i] = signature.Layer{Files: layer, Known: x.signatures(layer)}
	}
	b.Scope, b.Entries, err = signature.Load(d, v, signatures...)
	if err != nil {
		return nil, err
	}
	if len(d.Problems) > 0 {
		slices.SortStableFunc(d.Problems, func(a, b rulefile.Problem) int {
			return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
		return nil, d.Problems
	}
	return b, nil
}

// tools reads the tables of tools. The rows of a later layer are asked first. What was shipped is read when it is first asked for, where a
// program is to start at once.
func tools(d *rulefile.Decoder, later bool, layers []fs.FS) *tool.Table {
	var all *tool.Table
	for _, layer := range layers {
		content, err := fs.ReadFile(layer, tool.File)
		switch {
		case err != nil: // a layer need not have one
		case later && frozen(layer):
			all = tool.Later(content).Before(all)
		default:
			all = tool.Read(d, content).Before(all)
		}
	}
	return all
}

// distributions reads the tables of distributions in the same way.
func distributions(d *rulefile.Decoder, later bool, layers []fs.FS) *distribution.Table {
	var all *distribution.Table
	for _, layer := range layers {
		content, err := fs.ReadFile(layer, distribution.File)
		switch {
		case err != nil: // a layer need not have one
		case later && frozen(layer):
			all = distribution.Later(content).Before(all)
		default:
			all = distribution.Read(d, content).Before(all)
		}
	}
	return all
}

// Signatures are all signatures, sorted by their ids.
func (b *Base) Signatures() []*signature.Signature {
	all := make([]*signature.Signature, len(b.Entries))
	for i, e := range b.Entries {
		all[i] = e.Signature()
	}
	return all
}

// Signature is the signature of that id, or nil.
func (b *Base) Signature(id string) *signature.Signature {
	i, found := b.find(id)
	if !found {
		return nil
	}
	return b.Entries[i].Signature()
}

// Without is the base as if nobody had written the signature of that id.
func (b *Base) Without(id string) *Base {
	less := *b
	less.Entries = slices.DeleteFunc(slices.Clone(b.Entries), func(e *signature.Entry) bool { return e.ID == id })
	return &less
}

// find is where the entry of that id is, if there is one.
func (b *Base) find(id string) (int, bool) {
	return slices.BinarySearchFunc(b.Entries, id, func(e *signature.Entry, id string) int { return strings.Compare(e.ID, id) })
}

// Overrides tells whether a signature is the answer rather than another one, where both fit the same exception or line.
func (b *Base) Overrides(id, other string) bool {
	i, found := b.find(id)
	return found && b.Entries[i].Outranks(other)
}
