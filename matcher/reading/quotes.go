package reading

import (
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
	more := len(specific(retold)) - len(specific(el))
	none := !strings.Contains(x.Message, "'") && len(specific(retold)) > 0 // what it has in quotes is found in the other form alone
	if more > 0 || more == 0 && none {
		return retold
	}
	return el
}

// typed is an exception with the signatures that may know it as it was printed.
func (m *matching) typed(x *traceback.Exception, watching bool, before func() string) Element {
	el := Element{Line: x.Line, Exception: x, Text: x.Text()}
	m.match(&el, m.words(el.Text), prefilter.InException, watching, before)
	return el
}
