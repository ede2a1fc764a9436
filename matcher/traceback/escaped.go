package traceback

import (
	"strings"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/rules/pattern"
)

// unescape reads a traceback that was printed as a Python string or list of strings, on one line.
func (a *Assembler) unescape(l logline.Line) bool {
	text := l.Body()
	return a.unfold(l, strings.Split(unquoted(text[strings.Index(text, logline.TracebackHeader):]), "\n"))
}

// unbox reads rich's box whose lines were joined to one, as by who quotes a page.
func (a *Assembler) unbox(l logline.Line) bool {
	text := l.Body()
	header, rest, _ := strings.Cut(text[strings.Index(text, "╭"):], "╮")
	inside, last, closed := strings.Cut(rest, "╰")
	if !closed {
		return false
	}
	lines := []string{header + "╮"}
	cells := strings.Split(inside, side)
	for i, cell := range cells {
		line := side + cell + side
		if strings.HasPrefix(strings.TrimSpace(cell), "❱") && i+1 < len(cells) {
			line = side + cell + side + cells[i+1] + side
		}
		lines = append(lines, line)
	}
	border, said, _ := strings.Cut(last, "╯")
	return a.unfold(l, append(lines, "╰"+border+"╯", strings.TrimSpace(said)))
}

var (
	// joinedFrame is a frame behind another or behind the header, where a page made blanks of the line breaks.
	joinedFrame = pattern.Lazy(`\s+(File "[^"\n]{1,400}", line \d+(?:, in (?:<[^<>\s]+>|[\w.]+))?)(?:\s+|$)`)
	// joinedLink is what parts the tracebacks of a chain there.
	joinedLink = pattern.Lazy(`\s+(During handling of the above exception, another exception occurred:|The above exception was the direct cause of the following exception:)\s+`)
	// joinedLast is a source line with the last line of its traceback behind it.
	joinedLast = pattern.Lazy(`^(    .*?\S)\s+((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit)(?:: .*)?)$`)
)

// isJoined tells whether a line is a traceback whose line breaks were lost.
func isJoined(text string) bool {
	_, rest, ok := strings.Cut(text, lastCalls+": ")
	return ok && strings.HasPrefix(strings.TrimLeft(rest, " "), `File "`)
}

// unjoin reads a traceback whose line breaks were lost.
func (a *Assembler) unjoin(l logline.Line) bool {
	text := l.Body()
	text = joinedLink().ReplaceAllString(text[strings.Index(text, logline.TracebackHeader):], "\n\n$1\n\n")
	lines := strings.Split(joinedFrame().ReplaceAllString(text, "\n  $1\n    "), "\n")
	for i, line := range lines {
		lines[i] = joinedLast().ReplaceAllString(line, "$1\n$2")
	}
	return a.unfold(l, strings.Split(strings.Join(lines, "\n"), "\n"))
}

// unfold reads the lines that one line stands for.
func (a *Assembler) unfold(l logline.Line, lines []string) bool {
	if a.inText { // all escapes of a string are undone at once, so that it has no other string in it
		return false
	}
	found := false
	inner := newCollector(func(e *Exception) {
		found = true
		a.yield(e, logline.Line{})
	})
	inner.inText, inner.before = true, a.before
	for _, part := range lines {
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
