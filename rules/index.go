package rules

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"runtime"
	"slices"
	"sync"

	"github.com/gpu-triage/triage/rules/fact"
	"github.com/gpu-triage/triage/rules/signature"
	"golang.org/x/sync/errgroup"
)

// shippedIndex tells of the shipped files what every start needs, so that reading them can wait until a log asks for them. It is a
// shortcut and no source: each line holds the checksum of the file that it was made of, without its examples, and a file that has another
// one now, or no line, is read at once. So nothing but the time of a start depends on its being up to date. go generate makes it anew.
//
//go:embed index.json
var shippedIndex []byte

// indexed is a line of the index.
type indexed struct {
	File string `json:"file"`
	Sum  uint32 `json:"sum"`
	Size int64  `json:"size"` // bytes that the sum is of: all but the examples of a signature, which may change without it
	signature.Known
	Facts *fact.File `json:"facts,omitempty"` // all that stands in a file of facts: reading it from YAML takes four times as long
}

// index is what is known of files that need not be read. A nil one knows none.
type index struct {
	vocabulary uint32 // the checksum of the facts and their types, on which the meaning of every file depends
	files      map[string]*indexed
	pieces     sync.Pool // of *[512]byte
}

func readIndex(content []byte) (*index, error) {
	lines := slices.Collect(bytes.Lines(content))
	known := make([]indexed, len(lines))
	// This is about a sixth of a start, which takes some 20 ms of a processor.
	workers := new(errgroup.Group)
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for i := range lines {
		workers.Go(func() error { return json.Unmarshal(lines[i], &known[i]) })
	}
	if err := workers.Wait(); err != nil {
		return nil, fmt.Errorf("reading the index of the shipped rules: %w", err)
	}
	x := &index{files: make(map[string]*indexed, len(known))}
	for i := range known {
		x.files[known[i].File] = &known[i]
	}
	return x, nil
}

// readWith has the index know about files that are read with that vocabulary. Before that, it knows the file of facts.
func (x *index) readWith(v *fact.Vocabulary) {
	for _, name := range v.Names() {
		info, _ := v.Fact(name)
		x.vocabulary = crc32.Update(x.vocabulary, crc32.IEEETable, []byte(name+" "+info.Type.String()+"\n"))
	}
}

// sum reads the first bytes of a file in small pieces: copies of all files would be an eighth of what a start takes from memory. It
// fails when neither the end nor examples follow.
func (x *index) sum(files fs.FS, name string, size int64) (uint32, error) {
	file, err := files.Open(name)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	from := io.LimitReader(file, size)
	piece, _ := x.pieces.Get().(*[512]byte)
	if piece == nil {
		piece = new([512]byte)
	}
	defer x.pieces.Put(piece)
	sum := x.vocabulary
	for {
		n, err := from.Read(piece[:])
		sum = crc32.Update(sum, crc32.IEEETable, piece[:n])
		switch {
		case errors.Is(err, io.EOF):
			return sum, onlyExamples(file, piece[:len(signature.ExamplesKey)])
		case err != nil:
			return 0, err
		}
	}
}

// onlyExamples fails when what is left to read is something else than examples.
func onlyExamples(left io.Reader, piece []byte) error {
	n, err := io.ReadFull(left, piece)
	if errors.Is(err, io.EOF) || string(piece[:n]) == signature.ExamplesKey {
		return nil
	}
	return errors.New("the file is longer than the index says")
}

// known is what the index knows of a file, or nil.
func (x *index) known(files fs.FS, name string) *indexed {
	if x == nil || x.files[name] == nil {
		return nil
	}
	if sum, err := x.sum(files, name, x.files[name].Size); err != nil || sum != x.files[name].Sum {
		return nil
	}
	return x.files[name]
}

// facts are what stands in the file of facts, or nil when the index does not tell.
func (x *index) facts(files fs.FS) *fact.File {
	if known := x.known(files, fact.FileName); known != nil {
		return known.Facts
	}
	return nil
}

// keyword is the word that each line with an Xid has, or "" when the index does not tell.
func (x *index) keyword(files fs.FS, name string) string {
	if known := x.known(files, name); known != nil {
		return known.Keywords[0]
	}
	return ""
}

// signatures tells what is known of the signature files of a knowledge base; only those that were shipped cannot change meanwhile.
func (x *index) signatures(files fs.FS) func(name string) *signature.Known {
	return func(name string) *signature.Known {
		if files != Shipped() {
			return nil
		}
		if known := x.known(files, name); known != nil {
			return &known.Known
		}
		return nil
	}
}
