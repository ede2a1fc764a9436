package rules

import (
	"archive/zip"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gpu-triage/triage/rules/fact"
	"github.com/gpu-triage/triage/rules/signature"
)

// shippedIndex tells of the shipped files what every start needs, so that reading them can wait until a log asks for them. It is a
// shortcut and no source: each line holds the checksum of the file that it was made of, without its examples, and a file that has another
// one now, or no line, is read at once. So nothing but the time of a start depends on its being up to date. go generate makes it anew.
//
// A line is cut into columns and lists, which takes a tenth of the time that encoding/json does, and no memory for texts.
//
//go:embed index.tsv
var shippedIndex string

// IndexFile is where a bundle has its index.
const IndexFile = "index.tsv"

// indexOf is the index of a knowledge base, or "" where there is none that this program can read: then every file is read.
func indexOf(files fs.FS) string {
	if files == Shipped() {
		return shippedIndex
	}
	content, err := fs.ReadFile(files, IndexFile)
	if _, wrong := readIndex(string(content)); err != nil || wrong != nil || !frozen(files) {
		return ""
	}
	return string(content)
}

// frozen tells whether files are in memory and cannot change: they were shipped, or are in a bundle.
func frozen(files fs.FS) bool {
	_, bundled := files.(*zip.Reader)
	return bundled || files == Shipped()
}

// indexed is a line of the index.
type indexed struct {
	File string
	Sum  uint32
	Size int64 // bytes that the sum is of: all but the examples of a signature, which may change without it
	signature.Known
	Facts *fact.File // all that stands in a file of facts: reading it from YAML takes four times as long
}

// The columns of a line. They are parted by tabs, and the items of a list by listSeparator.
const (
	fileColumn = iota
	sumColumn
	sizeColumn
	idColumn
	roleColumn
	keywordsColumn
	lastColumn
	requiresColumn
	explainsColumn
	overridesColumn
	aboutColumn
	flagsColumn // beforeFlag, raisedFlag
	namesColumn
	logPatternsColumn
	factsColumn // JSON
	columns
)

const (
	listSeparator = "\x1f"
	beforeFlag    = "before"
	raisedFlag    = "raised"
)

// index is what is known of files that need not be read. A nil one knows none.
type index struct {
	vocabulary uint32 // the checksum of the facts and their types, on which the meaning of every file depends
	files      map[string]*indexed
	pieces     sync.Pool // of *[512]byte
}

func readIndex(content string) (*index, error) {
	x := &index{files: make(map[string]*indexed, strings.Count(content, "\n"))}
	for line := range strings.Lines(content) {
		k, err := parseIndexed(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return nil, fmt.Errorf("reading the index of the shipped rules, go generate ./rules makes it anew: %w", err)
		}
		x.files[k.File] = k
	}
	return x, nil
}

// parseIndexed reads a line.
func parseIndexed(line string) (*indexed, error) {
	fields := strings.Split(line, "\t")
	if len(fields) != columns {
		return nil, fmt.Errorf("a line has %d columns, not %d", len(fields), columns)
	}
	sum, errSum := strconv.ParseUint(fields[sumColumn], 16, 32)
	size, errSize := strconv.ParseInt(fields[sizeColumn], 10, 64)
	flags := listOf(fields[flagsColumn])
	k := &indexed{File: fields[fileColumn], Sum: uint32(sum), Size: size, Known: signature.Known{
		Entry: signature.Entry{
			ID: fields[idColumn], Role: signature.Role(fields[roleColumn]), About: fields[aboutColumn],
			Keywords: listOf(fields[keywordsColumn]), Last: listOf(fields[lastColumn]), Requires: listOf(fields[requiresColumn]),
			Explains: listOf(fields[explainsColumn]), Overrides: listOf(fields[overridesColumn]),
			Before: slices.Contains(flags, beforeFlag), Raised: slices.Contains(flags, raisedFlag),
		},
		Names: listOf(fields[namesColumn]), LogPatterns: listOf(fields[logPatternsColumn]),
	}}
	err := errors.Join(errSum, errSize)
	if fields[factsColumn] != "" {
		k.Facts = new(fact.File)
		err = errors.Join(err, json.Unmarshal([]byte(fields[factsColumn]), k.Facts))
	}
	return k, err
}

// listOf is a list of texts. One that is empty, has control characters, or begins with a quote, is written in Go's quotes.
func listOf(field string) []string {
	if field == "" {
		return nil
	}
	items := strings.Split(field, listSeparator)
	for i, item := range items {
		if text, err := strconv.Unquote(item); item[:min(len(item), 1)] == `"` && err == nil {
			items[i] = text
		}
	}
	return items
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

// signatures tells what is known of the signature files of a knowledge base; only those that are in memory cannot change meanwhile.
func (x *index) signatures(files fs.FS) func(name string) *signature.Known {
	return func(name string) *signature.Known {
		if !frozen(files) {
			return nil
		}
		if known := x.known(files, name); known != nil {
			return &known.Known
		}
		return nil
	}
}
