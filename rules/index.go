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
	"slices"
	"strings"
	"sync"
)

// shippedIndex tells of the shipped files what every start needs, so that reading them can wait until a log asks for them. It is a
// shortcut and no source: each line holds the checksum of the file that it was made of, and a file that has another one now, or no
// line, is read at once. So nothing but the time of a start depends on its being up to date. go generate makes it anew.
//
//go:embed index.json
var shippedIndex []byte

// Entry is what must be known of a signature before a log is read.
type Entry struct {
	ID       string   `json:"id,omitempty"`
	Role     Role     `json:"role,omitempty"`
	Keywords []string `json:"keywords,omitempty"` // literals, one of which, or of Last, stands in every event that can match
	Last     []string `json:"last,omitempty"`     // as a signature's
	Requires []string `json:"requires,omitempty"` // regular expressions, each of which matches in every event that can match
	Before   bool     `json:"before,omitempty"`   // the match is about the lines before the event too
	Explains []string `json:"explains,omitempty"`
	Raised   bool     `json:"raised,omitempty"` // no line can match, only an exception

	signature func() *Signature
	place     Problem
}

// Signature is all that is known.
func (e *Entry) Signature() *Signature { return e.signature() }

func newEntry(s *Signature, scope *Scope) *Entry {
	e := &Entry{ID: s.ID, Role: s.Role, Keywords: s.Keywords, Last: s.Last, Explains: s.Explains, signature: func() *Signature { return s }, place: s.Place}
	line := scope.NewSituation()
	line.Set("error", NoException())
	for _, condition := range s.Match {
		e.Raised = e.Raised || condition.Eval(line).False()
		if pattern := condition.Requires(); pattern != nil {
			e.Requires = append(e.Requires, pattern.String())
		}
		for _, name := range condition.Names(scope) {
			e.Before = e.Before || name == "before"
		}
	}
	return e
}

// indexed is a line of the index: an entry, and what its file adds to the scope of all signatures.
type indexed struct {
	File string `json:"file"`
	Sum  uint32 `json:"sum"`
	Entry
	Names []string `json:"names,omitempty"` // groups of captures, and environment variables
	Seen  []string `json:"seen,omitempty"`  // patterns that conditions look for anywhere in a log

	Facts *factsFile `json:"facts,omitempty"` // all that stands in a file of facts: reading it from YAML takes four times as long
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
	if err := onAllProcessors(len(lines), func(i int) error { return json.Unmarshal(lines[i], &known[i]) }); err != nil {
		return nil, fmt.Errorf("reading the index of the shipped rules: %w", err)
	}
	x := &index{files: make(map[string]*indexed, len(known))}
	for i := range known {
		x.files[known[i].File] = &known[i]
	}
	return x, nil
}

// under has the index know about files that are read with that vocabulary. Before that, it knows the file of facts.
func (x *index) under(v *Vocabulary) {
	for _, name := range v.names {
		x.vocabulary = crc32.Update(x.vocabulary, crc32.IEEETable, []byte(name+" "+v.facts[name].Type.String()+"\n"))
	}
}

// sum reads a file in small pieces: copies of all files would be an eighth of what a start takes from memory.
func (x *index) sum(files fs.FS, name string) (uint32, error) {
	file, err := files.Open(name)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	piece, _ := x.pieces.Get().(*[512]byte)
	if piece == nil {
		piece = new([512]byte)
	}
	defer x.pieces.Put(piece)
	sum := x.vocabulary
	for {
		n, err := file.Read(piece[:])
		sum = crc32.Update(sum, crc32.IEEETable, piece[:n])
		switch {
		case errors.Is(err, io.EOF):
			return sum, nil
		case err != nil:
			return 0, err
		}
	}
}

// of is what the index knows of a file, or nil.
func (x *index) of(files fs.FS, name string) *indexed {
	if x == nil || x.files[name] == nil {
		return nil
	}
	if sum, err := x.sum(files, name); err != nil || sum != x.files[name].Sum {
		return nil
	}
	return x.files[name]
}

// known is the entry of a file that the index knows. It declares what the file would declare, so that reading it later, perhaps in
// the midst of several diagnoses, changes nothing that they share.
func (l *signatures) known(files fs.FS, k *indexed) *Entry {
	for _, name := range k.Names {
		if !strings.HasPrefix(name, environment) {
			l.captures[name] = true
		}
		if err := l.scope.Declare(name, Shape{Type: String}); err != nil {
			l.problem(1, 1, "%v", err)
		}
	}
	for _, source := range k.Seen {
		if _, err := l.scope.seen(source); err != nil {
			l.problem(1, 1, "%v", err)
		}
	}
	e := k.Entry
	e.place = Problem{File: k.File}
	e.signature = sync.OnceValue(func() *Signature {
		later := &signatures{decoder: &decoder{file: k.File}, scope: l.scope, vocabulary: l.vocabulary, captures: l.captures}
		read := draft{name: k.File}
		err := read.read(files, nil)
		s := later.signature(&read)
		if s == nil {
			panic(fmt.Sprint("a rule file that has been read before cannot be read again: ", err, later.problems))
		}
		return s
	})
	return &e
}
