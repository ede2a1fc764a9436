package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path"
	"path/filepath"

	"github.com/gpu-triage/triage/rules/history"
	"github.com/gpu-triage/triage/rules/history/table"
)

// maker makes the tables of packages.
type maker struct {
	client *client
	parser *parser
	cache  cache
	out    string // the folder of the tables
	anew   bool   // the tables that are there do not count
	// download says that nothing is parsed: the archives are read into the cache, for a run that needs no network.
	download bool
}

// make returns the table of a package, or of Python itself.
func (m *maker) make(ctx context.Context, d history.Listing) ([]byte, error) {
	if d.Name == history.Python {
		return pythons(ctx, d)
	}
	return m.history(ctx, d)
}

// history reads the releases of a package that its table lacks, oldest version first, and returns the new table.
func (m *maker) history(ctx context.Context, d history.Listing) ([]byte, error) {
	releases, err := m.client.releases(ctx, d.Name)
	if err != nil {
		return nil, err
	}
	b := newBuilder(d)
	have, err := m.resume(b, d, releases)
	if err != nil {
		return nil, err
	}
	known := make(map[member][]table.Record)
	for _, r := range releases {
		if have[r.version] {
			continue
		}
		if err := m.release(ctx, b, known, r); err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			log.Printf("%s %s: %v", d.Name, r.version, err)
			b.unread(r)
		}
	}
	if m.download {
		return nil, nil
	}
	return b.encode()
}

// resume goes on from the table that is there, if any.
func (m *maker) resume(b *builder, d history.Listing, releases []release) (map[string]bool, error) {
	if m.anew {
		return nil, nil
	}
	data, err := os.ReadFile(m.tableFile(d))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	t, err := table.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.tableFile(d), err)
	}
	return b.resume(t, releases)
}

func (m *maker) tableFile(d history.Listing) string { return filepath.Join(m.out, d.Name+".history") }

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
func (m *maker) pack(ctx context.Context, d history.Listing, known map[member][]table.Record, r release) (*pack, error) {
	name := path.Join(d.Name, r.version+".pack")
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
		place := placeOf(member.Path, d.Roots)
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
func (m *maker) declare(d history.Listing, known map[member][]table.Record, r release, p *pack) error {
	if len(p.Contents) == 0 {
		return nil
	}
	name := path.Join(d.Name, r.version+"."+programVersion())
	var all []declared
	have, err := m.cache.load(name, &all)
	if err != nil {
		return err
	}
	if !have {
		for _, c := range p.Contents {
			records, err := m.parser.declarations(placeOf(c.Member.Path, d.Roots), c.Source)
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
