package traceback

import (
	"strings"
	"unicode/utf8"

	"github.com/gpu-triage/triage/matcher/logline"
)

// message gathers the lines of a message. Of a very long one the first and the last are kept.
type message struct {
	head, tail []messageLine
	headBytes  int
	tailBytes  int
	indented   bool // one of its lines after the first is indented
	flush      int  // lines in a row that are not indented
}

// messageLine is a line of the log, and its part of the message.
type messageLine struct {
	line logline.Line
	text string
}

const (
	maxMessageLines = 400     // kept at either end of a message
	maxMessageBytes = 8 << 10 // likewise
	maxFlush        = 60      // not indented lines in a row
)

// add takes a line of the message; text is its part of it.
func (m *message) add(l logline.Line, text string) {
	l.Text, l.Head = text, 0
	if m.lines() > 0 {
		if text != "" && (text[0] == ' ' || text[0] == '\t') {
			m.indented, m.flush = true, 0
		} else if text != "" {
			m.flush++
		}
	}
	if len(m.tail) == 0 && len(m.head) < maxMessageLines && m.headBytes+len(text) <= maxMessageBytes {
		m.head = append(m.head, messageLine{l, text})
		m.headBytes += len(text)
		return
	}
	m.tail = append(m.tail, messageLine{l, text})
	m.tailBytes += len(text)
	for len(m.tail) > 1 && (len(m.tail) > maxMessageLines || m.tailBytes > maxMessageBytes) {
		m.tailBytes -= len(m.tail[0].text)
		m.tail = m.tail[1:]
	}
}

// last is the last line that is not empty, "" when there is none.
func (m *message) last() string {
	for _, lines := range [][]messageLine{m.tail, m.head} {
		for i := len(lines) - 1; i >= 0; i-- {
			if lines[i].text != "" {
				return lines[i].text
			}
		}
	}
	return ""
}

// kept gives the lines that are not empty.
func (m *message) kept() []logline.Line {
	var lines []logline.Line
	for _, part := range [][]messageLine{m.head, m.tail} {
		for i, l := range part {
			if l.line.Number > 0 && (l.text != "" || i == 0) {
				lines = append(lines, l.line)
			}
		}
	}
	return lines
}

// text joins the lines. Those that rich wrapped because the next word would not have fitted into width are one; before the first of
// them stood lead bytes.
func (m *message) text(width, lead int) string {
	var b strings.Builder
	length := 0 // of the current line as printed
	for _, part := range [][]messageLine{m.head, m.tail} {
		for _, l := range part {
			switch {
			case b.Len() == 0:
			case width > 0 && l.text != "" && length+1+utf8.RuneCountInString(firstWord(l.text)) > width:
				b.WriteByte(' ')
			default:
				b.WriteByte('\n')
			}
			b.WriteString(l.text)
			length = lead + utf8.RuneCountInString(l.text)
			lead = 0
		}
	}
	return strings.Trim(b.String(), "\n")
}

func (m *message) lines() int { return len(m.head) + len(m.tail) }

func firstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return word
}
