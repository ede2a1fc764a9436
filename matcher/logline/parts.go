package logline

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// headBytes is how much of a source is looked at to tell its form.
const HeadBytes = 64 << 10

// sniffed looks at the beginning of a log, at most headBytes of it, and gives it as UTF-8: a file that is UTF-8 as it is.
func Sniffed(r io.Reader) (head []byte, decoded io.Reader, err error) {
	if file, ok := r.(*os.File); ok {
		head = make([]byte, HeadBytes)
		n, err := file.ReadAt(head, 0)
		if at, seekErr := file.Seek(0, io.SeekCurrent); at == 0 && seekErr == nil && (err == nil || errors.Is(err, io.EOF)) && !marked(head[:n]) {
			return head[:n], file, nil
		}
	}
	if decoded, err = Decode(r); err != nil {
		return nil, nil, err
	}
	start := bufio.NewReaderSize(decoded, HeadBytes)
	head, _ = start.Peek(HeadBytes) // an error comes again when the log is read
	return head, start, nil
}

// marked tells whether a log begins with a mark that tells its encoding.
func marked(head []byte) bool {
	for _, mark := range []string{"\xff\xfe", "\xfe\xff", "\xef\xbb\xbf"} {
		if bytes.HasPrefix(head, []byte(mark)) {
			return true
		}
	}
	return false
}

// Decode gives a log as UTF-8: UTF-16 that begins with a byte order mark is converted, the mark of UTF-8 dropped, all else passed
// through as it is. The error is r's.
func Decode(r io.Reader) (io.Reader, error) {
	start := bufio.NewReaderSize(r, 4096)
	mark, err := start.Peek(3)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(mark, []byte{0xff, 0xfe}), bytes.HasPrefix(mark, []byte{0xfe, 0xff}):
		return transform.NewReader(start, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder()), nil
	case bytes.HasPrefix(mark, []byte{0xef, 0xbb, 0xbf}):
		_, err := start.Discard(3)
		return start, err
	}
	return start, nil
}

// Clean hands the \r-separated parts of one raw line (without its \n) to yield as cleaned lines. It
// tells whether a part had to be shortened; the error is yield's.
func (f *Form) Clean(number int, raw []byte, yield func(Line) error) (cut bool, err error) {
	p := Parts{Form: f, Yield: yield}
	p.Begin(number)
	return p.End(raw)
}

// parts cuts one line, which may come in pieces, at \r. A part that is too long is shortened, so that an endless progress bar keeps
// all its words and an endless blob does not fill the memory.
type Parts struct {
	Form  *Form
	Yield func(Line) error

	number int
	held   []byte // the head of a part whose end has not come yet, at most maxPart bytes
	tail   []byte // what that part has beyond its head, the last of it
	over   int    // how many bytes that part has beyond its head
	count  int    // parts of this line that were handed on
	cut    bool   // a part of this line was shortened
	last   Line   // the part before: a part without a prefix is from the same writer
}

func (p *Parts) Begin(number int) {
	p.number, p.count, p.cut, p.last = number, 0, false, Line{Rank: p.Form.rank}
	p.drop()
}

func (p *Parts) drop() { p.held, p.tail, p.over = p.held[:0], p.tail[:0], 0 }

// add takes a piece of the line that is not its last.
func (p *Parts) Add(raw []byte) error {
	for {
		i := bytes.IndexByte(raw, '\r')
		if i < 0 {
			p.hold(raw)
			return nil
		}
		if err := p.finish(raw[:i]); err != nil {
			return err
		}
		raw = raw[i+1:]
	}
}

// end takes the last piece of the line. A line with nothing in it is handed on as one empty line.
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
		line := Line{Source: p.Form.Source, Number: p.number, Rank: p.last.Rank, Writer: p.last.Writer}
		return p.cut, p.Yield(line)
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
		return p.hand(raw, false)
	}
	p.hold(raw)
	whole := append(p.held, p.tail[max(0, len(p.tail)-maxPart):]...)
	return p.hand(shorten(whole), true)
}

// hold keeps raw as a piece of the current part: first in its head, then in a tail of which only the last maxPart bytes matter.
func (p *Parts) hold(raw []byte) {
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

// hand cleans a part and hands it on unless nothing is left of it.
func (p *Parts) hand(raw []byte, cut bool) error {
	text := p.Form.clean(raw)
	p.drop()
	p.cut = p.cut || cut
	if text == "" {
		return nil
	}
	line := p.Form.parse(text, p.last)
	line.Number, line.Part, line.Truncated = p.number, p.count, cut
	p.count, p.last = p.count+1, line
	return p.Yield(line)
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
