package traceback

import (
	"strings"

	"github.com/gpu-triage/triage/matcher/logline"
)

// writer has the tracebacks that one process has begun and not ended.
type writer struct {
	key     writerKey
	asm     *Assembler
	last    int       // number of its last line
	records []*record // a traceback and, behind it, those that its message relays
	stalled []*record // tracebacks that another one interrupted before their last line
}

// busy tells whether it has anything open.
func (w *writer) busy() bool { return len(w.records)+len(w.stalled) > 0 }

// inMessage tells whether only the message of its traceback may go on.
func (w *writer) inMessage() bool {
	return len(w.records) > 0 && len(w.stalled) == 0 && w.records[len(w.records)-1].state == inMessage
}

// close ends all that it has open.
func (w *writer) close() {
	for len(w.records) > 0 {
		w.pop()
	}
	for _, r := range w.stalled {
		w.asm.handOn(r, r.unfinished())
	}
	w.stalled = nil
}

// offer gives the line to the innermost open traceback first.
func (w *writer) offer(l logline.Line) {
	for len(w.records) > 0 {
		r := w.records[len(w.records)-1]
		switch r.take(l) {
		case taken:
			return
		case foreign:
			w.asm.yield(nil, l)
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
	w.asm.yield(nil, l)
}

// pop ends the innermost traceback and hands it to the one that relays it, or on.
func (w *writer) pop() {
	r := w.records[len(w.records)-1]
	w.records = w.records[:len(w.records)-1]
	e := r.finish()
	if len(w.records) > 0 {
		parent := w.records[len(w.records)-1]
		w.handUp(parent, r, e)
		return
	}
	switch {
	case e != nil:
		w.asm.handOn(r, e)
	case r.isNone():
		for _, l := range r.kept {
			w.asm.yield(nil, l)
		}
	case len(r.frames) == 0:
		w.asm.yield(nil, r.header)
	case len(w.stalled) < maxStalled:
		w.stalled = append(w.stalled, r)
	}
}

// handUp gives what came of a relayed traceback to the one that relays it.
func (w *writer) handUp(parent, r *record, e *Exception) {
	switch {
	case e != nil:
		parent.relay(e)
	case r.isNone():
		for _, l := range r.kept {
			if !parent.takeBack(l) {
				w.asm.yield(nil, l)
			}
		}
	case len(r.frames) == 0:
		w.asm.yield(nil, r.header)
	default:
		parent.relay(r.unfinished())
	}
}

// handOn hands on the exception of a record.
func (a *Assembler) handOn(r *record, e *Exception) {
	e.Before = r.before
	a.yield(e, logline.Line{})
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
	if strings.Contains(text, joinedBox) && strings.Contains(text, logline.TracebackHeader) {
		return w.asm.unbox(l)
	}
	if isJoined(text) {
		return w.asm.unjoin(l)
	}
	r := opened(l, text)
	if r == nil {
		return false
	}
	if len(w.records) == 0 {
		if w.asm.before != nil {
			r.before = w.asm.before(l)
		}
		w.resume(r)
	}
	w.records = append(w.records, r)
	return true
}

// resume gives a last line without a traceback the frames of the one that was interrupted last.
func (w *writer) resume(r *record) {
	n := len(w.stalled)
	if n == 0 || r.layout != lone {
		return
	}
	r.frames, r.header = w.stalled[n-1].frames, w.stalled[n-1].header
	w.stalled = w.stalled[:n-1]
}
