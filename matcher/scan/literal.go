package scan

import (
	"regexp"
	"strings"
)

// Literal is a run of bytes to look for. A line break can only be its end.
type Literal struct {
	Text string
	Fold bool // Text is in lower case, and ASCII letters of the log match it in either case
}

// In says whether text contains the literal.
func (l Literal) In(text string) bool {
	if !l.Fold {
		return strings.Contains(text, l.Text)
	}
	return strings.Contains(lower(text), l.Text)
}

// String is the literal in the syntax of package regexp.
func (l Literal) String() string {
	if l.Fold {
		return "(?i)" + regexp.QuoteMeta(l.Text)
	}
	return regexp.QuoteMeta(l.Text)
}

// MinLiteral is the length in bytes of the shortest literal that a Set takes. Below WideLiteral bytes a literal makes the whole
// scan slower: how much, cmd/bench/run tells.
const (
	MinLiteral  = 5
	WideLiteral = 8
)

// Folded is the literal for its text in either case of each ASCII letter.
func (l Literal) Folded() Literal { return Literal{Text: lower(l.Text), Fold: true} }

// lower folds ASCII letters only, as a Set does.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	return string(b)
}
