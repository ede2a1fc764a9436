package logline

import (
	"bytes"
	"strings"
)

const (
	minLabelled   = 8    // fewer lines with a label prove nothing
	maxLabelLines = 2000 // that are looked at
	maxLabelLen   = 64   // bytes
	maxIndent     = 6    // spaces before a number: srun sets its labels in to the right
)

// labels tells which labels the lines of a source carry: the task number of srun --label ("3: "), or the host that pdsh puts before
// each line ("worker-1: ").
type labels struct {
	form  *labelForm // nil when they carry none
	ranks bool       // the labels are global ranks, not the numbers of nodes on which a launcher starts several
}

// labelsOf looks at the first lines of a source.
func labelsOf(head []byte, clean func([]byte) string) labels {
	counts := make([]labelCount, len(labelForms))
	lines := 0
	for len(head) > 0 && lines < maxLabelLines {
		raw, rest, _ := bytes.Cut(head, []byte{'\n'})
		head = rest
		line := clean(raw)
		if line == "" {
			continue
		}
		lines++
		if label, form, n := labelIn(line); n > 0 {
			counts[form].add(label, line[n:])
		}
	}
	for i := range labelForms {
		if form := &labelForms[i]; counts[i].believed(form, lines) {
			return labels{form: form, ranks: form.rank && !counts[i].nodes}
		}
	}
	return labels{}
}

// labelCount counts the labels of one form.
type labelCount struct {
	lines     int
	different map[string]bool
	traceback bool // a traceback begins behind one
	nodes     bool // a line names another rank than its label, or a rank in its node
}

func (c *labelCount) add(label, rest string) {
	if c.different == nil {
		c.different = map[string]bool{}
	}
	c.lines++
	c.different[label] = true
	c.traceback = c.traceback || strings.HasPrefix(rest, TracebackHeader)
	if strings.HasPrefix(rest, "[") {
		p := prefixes{rank: NoRank, local: NoRank, rest: rest}
		p.strip()
		c.nodes = c.nodes || p.local != NoRank || p.rank != NoRank && p.rank != ParseRank(label)
	}
}

// believed tells whether labels of a form are what they seem in a source of so many lines.
func (c *labelCount) believed(form *labelForm, lines int) bool {
	if form.proof && c.traceback {
		return true
	}
	repeat := 2*len(c.different) <= c.lines
	return c.lines >= minLabelled && 100*c.lines >= form.share*lines && repeat
}

// in finds the label of a line, and its length with all that separates it from the text, 0 when it has none.
func (l labels) in(line string) (label string, n int) {
	if l.form == nil {
		return "", 0
	}
	label, form, n := labelIn(line)
	if n == 0 || &labelForms[form] != l.form {
		return "", 0
	}
	return label, n
}

// labelIn finds "  3: " or "worker-1: " at the start of a line, and which of the forms it has. The space after the colon is missing
// when the line had nothing else. Its length n is 0 when there is none.
func labelIn(line string) (label string, form, n int) {
	indent := 0
	for indent < len(line) && indent < maxIndent && line[indent] == ' ' {
		indent++
	}
	end := indent
	for end < len(line) && end-indent < maxLabelLen && isHostByte(line[end]) {
		end++
	}
	switch {
	case end == indent || end == len(line) || line[end] != ':':
		return "", 0, 0
	case end+1 == len(line):
		n = end + 1
	case line[end+1] == ' ':
		n = end + 2
	default:
		return "", 0, 0
	}
	label = line[indent:end]
	for form := range labelForms {
		if labelForms[form].fits(label, indent) {
			return label, form, n
		}
	}
	return "", 0, 0
}

// isTaskNumber tells whether a label can be the number of a task.
func isTaskNumber(label string, _ int) bool { return isNumber(label) }

// isHostLabel tells whether a label can be the name of a host. It has a digit in it, which tells it from the many words that a colon
// follows, and does not look like a date.
func isHostLabel(label string, indent int) bool {
	return indent == 0 && strings.ContainsAny(label, digits) && !isNumber(label) && (!isDigit(label[0]) || strings.Contains(label, "."))
}

func isHostByte(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '.' || c == '_'
}
