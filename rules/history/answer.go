package history

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Answer is what is known of a name over all releases of its package.
type Answer struct {
	Schema   string   `json:"schema"` // triage.history/v1
	Name     string   `json:"name"`
	Package  string   `json:"package"`
	Releases []Span   `json:"releases"` // oldest first
	Place    string   `json:"defined_in,omitempty"`
	Moved    []string `json:"moved_to,omitempty"`
	Renamed  string   `json:"renamed_to,omitempty"`
	Said     string   `json:"said,omitempty"`    // by the package, of a name that it refuses
	Instead  string   `json:"instead,omitempty"` // the code to write in its place
	Checked  UpTo     `json:"checked_up_to"`
	Unread   []string `json:"unread,omitempty"` // releases whose archives could not be read
}

// Span is consecutive releases in which a name is there, is not there, or nobody knows.
type Span struct {
	Present   *bool  `json:"present"` // nil when it is not known
	Since     string `json:"since"`
	SinceDate string `json:"since_date"`
	Until     string `json:"until"`
	UntilDate string `json:"until_date"`
	Count     int    `json:"count"`
}

// UpTo is the newest release that was read.
type UpTo struct {
	Version string `json:"version"`
	Date    string `json:"date"`
}

const day = "2006-01-02"

// Ask answers a name as it is written on a command line. The error is ErrNotCovered when its package has no table.
func Ask(text string) (*Answer, error) {
	name, err := ParseName(text)
	if err != nil {
		return nil, err
	}
	p, err := Open(name.Dotted)
	if errors.Is(err, ErrNotCovered) {
		return nil, fmt.Errorf("%w; %d packages are, which rules/history/packages.txt names", err, len(Covered()))
	}
	if err != nil {
		return nil, err
	}
	answer := p.Answer(name)
	return answer, p.Damaged()
}

// Answer is what is known of a name over all releases.
func (p *Package) Answer(name Name) *Answer {
	releases := p.Releases()
	newest := len(releases) - 1
	a := &Answer{
		Schema: "triage.history/v1", Name: name.String(), Package: p.Name(), Releases: []Span{},
		Checked: UpTo{releases[newest].Version, releases[newest].Date.Format(day)},
	}
	for _, r := range p.Ranges(name) {
		a.Releases = append(a.Releases, span(r))
	}
	for _, r := range releases {
		if r.Unread {
			a.Unread = append(a.Unread, r.Version)
		}
	}
	if p.at(name, newest) == Absent {
		s := p.Successor(name, newest)
		a.Moved, a.Renamed, a.Said, a.Instead = s.Moved, s.Renamed, s.Said, s.Instead
	} else if f := p.find(name.Dotted, newest); f.module != "" && name.Parameter == "" {
		if place := strings.Trim(f.module+"."+f.name, "."); place != name.Dotted {
			a.Place = place
		}
	}
	return a
}

func span(r Range) Span {
	s := Span{
		Since: r.First.Version, SinceDate: r.First.Date.Format(day),
		Until: r.Last.Version, UntilDate: r.Last.Date.Format(day), Count: r.To - r.From + 1,
	}
	if r.Presence != Unknown {
		s.Present = new(r.Presence == Present)
	}
	return s
}

// Has tells whether some release has the name.
func (a *Answer) Has() bool {
	return slices.ContainsFunc(a.Releases, func(s Span) bool { return s.Present != nil && *s.Present })
}

// Text is the answer for a terminal.
func (a *Answer) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, of package %s\n\n", a.Name, a.Package)
	for i, s := range slices.Backward(a.Releases) {
		b.WriteString("  " + s.text(i == 0, i == len(a.Releases)-1) + "\n")
	}
	b.WriteString("\n")
	a.successor(&b)
	if len(a.Unread) > 0 {
		fmt.Fprintf(&b, "Not read: %s.\n", strings.Join(a.Unread, ", "))
	}
	fmt.Fprintf(&b, "Checked up to %s %s, %s.\n", a.Package, a.Checked.Version, a.Checked.Date)
	return b.String()
}

func (s Span) text(oldest, newest bool) string {
	word := "not known"
	if s.Present != nil && *s.Present {
		word = "there"
	} else if s.Present != nil {
		word = "not there"
	}
	switch {
	case oldest && newest:
		return fmt.Sprintf("%-10s in all %d releases, %s (%s) to %s (%s)", word, s.Count, s.Since, s.SinceDate, s.Until, s.UntilDate)
	case newest:
		return fmt.Sprintf("%-10s since %s (%s)", word, s.Since, s.SinceDate)
	case s.Since == s.Until:
		return fmt.Sprintf("%-10s in %s (%s)", word, s.Since, s.SinceDate)
	case oldest:
		return fmt.Sprintf("%-10s until %s (%s)", word, s.Until, s.UntilDate)
	}
	return fmt.Sprintf("%-10s from %s (%s) to %s (%s)", word, s.Since, s.SinceDate, s.Until, s.UntilDate)
}

func (a *Answer) successor(b *strings.Builder) {
	if a.Place != "" {
		fmt.Fprintf(b, "Defined as %s.\n", a.Place)
	}
	if len(a.Moved) > 0 {
		fmt.Fprintf(b, "In %s it is %s.\n", a.Checked.Version, strings.Join(a.Moved, " or "))
	}
	if a.Renamed != "" {
		fmt.Fprintf(b, "The parameter is now called %s.\n", a.Renamed)
	}
	if a.Instead != "" {
		fmt.Fprintf(b, "Write instead: %s\n", a.Instead)
	}
	if a.Said != "" {
		fmt.Fprintf(b, "The package says: %s\n", a.Said)
	}
}
