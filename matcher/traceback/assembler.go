// Package traceback puts the lines of one process together to Python exceptions. Cleaned lines go in, in the order of the log, of many
// processes mixed as a log mixes them; out come exceptions with their frames, messages and chains, and the lines that are part of none.
//
// It knows the tracebacks of Python, its exception groups and its fault handler, of IPython, rich and pytest, those that Ray, torch's data
// loader and process pools print inside the message of another exception, those inside a string, the last words of C++, and the list of dead
// processes that torchrun ends with. It is written by hand because no library reads a traceback that other processes write into, that
// has a prefix on some of its lines, or that is cut off.
//
// An Assembler has a writer for each process with an open traceback, and a writer has records: a traceback that is being read, and behind it
// those that its message relays. A record is offered each line of its process (record.take) and says what it makes of it.
package traceback

import (
	"github.com/gpu-triage/triage/matcher/logline"
)

// Assembler puts the lines of many writers together to exceptions. Exceptions and the lines that are not part of one are handed on in the
// order in which they are complete; Line.Number tells the order in which they were printed. What it holds back is bounded for whatever it
// is fed.
type Assembler struct {
	yield  func(*Exception, logline.Line)
	before func(logline.Line) func() string
	open   map[writerKey]*writer
	order  []*writer // the writers in open, the longest open first
	inText bool      // it reads a traceback out of a string
}

// writerKey is a process: its name is only unique within its source.
type writerKey struct{ source, name string }

// The limits of what is held back.
const (
	maxWriters = 1024 // processes with an open traceback
	maxRecords = 8    // tracebacks relayed in each other's messages
	maxStalled = 16   // tracebacks of a process that another one interrupted

	// A writer of an open traceback is given up after so many lines of others, fewer when only its message may go on. A traceback is
	// printed in one go, but all writers that have one open may print by turns.
	maxIdle        = 200
	maxIdleMessage = 12
	maxTurns       = 8
)

// NewAssembler gives an Assembler that calls yield with each exception, and a line without meaning, or with nil and a line that is part of
// no exception. Before, which may be nil, is called with the first line of a traceback, and what it gives is that exception's Before.
func NewAssembler(yield func(*Exception, logline.Line), before func(logline.Line) func() string) *Assembler {
	return &Assembler{yield: yield, before: before, open: map[writerKey]*writer{}}
}

// newCollector gives an Assembler for a part of another one's input: only its exceptions matter.
func newCollector(exception func(*Exception)) *Assembler {
	return NewAssembler(func(e *Exception, _ logline.Line) {
		if e != nil {
			exception(e)
		}
	}, nil)
}

// Feed takes the next line.
func (a *Assembler) Feed(l logline.Line) {
	a.Expire(l.Number)
	if w := a.writer(l); w != nil {
		w.last = l.Number
		w.offer(l)
		if !w.busy() {
			a.forget(w)
		}
		return
	}
	if !MayOpen(l.Body()) || !hasOpener(l.Body()) {
		a.yield(nil, l)
		return
	}
	w := &writer{key: writerKey{l.Source, l.Writer}, asm: a, last: l.Number}
	w.offer(l)
	if w.busy() {
		a.keep(w)
	}
}

// writer gives the writer of a line, nil when it has no traceback open.
func (a *Assembler) writer(l logline.Line) *writer {
	if len(a.open) == 0 {
		return nil
	}
	return a.open[writerKey{l.Source, l.Writer}]
}

// Busy tells whether a traceback is open, so that any line may matter.
func (a *Assembler) Busy() bool { return len(a.open) > 0 }

// Has tells whether the writer of a line has a traceback open.
func (a *Assembler) Has(l logline.Line) bool { return a.writer(l) != nil }

// Expire ends the tracebacks of writers that have fallen silent by the line of that number. Feed does so too: it is for lines that nobody
// feeds.
func (a *Assembler) Expire(number int) {
	patience := maxTurns * len(a.order)
	for i := 0; i < len(a.order); i++ {
		w := a.order[i]
		silence := number - w.last - patience
		if silence > maxIdle || silence > maxIdleMessage && w.inMessage() {
			w.close()
			a.forget(w)
			i--
		}
	}
}

// Close ends all open tracebacks.
func (a *Assembler) Close() {
	for len(a.order) > 0 {
		w := a.order[0]
		w.close()
		a.forget(w)
	}
}

// keep adds a writer, and gives up the oldest when they are too many.
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
