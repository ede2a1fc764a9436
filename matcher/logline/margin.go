package logline

import (
	"bytes"
	"strings"
)

// leastIndent is how many spaces before all lines are a margin: Markdown takes so many for code. A part of a traceback is set in by fewer.
const leastIndent = 4

// marginOf is what all lines of a source begin with, "" for nothing, where somebody set all of it in or quoted it as in a mail:
//
//	> ValueError: the batch size is None
//
// No wrapper can be learned there, since a margin stands before a single line, too.
func marginOf(head []byte) string {
	if len(head) == headBytes { // its last line is not whole
		head = head[:bytes.LastIndexByte(head, '\n')+1]
	}
	margin, first := "", true
	for line := range bytes.Lines(head) {
		text := string(bytes.TrimRight(line, "\r\n"))
		start := text[:len(text)-len(strings.TrimLeft(text, " >"))]
		switch {
		case start == text: // nothing else is in it
		case first:
			margin, first = start, false
		default:
			margin = commonStart(margin, start)
		}
	}
	if len(margin) < leastIndent && !strings.HasPrefix(margin, ">") {
		return ""
	}
	return margin
}

// commonStart is what two texts begin with.
func commonStart(a, b string) string {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

// withoutMargin takes a margin off a line. A line with nothing else may lack the end of it.
func withoutMargin(text, margin string) string {
	if rest, ok := strings.CutPrefix(text, margin); ok {
		return rest
	}
	if strings.HasPrefix(margin, text) {
		return ""
	}
	return text
}
