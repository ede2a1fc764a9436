package table

import "time"

// Kind is what a record says.
type Kind byte

// The kinds of records. Name is a name in the module, or "Class.name" below a class. Modules in Arg are absolute.
const (
	Function  Kind = 'f' // a function; Arg holds its parameters
	Class     Kind = 'c' // a class; Arg holds its bases, as they are written, with commas between
	Value     Kind = 'v' // an assignment, or what else binds a name
	Import    Kind = 'i' // a name bound by an import; Arg is "module:name", or "module:" for the module itself
	Lazy      Kind = 'l' // an import that happens when the name is asked for
	Typing    Kind = 't' // an import that only type checkers see
	Member    Kind = 'm' // a method; Arg holds its parameters
	Attribute Kind = 'p' // a property or attribute of a class; Arg is "property" for one
	Field     Kind = 'd' // a field of a class, which a dataclass takes as a parameter; Arg is "=" when it has a default
	Instance  Kind = 's' // an attribute that a method sets on self
	Renamed   Kind = 'r' // a parameter that a decorator takes under its old name; Arg is "old>new", Name the function
	Gone      Kind = 'g' // a name that is refused by name; Arg is what the package says about it
	Exported  Kind = 'a' // an entry of __all__
	Stub      Kind = 'y' // a name of the module's stub file (.pyi); Arg as for a function

	// Records about the whole module, whose Name is "".

	Star       Kind = '*' // from Arg import *
	TypingStar Kind = 'T' // the same, for type checkers only
	ExportsOf  Kind = 'A' // __all__ has the names of __all__ in module Arg, too
	Folder     Kind = 'L' // what the modules below Arg export is imported lazily
	Delegate   Kind = 'D' // what is not here is looked for in module Arg
	Open       Kind = '?' // names may be made in other ways; Arg says how
	OpenAll    Kind = '!' // __all__ is computed
)

// Record is one thing that a source file declares.
type Record struct {
	Kind Kind
	Name string
	Arg  string
}

// Entry is a record with the releases that have it.
type Entry struct {
	Record
	In Set
}

// Release is one release of a package.
type Release struct {
	Version        string    `json:"version"`
	Date           time.Time `json:"date"`
	RequiresPython string    `json:"requires_python,omitempty"` // ">=3.9"
	Requires       []string  `json:"requires,omitempty"`        // as in Requires-Dist: "numpy>=1.17", "torch; extra == 'torch'"
	Unread         bool      `json:"unread,omitempty"`          // its archive could not be read: nothing is known of its names
}

// Module is a module with the releases that have it. Entries are sorted by Name, Kind and Arg.
type Module struct {
	Name    string
	In      Set
	Entries []Entry
}

// Table is the history of one package.
type Table struct {
	Package  string // as the index calls it
	Roots    []string
	Releases []Release // oldest version first
	modules  []packed  // sorted by name
	args     []string
	sets     []Set
}

// packed is a module that is not decoded yet.
type packed struct {
	name    string
	in      Set
	arg     int // the first of its arguments that no module before it has
	entries string
}

// Set is a set of releases, by their indexes in Table.Releases: runs that do not touch, in order.
type Set []Run

// Run is the releases From to To, both included.
type Run struct{ From, To int }

// Has tells whether release i is in the set.
func (s Set) Has(i int) bool {
	for _, r := range s {
		if i <= r.To {
			return i >= r.From
		}
	}
	return false
}

// SetOf is the set of indexes, which must be in order.
func SetOf(indexes []int) Set {
	var s Set
	for _, i := range indexes {
		s.Add(i)
	}
	return s
}

// Add puts release i, which is newer than all that are there, into the set.
func (s *Set) Add(i int) {
	if n := len(*s); n > 0 && (*s)[n-1].To >= i-1 {
		(*s)[n-1].To = i
		return
	}
	*s = append(*s, Run{i, i})
}
