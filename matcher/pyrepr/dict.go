// Package pyrepr reads Python values as print and logging show them: dicts, lists, tuples, literals, enums, calls such as
// tensor(5, dtype=int), and dataclasses that leave out their brackets. Text goes in, Go values come out.
//
// It is written by hand because such text is no language that a library reads. JSON and Python's own literals are only a part of it: the
// repr of an object is whatever its author liked, and what is not understood must stay as text without spoiling the values around it.
package pyrepr

import (
	"errors"
	"fmt"
	"strings"
)

// Entry is a key of a Python dict as it was printed.
type Entry struct {
	Key   string // without quotes
	Raw   string // the value as printed, without white space around it
	Value any    // nil, bool, int, float64, string, []any or map[string]any
}

// Errors of a printed dict.
var (
	ErrUnfinished = errors.New("the dict goes on after the end of the text")
	ErrNotDict    = errors.New("not a printed dict")
)

// The limits of a printed dict.
const (
	maxLines = 200
	maxBytes = 64 << 10
	maxDepth = 64 // brackets inside one another
)

// Parse reads the Python dict that begins at the first brace of text, as print and the logging of a dict write it: keys with
// the repr of their values, and these may be anything. What is understood becomes a Go value: literals, containers,
// `<class 'a.B'>` and `<Version('1')>` (what is quoted), calls with one positional argument like tensor(5, dtype=int) (that
// argument), calls with keyword arguments (a map whose "type" is the name of the call) and unbracketed ones like
// `margin=0, format=E4M3` (a map). Everything else is a string, as printed. It is linear in len(text).
//
// The error is ErrUnfinished when more lines are needed, and ErrNotDict when there is no dict.
func Parse(text string) ([]Entry, error) {
	i := strings.IndexByte(text, '{')
	if i < 0 {
		return nil, ErrNotDict
	}
	if len(text)-i > maxBytes {
		text = text[:i+maxBytes]
	}
	p := parser{s: text, i: i}
	entries, set := p.dict()
	switch {
	case p.deep:
		return nil, fmt.Errorf("%w: nested too deep", ErrNotDict)
	case p.end:
		return nil, ErrUnfinished
	case set:
		return nil, ErrNotDict
	}
	return entries, nil
}

// DictLines puts a dict together that was printed over several lines. Its zero value is ready to use.
type DictLines struct {
	text     strings.Builder
	lines    int
	brackets brackets
}

// Add takes the next line. It gives ErrUnfinished as long as brackets are open, and ErrNotDict when they still are after
// 200 lines or 64 KiB.
func (d *DictLines) Add(line string) ([]Entry, error) {
	if d.lines > 0 {
		d.text.WriteByte('\n')
		d.brackets.add("\n")
	}
	d.lines++
	d.text.WriteString(line)
	d.brackets.add(line)
	if d.brackets.open > 0 {
		if d.lines >= maxLines || d.text.Len() >= maxBytes {
			return nil, fmt.Errorf("%w: it does not end", ErrNotDict)
		}
		return nil, ErrUnfinished
	}
	entries, err := Parse(d.text.String())
	if errors.Is(err, ErrUnfinished) {
		err = ErrNotDict
	}
	return entries, err
}

// brackets counts the brackets that are open outside of strings, from the first brace on.
type brackets struct {
	open    int
	begun   bool
	quote   byte // of the string that is open, 0 for none
	escaped bool // the byte before was a backslash in a string
	last    byte
}

func (b *brackets) add(s string) {
	for i := range len(s) {
		if b.begun && b.open == 0 {
			return
		}
		b.addByte(s[i])
	}
}

func (b *brackets) addByte(c byte) {
	switch {
	case !b.begun:
		if c == '{' {
			b.begun, b.open = true, 1
		}
	case b.quote != 0:
		b.inString(c)
	case isQuote(c) && !isWord(b.last):
		b.quote = c
	case c == '{' || c == '[' || c == '(':
		b.open++
	case isClosing(c):
		b.open--
	}
	b.last = c
}

// inString takes a byte of a string, which ends with its quote or with the line.
func (b *brackets) inString(c byte) {
	switch {
	case b.escaped:
		b.escaped = false
	case c == '\\':
		b.escaped = true
	case c == b.quote || c == '\n':
		b.quote = 0
	}
}
