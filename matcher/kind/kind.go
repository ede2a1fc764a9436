// Package kind tells by its form what a text is that is no log: source code, a diff, a list of commits, a report of tests that passed,
// configuration, documentation. Such texts speak of errors, and nothing failed in them.
//
// A text is given by a sample: its first bytes and its last ones. Most kinds are rows of a table in forms.go: which lines such a text is made
// of, and which lines hardly stand in any other text. A program may print its configuration or its source before it runs, so that the last
// lines must be of the kind too. What documents quote as a whole is another matter (document.go), and so is where a report of tests ends
// (tests.go).
package kind

import (
	"bytes"
	"strings"
)

// Kind is what a text is, in words that follow "looks like".
type Kind string

// The kinds of texts. What is of no other kind counts as a log.
const (
	Log          Kind = ""
	Source       Kind = "source code"
	Diff         Kind = "a diff"
	Commits      Kind = "a list of commits"
	Tests        Kind = "a report of tests that passed"
	Config       Kind = "configuration"
	Document     Kind = "documentation"
	Conversation Kind = "a conversation about what was solved"
	Commands     Kind = "a list of commands"
	Listing      Kind = "a list of files"
	Found        Kind = "lines that a search found"
)

// MayBeShown tells whether people show such a text, or a part of it, when they ask about a failure.
func (k Kind) MayBeShown() bool { return k == Source || k == Config || k == Commands || k == Listing }

// Note is a sentence about a text of that kind, by the name that the user knows it by.
func (k Kind) Note(source string) string {
	reason := "what it says of errors is no failure"
	switch k {
	case Source:
		reason = "nothing in it has run"
	case Tests:
		reason = "the errors that it names were wanted"
	}
	if source == "-" {
		source = "This"
	}
	return source + " looks like " + string(k) + ": " + reason + "."
}

// HeadBytes is how much of the beginning of a text a sample has.
const HeadBytes = 64 << 10

// Sample is what is known of a text.
type Sample struct {
	Head  []byte // its first bytes, up to HeadBytes
	Tail  []byte // its last bytes; they may be among the first ones
	Lines int    // in the text
	Whole bool   // Head is all of it
}

// Judgement is what a text is, and what of it counts all the same.
type Judgement struct {
	Kind   Kind
	quoted []bool // of a document, by line from 0: it stands between fences, or is indented as code is
	until  int    // the kind is that of the lines up to this one; 0: of all
}

// Covers tells whether the line with that number, from 1, is part of what is no log.
func (j Judgement) Covers(line int) bool {
	return j.Kind != Log && (j.until == 0 || line <= j.until)
}

// Quotes tells whether the line with that number, from 1, stands in a document or a conversation as a program printed it.
func (j Judgement) Quotes(line int) bool {
	return line <= len(j.quoted) && line > 0 && j.quoted[line-1]
}

// Of tells what a text is.
func Of(s Sample) Judgement {
	t := newText(s)
	switch {
	case t.junitPassed():
		return Judgement{Kind: Tests}
	case len(t.filled) < fewest:
		return Judgement{}
	case t.isManual():
		return Judgement{Kind: Document, quoted: t.fenced()}
	}
	for i := range forms {
		if forms[i].fits(t) {
			return Judgement{Kind: forms[i].kind}
		}
	}
	if until := testsEnd(t); until > 0 {
		return Judgement{Kind: Tests, until: until}
	}
	if k := t.prose(); k != Log {
		return Judgement{Kind: k, quoted: t.fenced()}
	}
	return Judgement{}
}

const (
	fewest  = 3   // lines that are not blank: of fewer nobody can tell what they are
	maxHead = 400 // lines from the first that are looked at
	maxLast = 120 // lines up to the last
	maxLine = 300 // bytes of each
)

// text is a sample in lines.
type text struct {
	Sample
	head   []string // the first lines
	last   []string // the last lines that are not among the first
	filled []string // those of both that are not blank
}

func newText(s Sample) *text {
	t := &text{Sample: s, head: linesOf(s.Head)}
	if !s.Whole && len(t.head) > 0 {
		t.head = t.head[:len(t.head)-1] // cut off
	}
	if s.Whole {
		more := len(t.head) - maxHead
		if more > 0 {
			t.last = t.head[len(t.head)-min(more, maxLast):]
		}
	} else if tail := linesOf(s.Tail); len(tail) > 1 {
		t.last = tail[max(1, len(tail)-maxLast):]
	}
	t.head = t.head[:min(len(t.head), maxHead)]
	for _, lines := range [][]string{t.head, t.last} {
		for _, line := range lines {
			if strings.TrimSpace(line) != "" {
				t.filled = append(t.filled, line)
			}
		}
	}
	return t
}

// linesOf cuts bytes into lines, without spaces at their ends.
func linesOf(data []byte) (lines []string) {
	for line := range bytes.Lines(data) {
		lines = append(lines, strings.TrimRight(string(line[:min(len(line), maxLine)]), " \t\r\n"))
	}
	return lines
}
