package traceback

import (
	"strings"

	"github.com/gpu-triage/triage/matcher/logline"
)

// Assembler puts the lines of many writers, mixed as a log mixes them, together to exceptions. Exceptions and the lines that are
// not part of one are handed on in the order in which they are complete; Line.Number tells the order in which they were printed.
// What it holds back is bounded for whatever it is fed.
type Assembler struct {
	exception func(*Exception)
	line      func(logline.Line)
	Before    func(logline.Line) func() string // what the writer of a line printed before it; may be nil
	open      map[writerKey]*writer
	order     []*writer // the writers in open, the longest open first
	nesting   int       // tracebacks inside strings inside tracebacks
}

// writerKey is a process: its name is only unique within its source.
type writerKey struct{ source, name string }

// writer has the tracebacks that one process has begun and not ended.
type writer struct {
	key     writerKey
	asm     *Assembler
	last    int       // number of its last line
	records []*record // a traceback and, behind it, those that its message relays
	stalled []*record // tracebacks that another one interrupted before their last line
}

// The limits of what is held back.
const (
	maxWriters = 1024 // processes with an open traceback
	maxRecords = 8    // tracebacks relayed in each other's messages
	maxStalled = 16
	maxNesting = 3

	// A writer of an open traceback is given up after so many lines of others, fewer when only its message may go on. A traceback is
	// printed in one go, but all writers that have one open may print by turns.
	maxIdle        = 200
	maxIdleMessage = 12
	maxTurns       = 8
)

// NewAssembler gives an Assembler that calls exception and line as it recognises them.
func NewAssembler(exception func(*Exception), line func(logline.Line)) *Assembler {
	return &Assembler{exception: exception, line: line, open: map[writerKey]*writer{}}
}

// Feed takes the next line.
func (a *Assembler) Feed(l logline.Line) {
	a.Expire(l.Number)
	var w *writer
	key := writerKey{l.Source, l.Writer}
	if len(a.open) > 0 {
		w = a.open[key]
	}
	if w == nil {
		if !MayOpen(l.Body()) || !hasOpener(l.Body()) {
			a.line(l)
			return
		}
		w = &writer{key: key, asm: a, last: l.Number}
		w.feed(l)
		if w.busy() {
			a.keep(w)
		}
		return
	}
	w.last = l.Number
	w.feed(l)
	if !w.busy() {
		a.forget(w)
	}
}

// busy tells whether a traceback is open, so that any line may matter.
func (a *Assembler) Busy() bool { return len(a.open) > 0 }

// has tells whether the writer of a line has a traceback open.
func (a *Assembler) Has(l logline.Line) bool {
	return len(a.open) > 0 && a.open[writerKey{l.Source, l.Writer}] != nil
}

// expire ends the tracebacks of writers that have fallen silent by the line of that number.
func (a *Assembler) Expire(number int) {
	patience := maxTurns * len(a.order)
	for i := 0; i < len(a.order); i++ {
		w := a.order[i]
		if silence := number - w.last - patience; silence > maxIdle || silence > maxIdleMessage && w.inMessage() {
			w.close()
			a.forget(w)
			i--
		}
	}
}

func (w *writer) inMessage() bool {
	return len(w.records) > 0 && len(w.stalled) == 0 && w.records[len(w.records)-1].state == inMessage
}

// Close ends all open tracebacks.
func (a *Assembler) Close() {
	for len(a.order) > 0 {
		w := a.order[0]
		w.close()
		a.forget(w)
	}
}

func (a *Assembler) keep(w *writer) {
	if len(a.order) >= maxWriters {
		oldest := a.order[0]
		oldest.close()
		a.forget(oldest)
	}
	a.open[w.key] = w
	a.order = append(a.order, w)
}

func (a *Assembler) forget(w *writer) {
	delete(a.open, w.key)
	for i := range a.order {
		if a.order[i] == w {
			a.order = append(a.order[:i], a.order[i+1:]...)
			return
		}
	}
}

func (w *writer) busy() bool { return len(w.records)+len(w.stalled) > 0 }

func (w *writer) close() {
	for len(w.records) > 0 {
		w.pop()
	}
	for _, r := range w.stalled {
		w.asm.hand(r, r.unfinished())
	}
	w.stalled = nil
}

// feed offers the line to the innermost open traceback first.
func (w *writer) feed(l logline.Line) {
	for len(w.records) > 0 {
		r := w.records[len(w.records)-1]
		switch r.take(l) {
		case taken:
			return
		case foreign:
			w.asm.line(l)
			return
		case relays:
			if w.begin(l) {
				return
			}
			w.pop()
		case ended:
			w.pop()
		}
	}
	if w.begin(l) {
		return
	}
	w.asm.line(l)
}

// pop ends the innermost traceback and hands it to the one that relays it, or on.
func (w *writer) pop() {
	r := w.records[len(w.records)-1]
	w.records = w.records[:len(w.records)-1]
	var parent *record
	if len(w.records) > 0 {
		parent = w.records[len(w.records)-1]
	}
	switch e := r.finish(); {
	case e != nil && parent != nil:
		parent.relay(e)
	case e != nil:
		w.asm.hand(r, e)
	case r.headless || r.swallowed && len(r.frames) == 0:
		for _, l := range r.kept {
			if parent == nil || !parent.giveBack(l) {
				w.asm.line(l)
			}
		}
	case len(r.frames) == 0:
		w.asm.line(r.header)
	case parent != nil:
		parent.relay(r.unfinished())
	case len(w.stalled) < maxStalled:
		w.stalled = append(w.stalled, r)
	}
}

// hand hands on the exception of a record.
func (a *Assembler) hand(r *record, e *Exception) {
	e.Before = r.before
	a.exception(e)
}

// begin starts a traceback with this line if it is the beginning of one.
func (w *writer) begin(l logline.Line) bool {
	if len(w.records) >= maxRecords {
		return false
	}
	text := l.Body()
	if strings.Contains(text, escapedHeader) {
		return w.asm.unescape(l)
	}
	r := opened(l, text)
	if r == nil {
		return false
	}
	if len(w.records) == 0 && w.asm.Before != nil {
		r.before = w.asm.Before(l)
	}
	if n := len(w.stalled); n > 0 && r.state == inMessage && len(r.frames) == 0 && len(w.records) == 0 && r.form == lone {
		r.frames, r.header = w.stalled[n-1].frames, w.stalled[n-1].header
		w.stalled = w.stalled[:n-1]
	}
	w.records = append(w.records, r)
	return true
}
