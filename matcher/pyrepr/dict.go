package pyrepr

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// DictEntry is a key of a Python dict as it was printed.
type DictEntry struct {
	Key   string // without quotes
	Raw   string // the value as printed, without white space around it
	Value any    // nil, bool, int, float64, string, []any or map[string]any
}

// Errors of a printed dict.
var (
	ErrDictUnfinished = errors.New("the dict goes on after the end of the text")
	ErrDict           = errors.New("not a printed dict")
)

// The limits of a printed dict.
const (
	MaxDictLines = 200
	MaxDictBytes = 64 << 10
	maxDictDepth = 64
)

// ParseDict reads the Python dict that begins at the first brace of text, as print and the logging of a dict write it: keys with
// the repr of their values, and these may be anything. What is understood becomes a Go value: literals, containers,
// `<class 'a.B'>` and `<Version('1')>` (what is quoted), calls with one positional argument like tensor(5, dtype=int) (that
// argument), calls with keyword arguments (a map whose "type" is the name of the call) and unbracketed ones like
// `margin=0, format=E4M3` (a map). Everything else is a string, as printed. It is linear in len(text).
//
// The error is ErrDictUnfinished when more lines are needed, and ErrDict when there is no dict.
func ParseDict(text string) ([]DictEntry, error) {
	i := strings.IndexByte(text, '{')
	if i < 0 {
		return nil, ErrDict
	}
	if len(text)-i > MaxDictBytes {
		text = text[:i+MaxDictBytes]
	}
	p := reprParser{s: text, i: i}
	entries, set := p.dict()
	switch {
	case p.deep:
		return nil, fmt.Errorf("%w: nested too deep", ErrDict)
	case p.end:
		return nil, ErrDictUnfinished
	case set:
		return nil, ErrDict
	}
	return entries, nil
}

// DictLines puts a dict together that was printed over several lines.
type DictLines struct {
	text  strings.Builder
	lines int
	depth reprDepth
}

// Add takes the next line. It gives ErrDictUnfinished as long as brackets are open, and ErrDict when they still are after
// MaxDictLines lines or MaxDictBytes bytes.
func (d *DictLines) Add(line string) ([]DictEntry, error) {
	if d.lines > 0 {
		d.text.WriteByte('\n')
		d.depth.add("\n")
	}
	d.lines++
	d.text.WriteString(line)
	d.depth.add(line)
	if d.depth.open > 0 {
		if d.lines >= MaxDictLines || d.text.Len() >= MaxDictBytes {
			return nil, fmt.Errorf("%w: it does not end", ErrDict)
		}
		return nil, ErrDictUnfinished
	}
	entries, err := ParseDict(d.text.String())
	if errors.Is(err, ErrDictUnfinished) {
		err = ErrDict
	}
	return entries, err
}

// reprDepth counts the brackets that are open outside of strings, from the first brace on.
type reprDepth struct {
	open   int
	begun  bool
	quote  byte
	escape bool
	last   byte
}

func (d *reprDepth) add(s string) {
	for i := range len(s) {
		c := s[i]
		switch {
		case !d.begun:
			if c == '{' {
				d.begun, d.open = true, 1
			}
		case d.open == 0:
			return
		case d.quote != 0:
			if d.escape {
				d.escape = false
			} else if c == '\\' {
				d.escape = true
			} else if c == d.quote || c == '\n' {
				d.quote = 0
			}
		case isQuote(c) && !isWord(d.last):
			d.quote = c
		case c == '{' || c == '[' || c == '(':
			d.open++
		case c == '}' || c == ']' || c == ')':
			d.open--
		}
		d.last = c
	}
}

func isQuote(c byte) bool { return c == '\'' || c == '"' }

func isNumeral(c byte) bool { return c >= '0' && c <= '9' }

func isNameStart(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isDottedName(s string) bool {
	for i := range len(s) {
		if !isNameStart(s[i]) && !isNumeral(s[i]) && s[i] != '.' {
			return false
		}
	}
	return s != ""
}

func isWord(c byte) bool { return isNameStart(c) || isNumeral(c) }

// pyScalar gives the value of a repr without brackets.
func pyScalar(raw string) any {
	switch raw {
	case "None":
		return nil
	case "True":
		return true
	case "False":
		return false
	}
	if raw == "" || isNameStart(raw[0]) && raw != "nan" && raw != "inf" {
		return raw
	}
	if n, err := strconv.Atoi(raw); err == nil {
		return n
	}
	if f, err := strconv.ParseFloat(raw, 64); err == nil && !strings.ContainsAny(raw, "xXpP_") {
		return f
	}
	return raw
}

// pyString undoes the escapes of a Python string literal, given without its quotes.
func pyString(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case '\\', '\'', '"':
			b.WriteByte(s[i])
		default:
			b.WriteByte('\\')
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
