package signature

import (
	"slices"

	"github.com/gpu-triage/triage/rules/condition"
)

// HistoryName is the name by which a signature with history: knows what became of the name that a program asked a package for. It is nil
// when none of the names is of a package whose history is known.
const HistoryName = "history"

// HistoryShape are its members. What is not known, or does not apply, is unknown.
func HistoryShape() condition.Shape {
	text, truth, number := condition.Shape{Type: condition.String}, condition.Shape{Type: condition.Bool}, condition.Shape{Type: condition.Number}
	return condition.Shape{Type: condition.Object, Members: map[string]condition.Shape{
		"name":         text,   // as it was asked for: transformers.AdamW
		"package":      text,   // the distribution: transformers
		"state":        text,   // of the installed release: present, absent, or unknown
		"lacks":        truth,  // the installed release does not have it; unknown when nobody knows which is installed
		"change":       text,   // removed, added, "added and removed" where it came and went, "never" where no release has it, or "always" where each has
		"spans":        text,   // the releases that have it: "up to 4.49.0 (2025-03)"
		"installed":    text,   // the release that the log or the user names
		"implied":      text,   // which one it must be, by the error: "4.50.0 or newer"
		"without":      text,   // the releases that do not have it
		"own":          truth,  // the package's own code asks for it, as the frames show
		"moved":        text,   // where the newest release has it
		"renamed":      text,   // what a parameter is called now
		"meant":        text,   // of a name that no release has: the one beside it that is spelled almost so
		"imports":      text,   // of a bare name that no module stands before: the lines that import it, the likeliest first
		"instead":      text,   // the code to write in its place
		"said":         text,   // what the package itself says of it
		"guessed":      truth,  // of a parameter of a function that nobody names: nothing but its name says of which package it is
		"asker":        text,   // the package whose code asks; unknown for the user's own
		"asked_by":     text,   // its release
		"asked_in":     text,   // the releases of the asker that import the name
		"asked_still":  truth,  // the newest release of the asker does so too; unknown where none is seen to
		"wants":        text,   // the releases of the package that the asker's release depends on
		"pin":          text,   // the newest release that has the name and fits what else is known to be installed
		"pin_day":      text,   // a day soon after that release, when it is more than a year older than the newest: 2021-11-26
		"needs_python": text,   // the oldest Python that takes a release with the name, when the installed one takes none: 3.7
		"pin_python":   text,   // the Python that it was made for, when a later one is installed: 3.8
		"checked":      text,   // the newest release that was looked into
		"lacked_until": number, // the year of the newest release that is known to lack it, as 2012
		"years":        number, // for how long all releases have had it, up to the newest one; unknown when that one has it not
		"since":        text,   // the first of the newest releases that have it; unknown when the newest has it not
		"fresh":        truth,  // the installed release is of the line in which the name came, as 4.29.1 where it came with 4.29.0
		"next":         text,   // the last release of the line after the installed one
		"before":       text,   // of a name that was added: the newest release without it
	}}
}

// historyIsAsked notes a condition or sentence about a history that the signature does not ask for.
func (l *loader) historyIsAsked(s *Signature, f *signatureFile) {
	about := func(e *condition.Expression) bool { return slices.Contains(e.Names(), HistoryName) }
	if len(s.History) == 0 && (slices.ContainsFunc(s.Match, about) || slices.ContainsFunc(s.Confirm, about)) {
		l.Problem(f.ID.Line, f.ID.Column, "a condition asks about history, and no name stands under history:, as in history: [\"{module}.{name}\"]")
	}
}
