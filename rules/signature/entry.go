package signature

import (
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/fact"
	"github.com/gpu-triage/triage/rules/pattern"
	"github.com/gpu-triage/triage/rules/rulefile"
)

// Entry is what must be known of a signature before a log is read.
type Entry struct {
	ID        string
	Role      Role
	Keywords  []string // literals, one of which, or of Last, stands in every event that can match
	Last      []string // as a signature's
	Requires  []string // regular expressions, each of which matches in every event that can match; a keyword does for the type of an exception
	Before    bool     // the match is about the lines before the event too
	Explains  []string
	Overrides []string
	Raised    bool   // no line can match, only an exception
	About     string // the finding of a comparison that it is asked about instead of lines: PaceFinding, FlightFinding or ""

	signature  func() *Signature
	place      rulefile.Problem
	overridden []rulefile.Problem // where the ids in Overrides stand; none when an index tells of them
	outranks   map[string]bool    // what it overrides, also through others
}

// Outranks tells whether the signature is the answer rather than the one with that id, where both fit the same exception or line.
func (e *Entry) Outranks(id string) bool { return e.outranks[id] }

// Signature is all that is known.
func (e *Entry) Signature() *Signature { return e.signature() }

func newEntry(s *Signature, scope *condition.Scope) *Entry {
	e := &Entry{
		ID: s.ID, Role: s.Role, Keywords: s.Keywords, Last: s.Last, Explains: s.Explains, Overrides: s.Overrides, About: about(s.Match),
		signature: func() *Signature { return s }, place: s.Place, overridden: s.overridden,
	}
	e.Before = len(s.Printed) > 0 // its patterns are over these lines
	line, untyped := scope.NewSituation(), scope.NewSituation()
	line.Set("error", NoException())
	SetLine(untyped, "", "")
	untyped.Set("error", untypedException())
	for _, c := range s.Match {
		e.Raised = e.Raised || c.Eval(line).False()
		asksType := !c.Eval(untyped).Known()
		if required := c.Requires(); required != nil && (len(e.Keywords) == 0 || !asksType) {
			e.Requires = append(e.Requires, required.String())
		}
		e.Before = e.Before || slices.Contains(c.Names(), "before")
	}
	return e
}

// untypedException is one whose message was printed without its type: a keyword in the message has to do.
func untypedException() condition.Value {
	members := maps.Clone(NoException().Members())
	members["type"], members["name"] = condition.Value{}, condition.Value{}
	return condition.ObjectValue(members)
}

// TemplatePatterns are patterns of which each matches in every line of a line template when one of its lines may be an event of the
// signature.
func (e *Entry) TemplatePatterns() []*pattern.Pattern {
	words := make([]string, 0, len(e.Keywords)+len(e.Last))
	for _, word := range slices.Concat(e.Keywords, e.Last) {
		words = append(words, regexp.QuoteMeta(word))
	}
	var all []*pattern.Pattern
	for _, source := range append([]string{strings.Join(words, "|")}, e.Requires...) {
		if p, err := pattern.New(source); err == nil {
			all = append(all, p.AnyNumbers())
		}
	}
	return all
}

// Known tells enough of a signature's file, so that the file can be read later: its entry, and what it adds to the scope of all
// signatures.
type Known struct {
	Entry
	Names       []string // groups of captures, and environment variables
	LogPatterns []string // that conditions look for anywhere in a log
}

// Know reads a file as if there were no other, for an index of the files that tells the next start what is to be known of them.
func Know(v *fact.Vocabulary, files fs.FS, name string) (*Known, error) {
	l := newLoader(&rulefile.Decoder{File: name}, v)
	before := len(l.scope.Names())
	f := parsedFile{name: name}
	if err := f.read(files, nil); err != nil {
		return nil, err
	}
	s := l.signature(&f)
	if s == nil {
		return nil, l.Problems
	}
	known := &Known{Entry: *newEntry(s, l.scope), Names: append([]string(nil), l.scope.Names()[before:]...)}
	for _, p := range l.scope.LogPatterns() {
		known.LogPatterns = append(known.LogPatterns, p.String())
	}
	return known, nil
}
