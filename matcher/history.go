package matcher

import "strings"

// history is what was printed lately. A line that went by unread is read again when somebody asks for it.
type history struct {
	lines  [reach]pastLine // by number modulo reach
	raw    func() rawLines // the last lines before the one that is being read; nil when none goes by unread
	reread func(number int, raw []byte, briefly bool) pastLine
	latest int // number of the line that is being read
	asked  int // up to this line, short keywords have been looked for
}

// rawLines are lines that follow each other, without their line breaks.
type rawLines struct {
	first int // number of the first
	lines [][]byte
}

func (r rawLines) at(number int) (raw []byte, ok bool) {
	if i := number - r.first; i >= 0 && i < len(r.lines) {
		return r.lines[i], true
	}
	return nil, false
}

// pastLine is a line of a source with all its parts.
type pastLine struct {
	number int
	parts  []pastPart
	brief  bool // only text and writer of the parts are known
}

type pastPart struct {
	Line
	loose bool // it is no part of a traceback
}

const (
	reach     = 32  // how many lines of a source, of all its writers, history goes back
	maxBefore = 12  // lines of one writer
	maxText   = 400 // bytes of each of them
)

// add takes in a part of the line that is being read.
func (h *history) add(line Line) {
	h.latest = line.Number
	past := &h.lines[line.Number%reach]
	if past.number != line.Number {
		past.number, past.parts, past.brief = line.Number, past.parts[:0], false
	}
	past.add(pastPart{Line: line})
}

// loose notes that a line that was read is no part of a traceback.
func (h *history) loose(line Line) {
	if h == nil || h.lines[line.Number%reach].number != line.Number {
		return
	}
	for i := range h.lines[line.Number%reach].parts {
		if part := &h.lines[line.Number%reach].parts[i]; part.Part == line.Part {
			part.loose = true
		}
	}
}

func (p *pastLine) add(part pastPart) {
	if len(p.parts) == maxBefore {
		p.parts = append(p.parts[:0], p.parts[1:]...)
	}
	part.Text = clip(part.Text, maxText)
	p.parts = append(p.parts, part)
}

// before joins the last lines that the writer of a line printed before it.
func (h *history) before(line Line) string {
	from := max(1, h.latest-reach+1)
	var texts []string
	var raw rawLines
	for n := min(line.Number, h.latest); n >= from && len(texts) < maxBefore; n-- {
		past := &h.lines[n%reach]
		if past.number != n && n < line.Number && h.raw != nil {
			if raw.lines == nil {
				raw = h.raw()
			}
			h.recall(n, raw, true)
		}
		for i := len(past.parts) - 1; i >= 0 && past.number == n && len(texts) < maxBefore; i-- {
			if p := past.parts[i]; p.Writer == line.Writer && (n < line.Number || p.Part < line.Part) {
				texts = append(texts, p.Text)
			}
		}
	}
	var all strings.Builder
	for i := len(texts) - 1; i >= 0; i-- {
		all.WriteString(texts[i])
		if i > 0 {
			all.WriteByte('\n')
		}
	}
	return all.String()
}

// each calls yield with the parts of the last lines up to that number.
func (h *history) each(last int, yield func(*pastPart)) {
	h.latest = last
	var raw rawLines
	if h.raw != nil {
		raw = h.raw()
	}
	for n := max(1, last-reach+1); n <= last; n++ {
		past := &h.lines[n%reach]
		if past.number != n || past.brief {
			h.recall(n, raw, false)
		}
		for i := range past.parts {
			if past.number == n {
				yield(&past.parts[i])
			}
		}
	}
}

// recall reads a line that went by unread.
func (h *history) recall(number int, raw rawLines, briefly bool) {
	if line, ok := raw.at(number); ok {
		h.lines[number%reach] = h.reread(number, line, briefly)
	}
}
