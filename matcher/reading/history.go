package reading

import (
	"slices"
	"strings"
	"sync"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/prefilter"
)

// history is what was printed lately. A line that went by unread is read again when somebody asks for it.
type history struct {
	lines  [prefilter.ContextLines]pastLine // by number modulo reach
	raw    func() rawLines                  // the last lines before the one that is being read; nil when none goes by unread
	reread func(number int, raw []byte, briefly bool) pastLine
	latest int // number of the line that is being read
	pieces int // number of the last line that came in pieces: its raw text is lost
	asked  int // up to this line, short keywords have been looked for
}

// rawLines are lines that follow each other, without their line breaks, in memory of their own.
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

// size is how many bytes they are.
func (r rawLines) size() (bytes int) {
	for _, line := range r.lines {
		bytes += len(line)
	}
	return bytes
}

// pastLine is a line of a source with all its parts.
type pastLine struct {
	number int
	parts  []pastPart
	brief  bool // only text and writer of the parts are known
}

type pastPart struct {
	logline.Line
	loose bool // it is no part of a traceback
}

const (
	maxBefore = 12  // lines of one writer
	maxText   = 400 // bytes of each of them

	maxHeld = 32 << 10 // bytes of lines that are held for one who may ask for them
)

// add takes in a part of the line that is being read.
func (h *history) add(line logline.Line) {
	h.latest = line.Number
	past := &h.lines[line.Number%prefilter.ContextLines]
	if past.number != line.Number {
		past.number, past.parts, past.brief = line.Number, past.parts[:0], false
	}
	past.add(pastPart{Line: line})
}

// loose notes that a line that was read is no part of a traceback.
func (h *history) loose(line logline.Line) {
	if h == nil || h.lines[line.Number%prefilter.ContextLines].number != line.Number {
		return
	}
	for i := range h.lines[line.Number%prefilter.ContextLines].parts {
		if part := &h.lines[line.Number%prefilter.ContextLines].parts[i]; part.Part == line.Part {
			part.loose = true
		}
	}
}

func (p *pastLine) add(part pastPart) {
	if len(p.parts) == maxBefore {
		p.parts = append(p.parts[:0], p.parts[1:]...)
	}
	part.Text = logline.Clip(part.Text, maxText)
	p.parts = append(p.parts, part)
}

// before joins the last lines that the writer of a line printed before it.
func (h *history) before(line logline.Line) string {
	var raw rawLines
	return lastOf(line, h.latest, func(n int) []pastPart {
		past := &h.lines[n%prefilter.ContextLines]
		if past.number != n && n < line.Number && h.raw != nil {
			if raw.lines == nil {
				raw = h.raw()
			}
			h.recall(n, raw, true)
		}
		if past.number != n {
			return nil
		}
		return past.parts
	})
}

// hold is before for someone who will hardly ask: only the bytes of the lines are kept for that.
func (h *history) hold(line logline.Line) func() string {
	if h.raw == nil || line.Part > 0 || h.pieces > h.latest-prefilter.ContextLines {
		text := h.before(line)
		return func() string { return text }
	}
	raw := h.raw()
	if raw.size() > maxHeld {
		text := h.before(line)
		return func() string { return text }
	}
	latest, reread := h.latest, h.reread
	return sync.OnceValue(func() string {
		return lastOf(line, latest, func(n int) []pastPart {
			if text, ok := raw.at(n); ok && n < line.Number {
				return reread(n, text, true).parts
			}
			return nil
		})
	})
}

// lastOf joins the last lines that the writer of a line printed before it. Latest is the number of the line that is being read; parts
// gives those of the line with a number.
func lastOf(line logline.Line, latest int, parts func(number int) []pastPart) string {
	from := max(1, latest-prefilter.ContextLines+1)
	var texts []string
	for n := min(line.Number, latest); n >= from && len(texts) < maxBefore; n-- {
		parts := parts(n)
		for i := len(parts) - 1; i >= 0 && len(texts) < maxBefore; i-- {
			if p := parts[i]; p.Writer == line.Writer && (n < line.Number || p.Part < line.Part) {
				texts = append(texts, p.Text)
			}
		}
	}
	slices.Reverse(texts)
	return strings.Join(texts, "\n")
}

// each calls yield with the parts of the last lines up to that number.
func (h *history) each(last int, yield func(*pastPart)) {
	h.latest = last
	var raw rawLines
	if h.raw != nil {
		raw = h.raw()
	}
	for n := max(1, last-prefilter.ContextLines+1); n <= last; n++ {
		past := &h.lines[n%prefilter.ContextLines]
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
		h.lines[number%prefilter.ContextLines] = h.reread(number, line, briefly)
	}
}
