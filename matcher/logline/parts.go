package logline

import (
	"bytes"
	"strings"
)

// Parts cuts one line after the other, which may come in pieces, at \r. A part that is too long is shortened, so that an endless
// progress bar keeps all its words and an endless blob does not fill the memory. A line begins with Begin, goes on with Add, and ends with
// End, which must be called also when it is in one piece.
type Parts struct {
	form  *Form
	yield func(Line) error

	number int
	held   []byte // the head of a part whose end has not come yet, at most maxPart bytes
	tail   []byte // what that part has beyond its head, the last of it
	over   int    // how many bytes that part has beyond its head
	count  int    // parts of this line that were handed on
	cut    bool   // a part of this line was shortened
	last   Line   // the part before: a part without a prefix is from the same writer
}

// Parts gives what cuts the lines of a source. Each part is handed to yield as it is complete.
func (f *Form) Parts(yield func(Line) error) Parts { return Parts{form: f, yield: yield} }

// Begin begins the line of that number, and forgets what there was of one before it.
func (p *Parts) Begin(number int) {
	p.number, p.count, p.cut, p.last = number, 0, false, Line{Rank: p.form.rank}
	p.drop()
}

func (p *Parts) drop() { p.held, p.tail, p.over = p.held[:0], p.tail[:0], 0 }

// Add takes a piece of the line that is not its last. The error is that of yield.
func (p *Parts) Add(raw []byte) error {
	for {
		i := bytes.IndexByte(raw, '\r')
		if i < 0 {
			p.keep(raw)
			return nil
		}
		if err := p.finish(raw[:i]); err != nil {
			return err
		}
		raw = raw[i+1:]
	}
}

// End takes the last piece of the line, without its \n. A line with nothing in it is handed on as one empty line. It tells whether a part
// of the line had to be shortened; the error is that of yield.
func (p *Parts) End(raw []byte) (cut bool, err error) {
	for i := bytes.IndexByte(raw, '\r'); i >= 0; i = bytes.IndexByte(raw, '\r') {
		if err := p.finish(raw[:i]); err != nil {
			return p.cut, err
		}
		raw = raw[i+1:]
	}
	if err := p.finish(raw); err != nil {
		return p.cut, err
	}
	if p.count == 0 {
		line := Line{Source: p.form.source, Number: p.number, Rank: p.last.Rank, Writer: p.last.Writer}
		return p.cut, p.yield(line)
	}
	return p.cut, nil
}

// finish hands on the part that ends with raw.
func (p *Parts) finish(raw []byte) error {
	if len(p.held)+len(raw) <= maxPart && p.over == 0 {
		if len(p.held) > 0 {
			p.held = append(p.held, raw...)
			raw = p.held
		}
		return p.handOn(raw, false)
	}
	p.keep(raw)
	whole := append(p.held, p.tail[max(0, len(p.tail)-maxPart):]...)
	return p.handOn(shorten(whole), true)
}

// keep holds raw as a piece of the current part: first in its head, then in a tail of which only the last maxPart bytes matter.
func (p *Parts) keep(raw []byte) {
	room := min(maxPart-len(p.held), len(raw))
	p.held = append(p.held, raw[:room]...)
	raw = raw[room:]
	p.over += len(raw)
	if len(raw) >= maxPart {
		p.tail = append(p.tail[:0], raw[len(raw)-maxPart:]...)
		return
	}
	p.tail = append(p.tail, raw...)
	if len(p.tail) > 4*maxPart { // moving them only now and then keeps this linear
		p.tail = append(p.tail[:0], p.tail[len(p.tail)-maxPart:]...)
	}
}

// handOn cleans a part and hands it on unless nothing is left of it.
func (p *Parts) handOn(raw []byte, cut bool) error {
	text := p.form.clean(raw)
	p.drop()
	p.cut = p.cut || cut
	if text == "" {
		return nil
	}
	line := p.form.parse(text, p.last)
	line.Truncated = cut
	if p.form.post && line.Head == 0 { // a record is a program's
		line.Text = quotedLines(line.Text)
	}
	return p.handOnEach(line)
}

// handOnEach hands on a line, or the lines that a record in JSON or the sentence of a post has. They are its writer's, unless they say otherwise.
func (p *Parts) handOnEach(record Line) error {
	rest, more := record.Text, true
	for first := true; more; first = false {
		var text string
		text, rest, more = strings.Cut(rest, "\n")
		line := record
		line.Text = text
		if !first {
			line = p.form.parse(text, record)
			line.Truncated, line.Told = record.Truncated, p.form.post
			if line.Time.IsZero() {
				line.Time = record.Time
			}
			if line.Level == "" {
				line.Level = record.Level
			}
		}
		line.Number, line.Part = p.number, p.count
		p.count, p.last = p.count+1, line
		if err := p.yield(line); err != nil {
			return err
		}
	}
	return nil
}

const (
	// maxPart is the longest line, or \r-separated part of one, that is kept whole.
	maxPart = 64 << 10
	// gap stands where the middle of a longer one was.
	gap = " ... "
)

// shorten gives the head and the tail of a part that is longer than maxPart, together no longer than that.
func shorten(part []byte) []byte {
	const half = (maxPart - len(gap)) / 2
	short := make([]byte, 0, maxPart)
	short = append(short, part[:half]...)
	short = append(short, gap...)
	return append(short, part[len(part)-half:]...)
}
