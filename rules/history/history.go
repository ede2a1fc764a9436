package history

import (
	"embed"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/history/table"
)

//go:embed data
var shipped embed.FS

// ErrNotCovered tells that no table is about the package asked for.
var ErrNotCovered = errors.New("not covered")

// Presence tells whether a release has a name.
type Presence int8

// What is known of a name in a release.
const (
	Unknown Presence = iota
	Present
	Absent
)

func (p Presence) String() string { return [...]string{"unknown", "present", "absent"}[p] }

// Release is one release of a package.
type Release = table.Release

// Python is the package of Python's own library. Its releases are told by their first two numbers: 3.8 for 3.8.10 too.
const Python = "python"

// Package is the history of one distribution, such as scikit-learn. It may be asked by one goroutine at a time.
type Package struct {
	table    *table.Table
	versions []condition.Version
	lines    bool // a release stands for all whose version begins so
	modules  map[string]*table.Module
	damaged  error
}

// Open reads the history of the distribution that has a dotted name. The error is ErrNotCovered when there is none.
func Open(name string) (*Package, error) {
	d := Distribution(name)
	if d == "" {
		root, _, _ := strings.Cut(name, ".")
		return nil, fmt.Errorf("package %s is %w", root, ErrNotCovered)
	}
	data, err := shipped.ReadFile(path.Join("data", d+".history"))
	if err != nil {
		return nil, err
	}
	return Decode(data)
}

// Decode reads the history of a package from its compact form.
func Decode(data []byte) (*Package, error) {
	t, err := table.Decode(data)
	if err != nil {
		return nil, err
	}
	p := &Package{table: t, modules: make(map[string]*table.Module)}
	for _, r := range t.Releases {
		v, err := condition.ParseVersion(r.Version)
		if err != nil {
			return nil, fmt.Errorf("the history of %s: %w", t.Package, err)
		}
		p.versions = append(p.versions, v)
	}
	p.lines = t.Package == Python
	if len(p.versions) == 0 {
		return nil, fmt.Errorf("the history of %s has no releases", t.Package)
	}
	return p, nil
}

// Name is the distribution's name.
func (p *Package) Name() string { return p.table.Package }

// Releases are all releases that were read, oldest version first: those that are neither yanked nor pre-releases. The slice belongs
// to the package.
func (p *Package) Releases() []Release { return p.table.Releases }

// Index is the place of a version among the releases. A local part does not count: 2.6.0+cu124 is 2.6.0. False tells that it is none
// of them.
func (p *Package) Index(version string) (int, bool) {
	public, _, _ := strings.Cut(version, "+")
	if p.lines {
		public = line(public)
	}
	v, err := condition.ParseVersion(public)
	if err != nil {
		return 0, false
	}
	return slices.BinarySearchFunc(p.versions, v, condition.Version.Compare)
}

// line is the line of releases that a version belongs to: 3.8 for 3.8.10.
func line(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// At tells whether a version has a name. A version that is none of the releases, such as a pre-release or one that was yanked, has
// what both its neighbours have; one that is newer than all has what nobody knows.
func (p *Package) At(name Name, version string) Presence {
	i, exact := p.Index(version)
	if exact {
		return p.at(name, i)
	}
	if _, err := condition.ParseVersion(version); err != nil || i == 0 || i == len(p.versions) {
		return Unknown
	}
	if before := p.at(name, i-1); before == p.at(name, i) {
		return before
	}
	return Unknown
}

// Range is consecutive releases in which the presence of a name is the same.
type Range struct {
	Presence    Presence
	First, Last Release
	From, To    int // their places among the releases
}

// Ranges are what is known of a name over all releases, oldest first.
func (p *Package) Ranges(name Name) []Range {
	return p.ranges(func(i int) Presence { return p.at(name, i) })
}

// ranges joins consecutive releases of which the same is known.
func (p *Package) ranges(at func(i int) Presence) []Range {
	var ranges []Range
	for i, r := range p.table.Releases {
		presence := at(i)
		if n := len(ranges); n > 0 && ranges[n-1].Presence == presence {
			ranges[n-1].Last, ranges[n-1].To = r, i
			continue
		}
		ranges = append(ranges, Range{presence, r, r, i, i})
	}
	return ranges
}

// Damaged is the error of a table of which a part could not be read; what it says of that part is Unknown.
func (p *Package) Damaged() error { return p.damaged }

// module is a module in release i; nil when the release has none of that name.
func (p *Package) module(name string, i int) *table.Module {
	m, known := p.modules[name]
	if !known {
		read, err := p.table.Module(name)
		if err != nil {
			p.damaged = err
		}
		m = read
		p.modules[name] = m
	}
	if m == nil || !m.In.Has(i) {
		return nil
	}
	return m
}
