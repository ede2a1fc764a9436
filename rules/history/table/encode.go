package table

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// magic begins every table; its last byte is the version of the form.
const magic = "triage history\x01"

// writer builds the body of a table: numbers as varints, strings with their lengths.
type writer struct {
	body []byte
	args index
	sets index
}

// index numbers distinct strings in the order in which they are first seen.
type index struct {
	at   map[string]int
	list []string
}

func (x *index) of(text string) int {
	i, ok := x.at[text]
	if !ok {
		if x.at == nil {
			x.at = make(map[string]int)
		}
		i = len(x.list)
		x.at[text] = i
		x.list = append(x.list, text)
	}
	return i
}

func (w *writer) number(n int) { w.body = binary.AppendUvarint(w.body, uint64(n)) }

func (w *writer) text(s string) {
	w.number(len(s))
	w.body = append(w.body, s...)
}

func (w *writer) texts(list []string) {
	w.number(len(list))
	for _, s := range list {
		w.text(s)
	}
}

// Compress is Zstandard, as tight as the library for Go makes it. The program of that name makes it a tenth smaller.
func Compress(body []byte) ([]byte, error) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(8<<20))
	if err != nil {
		return nil, err
	}
	defer encoder.Close()
	return encoder.EncodeAll(body, nil), nil
}

// Encode writes a history in its compact form. Releases are oldest first; modules and entries may come in any order. What compress
// returns must be a frame of Zstandard with a window of 128 MiB at most.
func Encode(name string, roots []string, releases []Release, modules []Module, compress func([]byte) ([]byte, error)) ([]byte, error) {
	packed := &writer{}
	slices.SortFunc(modules, func(a, b Module) int { return cmp.Compare(a.Name, b.Name) })
	packed.number(len(modules))
	for _, m := range modules {
		packed.module(m)
	}
	w := &writer{body: nil}
	w.text(name)
	w.texts(roots)
	w.releases(releases)
	w.texts(packed.sets.list)
	w.texts(packed.args.list)
	w.body = append(w.body, packed.body...)
	if len(w.body) > maxBody {
		return nil, errors.New("the history is larger than a reader accepts")
	}
	compressed, err := compress(w.body)
	return append([]byte(magic), compressed...), err
}

func (w *writer) releases(releases []Release) {
	var requires index
	inner := &writer{}
	inner.number(len(releases))
	for _, r := range releases {
		inner.text(r.Version)
		inner.number(int(r.Date.Unix() / secondsPerDay))
		inner.text(r.RequiresPython)
		inner.number(len(r.Requires))
		for _, requirement := range r.Requires {
			inner.number(requires.of(requirement))
		}
		inner.number(bit(r.Unread))
	}
	w.texts(requires.list)
	w.body = append(w.body, inner.body...)
}

const secondsPerDay = 24 * 60 * 60

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (w *writer) module(m Module) {
	entries := slices.Clone(m.Entries)
	slices.SortFunc(entries, compareEntries)
	inner := &writer{args: w.args, sets: w.sets}
	inner.number(len(entries))
	for _, e := range entries {
		inner.body = append(inner.body, byte(e.Kind))
	}
	last := ""
	for _, e := range entries {
		shared := sharedPrefix(last, e.Name)
		inner.number(shared)
		inner.text(e.Name[shared:])
		last = e.Name
	}
	first := len(inner.args.list)
	for _, e := range entries {
		inner.arg(shorten(e))
	}
	for _, e := range entries {
		inner.number(inner.sets.of(encodeSet(e.In)))
	}
	w.args, w.sets = inner.args, inner.sets
	w.text(m.Name)
	w.number(w.sets.of(encodeSet(m.In)))
	w.number(first)
	w.text(string(inner.body))
}

// arg writes an argument: 0 for one that was not seen before, which is the next of the list, else its place there plus one. Most
// parameters of functions are seen once.
func (w *writer) arg(text string) {
	seen := len(w.args.list)
	i := w.args.of(text)
	if i == seen {
		w.number(0)
		return
	}
	w.number(i + 1)
}

// sameName ends the argument of an import that binds what it imports by its own name.
const sameName = ":="

// shorten leaves out the name at the end of an import's argument when it is the name that is bound.
func shorten(e Entry) string {
	if module, ok := strings.CutSuffix(e.Arg, ":"+e.Name); ok && e.Name != "" {
		return module + sameName
	}
	return e.Arg
}

func compareEntries(a, b Entry) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind), strings.Compare(a.Arg, b.Arg))
}

func sharedPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// encodeSet writes each run as the gap before it and its length less one.
func encodeSet(s Set) string {
	w := &writer{}
	next := 0
	for _, r := range s {
		w.number(r.From - next)
		w.number(r.To - r.From)
		next = r.To + 1
	}
	return string(w.body)
}
