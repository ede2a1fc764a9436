package reading

import (
	"cmp"
	"strings"

	"github.com/gpu-triage/triage/matcher/prefilter"
	"github.com/gpu-triage/triage/matcher/traceback"
	"github.com/gpu-triage/triage/rules/pattern"
)

// otherQuotes are words in quotes that Python's messages do not have: a program that prints JSON, Markdown or a shell's words puts them in
// the place of Python's. What they enclose has no quotes of its own.
var otherQuotes = pattern.Lazy("\"([^\"'`\n]*)\"|`([^\"'`\n]*)[`']")

// requoted is an exception with Python's quotes in the place of other ones. It tells whether there are any.
func requoted(x *traceback.Exception) (*traceback.Exception, bool) {
	if !strings.ContainsAny(x.Message, "\"`") {
		return x, false
	}
	other := *x
	other.Message = otherQuotes().ReplaceAllString(x.Message, "'$1$2'")
	return &other, other.Message != x.Message
}

// exception is an exception with the signatures that may know it, in its own quotes or in Python's.
func (m *matching) exception(x *traceback.Exception, watching bool, before func() string) Element {
	el := m.untyped(x, watching, before)
	other, ok := requoted(x)
	if !ok {
		return el
	}
	retold := m.untyped(other, watching, before)
	if cmp.Or(len(specific(retold))-len(specific(el)), captures(retold)-captures(el)) > 0 {
		return retold
	}
	return el
}

// captures counts the patterns of an element's signatures that find in its text what they look for.
func captures(el Element) (found int) {
	for _, s := range specific(el) {
		for _, pattern := range s.Capture {
			if pattern.Submatch(el.Text) != nil {
				found++
			}
		}
	}
	return found
}

// typed is an exception with the signatures that may know it as it was printed.
func (m *matching) typed(x *traceback.Exception, watching bool, before func() string) Element {
	el := Element{Line: x.Line, Exception: x, Text: x.Text()}
	m.match(&el, m.words(el.Text), prefilter.InException, watching, before)
	return el
}
