package reading

import (
	"bytes"
	"slices"
	"strings"
	"sync"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/prefilter"
)

// history is what a source printed lately: the lines that were taken in and, in the window, the bytes of all. A line that went by unread is
// read again when somebody asks for it.
type history struct {
	lines  [prefilter.ContextLines]pastLine // by number modulo the length
	latest int                              // number of the line that is being read

	window *window // nil when no line goes by unread
	form   *logline.Form
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
	maxBefore = 12  // lines of one writer that conditions are told
	maxText   = 400 // bytes of each of them

	maxHeld = 32 << 10 // bytes of lines that are held for one who may ask for them
)

// at is the place of a line.
func (h *history) at(number int) *pastLine { return &h.lines[number%prefilter.ContextLines] }

// add takes in a part of the line that is being read.
func (h *history) add(line logline.Line) {
	h.latest = line.Number
	past := h.at(line.Number)
	if past.number != line.Number {
		past.number, past.parts, past.brief = line.Number, past.parts[:0], false
	}
	past.add(pastPart{Line: line})
}

// loose notes that a line that was read is no part of a traceback.
func (h *history) loose(line logline.Line) {
	past := h.at(line.Number)
	if past.number != line.Number {
		return
	}
	for i := range past.parts {
		if past.parts[i].Part == line.Part {
			past.parts[i].loose = true
		}
	}
}

func (p *pastLine) add(part pastPart) {
	if len(p.parts) == maxBefore {
		p.parts = append(p.parts[:0], p.parts[1:]...)
	}
	part.Text = logline.ClipWord(part.Text, maxText)
	p.parts = append(p.parts, part)
}

// before joins the last lines that the writer of a line printed before it.
func (h *history) before(line logline.Line) string {
	var raw rawLines
	return lastOf(line, h.latest, func(n int) []pastPart {
		past := h.at(n)
		if past.number != n && n < line.Number && h.window != nil {
			if raw.lines == nil {
				raw = h.window.lines()
			}
			h.recall(n, raw, true)
		}
		if past.number != n {
			return nil
		}
		return past.parts
	})
}

// lazyBefore is before for someone who will hardly ask: only the bytes of the lines are kept for that.
func (h *history) lazyBefore(line logline.Line) func() string {
	if h.window == nil || line.Part > 0 || h.window.pieces > h.latest-prefilter.ContextLines || h.window.size() > maxHeld {
		text := h.before(line)
		return func() string { return text }
	}
	raw := h.window.lines()
	latest, form := h.latest, h.form
	return sync.OnceValue(func() string {
		return lastOf(line, latest, func(n int) []pastPart {
			if text, ok := raw.at(n); ok && n < line.Number {
				return reread(form, n, text, true).parts
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
	if h.window != nil {
		raw = h.window.lines()
	}
	for n := max(1, last-prefilter.ContextLines+1); n <= last; n++ {
		past := h.at(n)
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
		*h.at(number) = reread(h.form, number, line, briefly)
	}
}

// reread cleans a line that went by unread, or tells briefly whose it is.
func reread(form *logline.Form, number int, raw []byte, briefly bool) pastLine {
	past := pastLine{number: number, brief: briefly && bytes.IndexByte(raw, '\r') < 0}
	if past.brief {
		past.add(pastPart{Line: form.Writer(raw), loose: true})
		return past
	}
	form.Clean(number, raw, func(line logline.Line) error { //nolint:errcheck // nothing fails
		past.add(pastPart{Line: line, loose: true})
		return nil
	})
	return past
}
