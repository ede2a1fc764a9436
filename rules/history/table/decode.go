package table

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

// maxBody bounds a table after decompression, in bytes.
const maxBody = 256 << 20

var errDamaged = errors.New("the history is damaged; install this program again")

// reader reads the body of a table. After the first mistake it gives zeros, and failed is true.
type reader struct {
	rest   string
	failed bool
}

func (r *reader) number() int {
	var n uint64
	for shift := 0; shift < 64 && len(r.rest) > 0; shift += 7 {
		b := r.rest[0]
		r.rest = r.rest[1:]
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			if n > maxBody {
				break
			}
			return int(n)
		}
	}
	r.failed = true
	return 0
}

// count is a number of things that take at least one byte each.
func (r *reader) count() int {
	n := r.number()
	if n > len(r.rest) {
		r.failed = true
		return 0
	}
	return n
}

func (r *reader) text() string {
	n := r.count()
	text := r.rest[:n]
	r.rest = r.rest[n:]
	return text
}

func (r *reader) texts() []string {
	list := make([]string, r.count())
	for i := range list {
		list[i] = r.text()
	}
	return list
}

// pick is the thing that the next number stands for.
func pick[T any](r *reader, list []T) (thing T) {
	i := r.number()
	if i >= len(list) {
		r.failed = true
		return thing
	}
	return list[i]
}

// Decode reads a table. Its modules are read when they are asked for.
func Decode(data []byte) (*Table, error) {
	compressed, ok := bytes.CutPrefix(data, []byte(magic))
	if !ok {
		return nil, fmt.Errorf("this is no history of form %d: %w", magic[len(magic)-1], errDamaged)
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxBody), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer decoder.Close()
	body, err := decoder.DecodeAll(compressed, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	return decodeBody(string(body))
}

func decodeBody(body string) (*Table, error) {
	r := &reader{rest: body}
	t := &Table{Package: r.text(), Roots: r.texts()}
	t.Releases = r.releases()
	t.sets = decodeSets(r, len(t.Releases))
	t.args = r.texts()
	t.modules = make([]packed, r.count())
	for i := range t.modules {
		t.modules[i] = packed{name: r.text(), in: pick(r, t.sets), arg: r.number(), entries: r.text()}
	}
	if r.failed || len(r.rest) > 0 {
		return nil, errDamaged
	}
	return t, nil
}

func (r *reader) releases() []Release {
	requires := r.texts()
	releases := make([]Release, r.count())
	for i := range releases {
		releases[i] = Release{Version: r.text(), Date: time.Unix(int64(r.number())*secondsPerDay, 0).UTC(), RequiresPython: r.text()}
		for range r.count() {
			releases[i].Requires = append(releases[i].Requires, pick(r, requires))
		}
		releases[i].Unread = r.number() == 1
	}
	return releases
}

func decodeSets(r *reader, releases int) []Set {
	sets := make([]Set, r.count())
	for i := range sets {
		runs := &reader{rest: r.text()}
		next := 0
		for len(runs.rest) > 0 && !runs.failed {
			from := next + runs.number()
			to := from + runs.number()
			sets[i] = append(sets[i], Run{from, to})
			next = to + 1
		}
		r.failed = r.failed || runs.failed || next > releases
	}
	return sets
}

// find is the place of a module among t.modules.
func (t *Table) find(name string) (int, bool) {
	return slices.BinarySearchFunc(t.modules, name, func(m packed, name string) int { return strings.Compare(m.name, name) })
}

// Has tells whether some release has a module.
func (t *Table) Has(name string) bool {
	_, found := t.find(name)
	return found
}

// Module decodes the module of that name, nil when no release has it. An error tells that the table is damaged.
func (t *Table) Module(name string) (*Module, error) {
	i, found := t.find(name)
	if !found {
		return nil, nil
	}
	return t.decode(t.modules[i])
}

// ModuleNames are the names of all modules of all releases, sorted.
func (t *Table) ModuleNames() []string {
	names := make([]string, len(t.modules))
	for i, m := range t.modules {
		names[i] = m.name
	}
	return names
}

func (t *Table) decode(m packed) (*Module, error) {
	r := &reader{rest: m.entries}
	module := &Module{Name: m.name, In: m.in, Entries: make([]Entry, r.count())}
	for i := range module.Entries {
		if len(r.rest) == 0 {
			return nil, errDamaged
		}
		module.Entries[i].Kind = Kind(r.rest[0])
		r.rest = r.rest[1:]
	}
	last := ""
	for i := range module.Entries {
		shared := r.number()
		if shared > len(last) {
			return nil, errDamaged
		}
		last = last[:shared] + r.text()
		module.Entries[i].Name = last
	}
	next := m.arg
	for i := range module.Entries {
		e := &module.Entries[i]
		at := r.number() - 1
		if at < 0 {
			at = next
			next++
		}
		if at >= len(t.args) {
			return nil, errDamaged
		}
		e.Arg = t.args[at]
		if of, ok := strings.CutSuffix(e.Arg, sameName); ok {
			e.Arg = of + ":" + e.Name
		}
	}
	for i := range module.Entries {
		module.Entries[i].In = pick(r, t.sets)
	}
	if r.failed || len(r.rest) > 0 {
		return nil, errDamaged
	}
	return module, nil
}
