// Package repair undoes what happens to a log between the program that printed it and the one who reads it: lines folded at the width of
// a terminal or a mail (fold.go), characters that a web page, a chat or a word processor put in the place of others or before them
// (characters.go), and the margin of a quotation, of all of it (margin.go) or of parts (block.go).
//
// What is wrong with a source, its first bytes tell; a source that looks whole is left alone, so that this costs nothing. A Reader gives
// the text as it was printed. Lines keep their numbers: where a line was joined to the one before it, a line stands that IsGap knows. How
// a line reads in the source, Originals remember.
package repair

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/gpu-triage/triage/matcher/logline"
)

// Damage is what is wrong with a source.
type Damage struct {
	margin   int   // bytes of white space and marks of quotation before each line
	blocks   []int // the same of each line of a post, where not all of it is set in
	fold     fold
	entities bool // characters are written as in HTML
	typeset  bool // quotes and spaces are those of typesetters
	unmarked bool // the underscores of __init__ were taken for marks of bold letters
	escaped  bool // characters that Markdown would take for marks have a backslash before them
}

// headLines is how many of the first lines of a source are looked at.
const headLines = 4000

// Of tells what is wrong with a source by its first bytes.
func Of(head []byte) Damage {
	d := Damage{entities: hasEntities(head), typeset: isTypeset(head), unmarked: isUnmarked(head), escaped: isEscaped(head)}
	var lines []string
	for line := range bytes.Lines(head) {
		if len(lines) == headLines {
			break
		}
		lines = append(lines, d.characters(string(withoutBreak(line))))
	}
	d.margin = marginOf(lines)
	if d.margin == 0 && len(head) <= logline.MaxPost && len(lines) < headLines {
		d.blocks = blocksOf(lines)
	}
	for i := range lines {
		lines[i] = d.withoutMargin(lines[i], i+1)
	}
	d.fold = foldOf(lines)
	return d
}

// None tells that nothing is wrong.
func (d Damage) None() bool {
	return !d.entities && !d.typeset && !d.unmarked && !d.escaped && d.margin == 0 && d.blocks == nil && d.fold.width == 0
}

// whole is a line, by its number from 1, as it was printed, as far as it tells by itself.
func (d Damage) whole(line string, number int) string {
	return d.withoutMargin(d.characters(line), number)
}

// characters puts the characters of a line back.
func (d Damage) characters(line string) string {
	if d.entities {
		line = withoutEntities(line)
	}
	if d.escaped {
		line = escape.ReplaceAllString(line, "$1")
	}
	if d.typeset {
		line = plain.Replace(line)
	}
	if d.unmarked {
		line = initCall.ReplaceAllString(line, "${1}__init__()$2")
	}
	return line
}

// gap stands for a line that was joined to the one before it: a control character that programs do not print.
const gap = "\x1f"

// IsGap tells whether a line of a repaired source stands for one that was joined to the line before it.
func IsGap(raw []byte) bool { return string(raw) == gap }

// maxLine bounds a line that is repaired, in bytes, joined or not. A longer one is left as it is.
const maxLine = 64 << 10

// Reader gives a source as it was printed.
type Reader struct {
	damage Damage
	from   *bufio.Reader
	keep   func(number int, lines []string)

	bytes  int64        // that were read of the source
	long   bool         // in the middle of a line that is too long to be repaired
	number int          // of the last line that was read
	err    error        // of the source, when it was read to its end
	ready  bytes.Buffer // what is to be given

	line   string   // the lines that were joined so far
	pieces []string // as they stand in the source
	end    string   // the line break of the last of them
	first  int      // number of the first of them
}

// Reader repairs a source. Keep is called with each line that was repaired, by its number from 1, as it stands in the source: in several
// lines perhaps. It is called by the goroutine that reads.
func (d Damage) Reader(from io.Reader, keep func(number int, lines []string)) *Reader {
	return &Reader{damage: d, from: bufio.NewReaderSize(from, maxLine), keep: keep}
}

// Read implements io.Reader. The error is that of the source.
func (r *Reader) Read(p []byte) (int, error) {
	for r.ready.Len() == 0 {
		if r.err != nil {
			return 0, r.err
		}
		r.next()
	}
	return r.ready.Read(p)
}

// next takes the next line of the source, or a piece of one that is too long.
func (r *Reader) next() {
	raw, err := r.from.ReadSlice('\n')
	r.bytes += int64(len(raw))
	if len(raw) > 0 && !r.long {
		r.number++
	}
	cut := errors.Is(err, bufio.ErrBufferFull)
	switch {
	case cut || r.long:
		r.flush()
		r.ready.Write(raw)
	case len(raw) > 0:
		r.take(raw)
	}
	r.long = cut
	if err != nil && !cut {
		r.err = err
		r.flush()
	}
}

// take takes a line of the source: the one before it goes on, or has ended.
func (r *Reader) take(raw []byte) {
	printed := string(withoutBreak(raw))
	end := string(raw[len(printed):])
	text := r.damage.whole(printed, r.number)
	if n := len(r.pieces); n > 0 && len(r.line)+len(text) <= maxLine {
		joined, ok := r.damage.fold.join(r.line, r.damage.whole(r.pieces[n-1], r.number-1), text)
		if ok {
			r.line, r.end = joined, end
			r.pieces = append(r.pieces, printed)
			return
		}
	}
	r.flush()
	r.line, r.pieces, r.end, r.first = text, append(r.pieces[:0], printed), end, r.number
}

// flush gives the line that has ended.
func (r *Reader) flush() {
	if len(r.pieces) == 0 {
		return
	}
	if len(r.pieces) > 1 || r.line != r.pieces[0] {
		r.keep(r.first, r.pieces)
	}
	r.ready.WriteString(r.line)
	for range len(r.pieces) - 1 {
		r.ready.WriteString("\n" + gap)
	}
	r.ready.WriteString(r.end)
	r.pieces = r.pieces[:0]
}

// Bytes is how many bytes of the source have been read.
func (r *Reader) Bytes() int64 { return r.bytes }

// Head is the beginning of a source as it was printed.
func (d Damage) Head(head []byte) []byte {
	if d.None() {
		return head
	}
	repaired, _ := io.ReadAll(d.Reader(bytes.NewReader(head), func(int, []string) {})) // it cannot fail
	return repaired
}

// withoutBreak is a line without its line break.
func withoutBreak(raw []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(raw, []byte{'\n'}), []byte{'\r'})
}
