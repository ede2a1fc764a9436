package matcher

import "strings"

// history is what was printed lately. A line that went by unread is read again when somebody asks for it.
type history struct {
	lines  [reach]pastLine                          // by number modulo reach
	unread func(from, to int, yield func(pastLine)) // the lines between two numbers, without the second; nil when all are read
	latest int                                      // number of the line that is being read
	asked  int                                      // up to this line, short keywords have been looked for
}

// pastLine is a line of a source with all its parts.
type pastLine struct {
	number int
	parts  []pastPart
}

type pastPart struct {
	Line
	loose bool // it is no part of a traceback
}

const (
	reach     = 32  // how many lines of a source, of all its writers, history goes back
	maxBefore = 12  // lines of one writer
	maxText   = 400 // bytes of each of them
	recalled  = 8   // lines that are read again at a time: those of one writer may be among the last few
)

// add takes in a part of the line that is being read.
func (h *history) add(line Line) {
	h.latest = line.Number
	past := &h.lines[line.Number%reach]
	if past.number != line.Number {
		past.number, past.parts = line.Number, past.parts[:0]
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
	for n := min(line.Number, h.latest); n >= from && len(texts) < maxBefore; n-- {
		past := &h.lines[n%reach]
		if past.number != n && n < line.Number {
			h.recall(max(from, n-recalled+1), n+1)
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
	from := max(1, last-reach+1)
	h.recall(from, last+1)
	for n := from; n <= last; n++ {
		if past := &h.lines[n%reach]; past.number == n {
			for i := range past.parts {
				yield(&past.parts[i])
			}
		}
	}
}

// recall reads the lines between two numbers that went by unread.
func (h *history) recall(from, to int) {
	for n := from; h.unread != nil && n < to; n++ {
		if h.lines[n%reach].number == n {
			continue
		}
		h.unread(n, to, func(past pastLine) {
			if h.lines[past.number%reach].number != past.number {
				h.lines[past.number%reach] = past
			}
		})
		return
	}
}
