package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/rules/history"
	"github.com/gpu-triage/triage/rules/history/table"
)

// builder collects the releases of a package into a table, in any order.
type builder struct {
	distribution history.Listing
	releases     []table.Release
	modules      map[string]*moduleHistory
}

// moduleHistory is a module with the places in builder.releases of those that have it and its records.
type moduleHistory struct {
	in      []int
	records map[table.Record][]int
}

func newBuilder(d history.Listing) *builder {
	return &builder{distribution: d, modules: make(map[string]*moduleHistory)}
}

// resume takes over a table that was made before, but for releases that the index has no more. It returns the versions that it knows.
func (b *builder) resume(t *table.Table, offered []release) (known map[string]bool, err error) {
	known = make(map[string]bool)
	stays := make([]int, len(t.Releases))
	for i, r := range t.Releases {
		stays[i] = -1
		if !r.Unread && slices.ContainsFunc(offered, func(o release) bool { return o.version == r.Version }) {
			stays[i] = len(b.releases)
			b.releases = append(b.releases, r)
			known[r.Version] = true
		}
	}
	for _, name := range t.ModuleNames() {
		m, err := t.Module(name)
		if err != nil {
			return nil, err
		}
		h := b.module(name)
		h.in = moved(m.In, stays)
		for _, e := range m.Entries {
			if in := moved(e.In, stays); len(in) > 0 {
				h.records[e.Record] = in
			}
		}
	}
	return known, nil
}

// moved are the members of a set at their new places; those that have none are left out.
func moved(s table.Set, places []int) (indexes []int) {
	for _, r := range s {
		for i := r.From; i <= r.To; i++ {
			if places[i] >= 0 {
				indexes = append(indexes, places[i])
			}
		}
	}
	return indexes
}

func (b *builder) module(name string) *moduleHistory {
	h := b.modules[name]
	if h == nil {
		h = &moduleHistory{records: make(map[table.Record][]int)}
		b.modules[name] = h
	}
	return h
}

// unread adds a release of which nothing is known.
func (b *builder) unread(r release) {
	b.releases = append(b.releases, table.Release{Version: r.version, Date: r.date, Unread: true})
}

// add adds a release; known holds what its files declare.
func (b *builder) add(r release, p *pack, known map[member][]table.Record) {
	python, requires := metadata(p.Metadata)
	b.addModules(table.Release{
		Version: r.version, Date: r.date, RequiresPython: cmp.Or(python, r.best().RequiresPython), Requires: requires,
	}, modulesOf(p, b.distribution, known))
}

// addModules adds a release with what its modules declare.
func (b *builder) addModules(r table.Release, modules map[string]map[table.Record]bool) {
	at := len(b.releases)
	b.releases = append(b.releases, r)
	for module, records := range modules {
		h := b.module(module)
		h.in = append(h.in, at)
		open := isOpen(records)
		for record := range records {
			if open || record.Kind != table.Typing && record.Kind != table.TypingStar {
				h.records[record] = append(h.records[record], at)
			}
		}
	}
}

// isOpen tells whether a module makes names that its source does not show. What it promises to type checkers matters only then.
func isOpen(records map[table.Record]bool) bool {
	for r := range records {
		if r.Kind == table.Open {
			return true
		}
	}
	return false
}

// encode orders the releases by version and writes the table.
func (b *builder) encode() ([]byte, error) {
	places := b.byVersion()
	var modules []table.Module
	roots := make(map[string]bool)
	for name, h := range b.modules {
		if len(h.in) == 0 {
			continue
		}
		root, _, _ := strings.Cut(name, ".")
		roots[root] = true
		m := table.Module{Name: name, In: setAt(h.in, places)}
		for record, in := range h.records {
			m.Entries = append(m.Entries, table.Entry{Record: record, In: setAt(in, places)})
		}
		modules = append(modules, m)
	}
	if len(modules) == 0 {
		return nil, fmt.Errorf("%s: no release could be read", b.distribution.Name)
	}
	return table.Encode(b.distribution.Name, b.rootOrder(roots), b.releases, modules, compress)
}

// compress uses the program zstd where there is one, which gets a tenth more out of it.
func compress(body []byte) ([]byte, error) {
	program, err := exec.LookPath("zstd")
	if err != nil {
		return table.Compress(body)
	}
	zstd := exec.Command(program, "--ultra", "-22", "--long=27", "--check", "--stdout", "--quiet")
	zstd.Stdin = bytes.NewReader(body)
	return zstd.Output()
}

// byVersion orders the releases; the result tells for each old place the new one.
func (b *builder) byVersion() []int {
	order := make([]int, len(b.releases))
	for i := range order {
		order[i] = i
	}
	old := b.releases
	slices.SortFunc(order, func(i, j int) int { return compareVersions(old[i].Version, old[j].Version) })
	b.releases = make([]table.Release, len(old))
	places := make([]int, len(old))
	for now, before := range order {
		b.releases[now] = old[before]
		places[before] = now
	}
	return places
}

func setAt(indexes, places []int) table.Set {
	now := make([]int, len(indexes))
	for i, before := range indexes {
		now[i] = places[before]
	}
	slices.Sort(now)
	return table.SetOf(now)
}

// rootOrder puts the package's main module first.
func (b *builder) rootOrder(roots map[string]bool) []string {
	var order []string
	for _, root := range slices.Concat(b.distribution.Roots, []string{strings.ReplaceAll(b.distribution.Name, "-", "_")}) {
		if roots[root] {
			order = append(order, root)
			delete(roots, root)
		}
	}
	var rest []string
	for root := range roots {
		rest = append(rest, root)
	}
	slices.Sort(rest)
	return append(order, rest...)
}
