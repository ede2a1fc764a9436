package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"log"
	"net/textproto"
	"path"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/rules/history/table"
)

// maker makes the tables of packages.
type maker struct {
	client *client
	parser *parser
	cache  cache
	// download says that nothing is parsed: the archives are read into the cache, for a run that needs no network.
	download bool
}

// distribution is a package of the index and the modules it brings.
type distribution struct {
	name  string
	roots []string // all when empty
}

// history reads every release of a package, oldest version first.
func (m *maker) history(ctx context.Context, d distribution) ([]byte, error) {
	releases, err := m.client.releases(ctx, d.name)
	if err != nil {
		return nil, err
	}
	b := newBuilder(d)
	known := make(map[member][]table.Record)
	for _, r := range releases {
		if err := m.release(ctx, b, known, r); err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			log.Printf("%s %s: %v", d.name, r.version, err)
			b.unread(r)
		}
	}
	if m.download {
		return nil, nil
	}
	return b.encode()
}

// release reads one release; known holds what the files of older ones declare, and takes in those of this one.
func (m *maker) release(ctx context.Context, b *builder, known map[member][]table.Record, r release) error {
	pack, err := m.pack(ctx, b.distribution, known, r)
	if err != nil {
		return err
	}
	if m.download {
		for _, c := range pack.Contents {
			known[c.Member] = nil
		}
		return nil
	}
	if err := m.declare(b.distribution, known, r, pack); err != nil {
		return err
	}
	b.add(r, pack, known)
	return nil
}

// pack is what the release's archive holds, from the cache or from the index.
func (m *maker) pack(ctx context.Context, d distribution, known map[member][]table.Record, r release) (*pack, error) {
	name := path.Join(d.name, r.version+".pack")
	p := &pack{}
	if have, err := m.cache.load(name, p); have || err != nil {
		return p, err
	}
	archive, err := m.client.open(ctx, r.best())
	if err != nil {
		return nil, err
	}
	var want []member
	for _, member := range archive.members {
		place := placeOf(member.Path, d.roots)
		_, have := known[member]
		switch {
		case isMetadata(member.Path):
			want = append(want, member)
		case place.module == "":
			continue
		case !have && !place.native && !place.skipped:
			want = append(want, member)
		}
		p.Members = append(p.Members, member)
	}
	contents, err := archive.read(want)
	if err != nil {
		return nil, err
	}
	for _, member := range want {
		if isMetadata(member.Path) {
			p.Metadata = contents[member]
			continue
		}
		p.Contents = append(p.Contents, content{member, contents[member]})
	}
	return p, m.cache.save(name, p)
}

func isMetadata(name string) bool {
	return path.Base(name) == "METADATA" || path.Base(name) == "PKG-INFO"
}

// declare asks Python, or the cache, what the new files of a release declare.
func (m *maker) declare(d distribution, known map[member][]table.Record, r release, p *pack) error {
	if len(p.Contents) == 0 {
		return nil
	}
	name := path.Join(d.name, r.version+"."+programVersion())
	var all []declared
	have, err := m.cache.load(name, &all)
	if err != nil {
		return err
	}
	if !have {
		for _, c := range p.Contents {
			records, err := m.parser.declarations(placeOf(c.Member.Path, d.roots), c.Source)
			if err != nil {
				return err
			}
			all = append(all, declared{c.Member, records})
		}
		if err := m.cache.save(name, all); err != nil {
			return err
		}
	}
	for _, one := range all {
		known[one.Member] = one.Records
	}
	return nil
}

// builder collects the releases of a package into a table.
type builder struct {
	distribution distribution
	releases     []table.Release
	modules      map[string]*moduleHistory
	roots        map[string]bool
}

type moduleHistory struct {
	in      []int
	records map[table.Record]*table.Set
}

func newBuilder(d distribution) *builder {
	return &builder{distribution: d, modules: make(map[string]*moduleHistory), roots: make(map[string]bool)}
}

func (b *builder) unread(r release) {
	b.releases = append(b.releases, table.Release{Version: r.version, Date: r.date, Unread: true})
}

func (b *builder) add(r release, p *pack, known map[member][]table.Record) {
	at := len(b.releases)
	python, requires := metadata(p.Metadata)
	if python == "" && len(r.files) > 0 {
		python = r.best().RequiresPython
	}
	b.releases = append(b.releases, table.Release{Version: r.version, Date: r.date, RequiresPython: python, Requires: requires})
	for module, records := range modulesOf(p, b.distribution, known) {
		root, _, _ := strings.Cut(module, ".")
		b.roots[root] = true
		h := b.modules[module]
		if h == nil {
			h = &moduleHistory{records: make(map[table.Record]*table.Set)}
			b.modules[module] = h
		}
		h.in = append(h.in, at)
		for record := range records {
			set := h.records[record]
			if set == nil {
				set = new(table.Set)
				h.records[record] = set
			}
			set.Add(at)
		}
	}
}

// modulesOf are the modules of a release with what they declare.
func modulesOf(p *pack, d distribution, known map[member][]table.Record) map[string]map[table.Record]bool {
	modules := make(map[string]map[table.Record]bool)
	ensure := func(name string) map[table.Record]bool {
		for at := name; ; {
			if modules[at] == nil {
				modules[at] = make(map[table.Record]bool)
			}
			dot := strings.LastIndexByte(at, '.')
			if dot < 0 {
				return modules[name]
			}
			at = at[:dot]
		}
	}
	sources, stubs := make(map[string]bool), make(map[string][]table.Record)
	for _, m := range p.Members {
		place := placeOf(m.Path, d.roots)
		switch {
		case place.module == "":
		case place.skipped:
			ensure(place.module)[table.Record{Kind: table.Open, Arg: "not kept"}] = true
		case place.native:
			ensure(place.module)[table.Record{Kind: table.Open, Arg: "native"}] = true
		case place.stub:
			stubs[place.module] = known[m]
		default:
			sources[place.module] = true
			records := ensure(place.module)
			for _, r := range known[m] {
				records[r] = true
			}
		}
	}
	for module, stub := range stubs {
		addStub(ensure(module), stub, sources[module])
	}
	return modules
}

// addStub adds what a stub file declares: all of it for an extension module, names alone beside a source with computed names.
func addStub(records map[table.Record]bool, stub []table.Record, source bool) {
	open := slices.ContainsFunc([]string{"stub"}, func(s string) bool { return records[table.Record{Kind: table.Open, Arg: s}] })
	for r := range records {
		open = open || r.Kind == table.Open
	}
	if source && !open {
		return
	}
	if !source {
		records[table.Record{Kind: table.Open, Arg: "native"}] = true
	}
	for _, r := range stub {
		switch {
		case r.Kind == table.Star && !source:
			records[r] = true
		case r.Name == "" || r.Kind == table.Typing || r.Kind == table.Exported:
		case !source && r.Kind != table.Import:
			records[r] = true
		case source && !strings.Contains(r.Name, "."):
			records[table.Record{Kind: table.Stub, Name: r.Name}] = true
		}
	}
}

func (b *builder) encode() ([]byte, error) {
	var modules []table.Module
	for name, h := range b.modules {
		m := table.Module{Name: name, In: table.SetOf(h.in)}
		for record, in := range h.records {
			m.Entries = append(m.Entries, table.Entry{Record: record, In: *in})
		}
		modules = append(modules, m)
	}
	var roots []string
	for root := range b.roots {
		roots = append(roots, root)
	}
	slices.Sort(roots)
	if len(modules) == 0 {
		return nil, fmt.Errorf("%s: no release could be read", b.distribution.name)
	}
	return table.Encode(b.distribution.name, roots, b.releases, modules)
}

// metadata reads Requires-Python and Requires-Dist.
func metadata(text []byte) (python string, requires []string) {
	header, _, _ := bytes.Cut(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\n\n"))
	fields, err := textproto.NewReader(bufio.NewReader(bytes.NewReader(append(header, "\n\n"...)))).ReadMIMEHeader()
	if err != nil && len(fields) == 0 {
		return "", nil
	}
	return fields.Get("Requires-Python"), fields.Values("Requires-Dist")
}
