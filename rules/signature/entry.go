package signature

import (
	"regexp"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/pattern"
	"github.com/gpu-triage/triage/rules/rulefile"
)

// Entry is what must be known of a signature before a log is read.
type Entry struct {
	ID       string   `json:"id,omitempty"`
	Role     Role     `json:"role,omitempty"`
	Keywords []string `json:"keywords,omitempty"` // literals, one of which, or of Last, stands in every event that can match
	Last     []string `json:"last,omitempty"`     // as a signature's
	Requires []string `json:"requires,omitempty"` // regular expressions, each of which matches in every event that can match
	Before   bool     `json:"before,omitempty"`   // the match is about the lines before the event too
	Explains []string `json:"explains,omitempty"`
	Raised   bool     `json:"raised,omitempty"` // no line can match, only an exception
	About    string   `json:"about,omitempty"`  // the finding of a comparison that it is asked about instead of lines: PaceFinding, FlightFinding or ""

	signature func() *Signature
	place     rulefile.Problem
}

// Signature is all that is known.
func (e *Entry) Signature() *Signature { return e.signature() }

func newEntry(s *Signature, scope *condition.Scope) *Entry {
	e := &Entry{
		ID: s.ID, Role: s.Role, Keywords: s.Keywords, Last: s.Last, Explains: s.Explains, About: about(s.Match, scope),
		signature: func() *Signature { return s }, place: s.Place,
	}
	line := scope.NewSituation()
	line.Set("error", NoException())
	for _, condition := range s.Match {
		e.Raised = e.Raised || condition.Eval(line).False()
		if pattern := condition.Requires(); pattern != nil {
			e.Requires = append(e.Requires, pattern.String())
		}
		for _, name := range condition.Names(scope) {
			e.Before = e.Before || name == "before"
		}
	}
	return e
}

// KindPatterns are patterns of which each matches in every line of whose kind one may be an event of the signature.
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

// Known is what tells enough of a signature's file, so that the file can be read later: its entry, and what it adds to the scope of all
// signatures.
type Known struct {
	Entry
	Names []string `json:"names,omitempty"` // groups of captures, and environment variables
	Seen  []string `json:"seen,omitempty"`  // patterns that conditions look for anywhere in a log
}
