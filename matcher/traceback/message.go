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

type messageLine struct {
	line logline.Line
	text string
}

const (
	maxMessageLines = 400      // kept at either end of a message
	maxMessageBytes = 32 << 10 // likewise
	maxFlush        = 60       // not indented lines in a row
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

func firstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return word
}

// more takes a line after the one with the type: the message goes on, something relayed begins, another exception of the chain
// follows, or it has ended.
func (r *record) more(l logline.Line, text string, own bool) lineAction {
	if link, ok := linkOf(text); ok && own {
		r.chain(link)
		return taken
	}
	if !own || l.Head > 0 && !r.sameRecord(l) {
		return ended
	}
	if r.form == terminate {
		if msg, ok := strings.CutPrefix(strings.TrimSpace(text), "what():"); ok {
			r.message.add(l, strings.TrimSpace(msg))
			if rank := logline.RankTag(strings.TrimSpace(msg)); r.exc.Line.Rank == logline.NoRank {
				r.exc.Line.Rank = rank
			}
			return taken
		}
	}
	if r.cpp || strings.HasPrefix(text, "Exception raised from ") {
		r.cpp = true
		if isCppFrame(text) {
			return foreign
		}
		return ended
	}
	if opens := r.colon && r.message.lines() == 1 && isRuler(text); opens || r.ruled && (isSpace(text[0]) || isRuler(text)) {
		r.ruled = opens || text[0] != '='
		r.message.add(l, text)
		return taken
	}
	if before, ok := findHeader(text); ok {
		if r.announced() && !r.strayed() || strings.Contains(text, tracebackOf) || strings.TrimSpace(before) != "" && isWords(before) {
			return relays
		}
		return ended
	}
	if _, ok := parseFrame(text); ok && r.form != lone || ok && r.announced() {
		return relays
	}
	if typ, _, ok := parseType(text); ok && strings.HasSuffix(r.exc.Type, "("+typ+")") {
		return relays // Ray's RayTaskError(KeyError) without frames
	}
	if text == `"""` || text == `'''` {
		if r.quoted || r.announced() {
			r.quoted = !r.quoted
			return taken
		}
		return ended
	}
	if len(r.relayed) > 0 || !r.goesOn(text) {
		return ended
	}
	r.message.add(l, text)
	return taken
}

// isRuler tells whether a line is drawn across the page.
func isRuler(text string) bool {
	return len(text) >= 20 && (text[0] == '=' || text[0] == '-') && strings.Trim(text, text[:1]) == ""
}

// sameRecord tells whether a line has the very header of the line with the type: the same record of the log.
func (r *record) sameRecord(l logline.Line) bool {
	t := r.exc.Line
	return t.Head > 0 && t.Text[:t.Head] == l.Text[:l.Head]
}

// announced tells whether the message says that something follows: it ends in a colon, has nothing after the first one, or opens a quotation.
func (r *record) announced() bool {
	last := r.message.last()
	return r.quoted || strings.HasSuffix(last, ":") || last == "" && r.colon
}

// strayed tells whether something else was printed since the last traceback that the message relays: what was announced has ended.
func (r *record) strayed() bool {
	if len(r.relayed) == 0 || r.quoted {
		return false
	}
	lines := r.relayed[len(r.relayed)-1].Lines
	if len(lines) < 2 {
		return false
	}
	last := lines[len(lines)-1].Text
	return last != "" && !isSpace(last[0])
}

func (m *message) lines() int { return len(m.head) + len(m.tail) }

// goesOn decides whether a line that could be anything belongs to the message. After an empty line it must be indented in a message
// that has indented lines, or announce more of itself by a colon; otherwise it must only not be something else.
func (r *record) goesOn(text string) bool {
	indented := isSpace(text[0])
	if isOther(text) && !(r.blanks == 0 && r.announced()) {
		return false
	}
	if r.prefix != "" && r.form != lone && !indented && !r.announced() {
		return false
	}
	if r.blanks > 0 {
		last := r.message.last()
		if indented && r.message.indented || last == "" && r.colon || strings.HasSuffix(text, ":") && r.blanks == 1 || strings.HasSuffix(last, ":") {
			for range r.blanks {
				r.message.add(logline.Line{}, "")
			}
			return true
		}
		return false
	}
	return indented || r.message.flush < maxFlush
}

// isOther tells whether a line is the beginning of something that no message contains.
func isOther(text string) bool {
	if typ, _, ok := parseType(text); ok && looksRaised(typ) {
		return true
	}
	switch firstWord(text) {
	case "Killed", "Terminated", "Aborted", "Segmentation":
		return true
	}
	trimmed := strings.TrimLeft(text, " ")
	return strings.Contains(text, "%|") || strings.HasPrefix(trimmed, "{'") || strings.HasPrefix(trimmed, `{"`) ||
		strings.HasPrefix(text, ignoredIn) || strings.HasPrefix(text, fatalPython) ||
		strings.HasPrefix(text, terminateCalled) || programError(text) || isRuler(text) && len(text) >= 40
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

// programError tells whether a program other than Python complains: "srun: error: ...".
func programError(text string) bool {
	name, rest, ok := strings.Cut(text, ": ")
	if !ok || strings.ContainsAny(name, " \t(") {
		return false
	}
	for _, word := range []string{"error:", "fatal:", "warning:"} {
		if strings.HasPrefix(rest, word) {
			return !strings.Contains(name, ".") || strings.HasPrefix(name, "/")
		}
	}
	return false
}

// isCppFrame tells whether a line belongs to the list of C++ frames after "Exception raised from".
func isCppFrame(text string) bool {
	return strings.HasPrefix(text, "Exception raised from ") || strings.HasPrefix(text, "frame #") ||
		strings.HasPrefix(strings.TrimSpace(text), "frame #") || strings.HasPrefix(text, "<omitting python frames>")
}

// chain turns the exception that was just read into the earlier one of the next.
func (r *record) chain(link Link) {
	done := r.finish()
	*r = record{form: python, state: inChain, earlier: done, link: link, prefixed: r.prefixed, prefix: r.prefix, base: r.base, swallowed: r.swallowed, links: r.links + 1}
}

// chained takes a line between the words that link two tracebacks and the second of them.
func (r *record) chained(l logline.Line, text string, own bool) lineAction {
	if !own {
		return r.stranger()
	}
	if next := opened(l, l.Body()); next != nil {
		before := *r
		*r = *next
		if r.headless { // a remote traceback, under a line that says whose
			r.headless, r.header, r.kept = false, l, nil
		}
		r.earlier, r.link, r.links, r.swallowed = before.earlier, before.link, before.links, before.swallowed
		if r.base == "" {
			r.base = before.base
		}
		return taken
	}
	return r.stranger()
}
