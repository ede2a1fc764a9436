package traceback

import (
	"strings"

	"github.com/gpu-triage/triage/matcher/logline"
)

// unescape reads a traceback that was printed as a Python string or list of strings, on one line.
func (a *Assembler) unescape(l logline.Line) bool {
	if a.inText { // all escapes of a string are undone at once, so that it has no other string in it
		return false
	}
	text := l.Body()
	i := strings.Index(text, logline.TracebackHeader)
	found := false
	inner := newCollector(func(e *Exception) {
		found = true
		a.yield(e, logline.Line{})
	})
	inner.inText, inner.before = true, a.before
	for _, part := range strings.Split(unquoted(text[i:]), "\n") {
		l.Text, l.Head = part, 0
		inner.Feed(l)
	}
	inner.Close()
	return found
}

// escapes are what Python's strings have for other characters, and for the end of one string of a list and the beginning of the next.
var escapes = strings.NewReplacer(`\\n`, "\n", `\n', '`, "\n", `\n", '`, "\n", `\n', "`, "\n", `\n", "`, "\n", `\n`, "\n", `\"`, `"`, `\'`, `'`,
	`\t`, "\t", `\\`, `\`)

// unquoted undoes the escapes of Python strings, and joins the strings of a list.
func unquoted(s string) string {
	return strings.TrimRight(escapes.Replace(s), "\n'\"]}), ")
}
