package logline

import "strings"

// A shape is what headers that differ in numbers, names and white space have in common: "10:00:00 worker-3 stdout> " and
// "10:00:07 worker-11 stdout> " have the same.
type shape struct {
	tokens []token
	end    string // the white space behind the last token: what follows it is the program's own
	key    string // the same for all shapes that may be one: words are W, white space is a space
}

// token is a piece of a shape.
type token struct {
	text string // a word, white space, or one other byte
	any  bool   // a word in whose place any other may stand; of a number, any that begins with a digit
}

// fits tells whether a word may stand in the place of the token.
func (t *token) fits(word string) bool {
	switch {
	case word == t.text:
		return true
	case isNumber(t.text):
		return t.any && word != "" && isDigit(word[0])
	}
	return t.any
}

const (
	maxHeaderLen    = 160 // bytes of a header whose shape is learned
	maxHeaderTokens = 80
)

// shapeOf is the shape of one header; ok is false when it is too long, or has nothing but white space in it.
func shapeOf(header string) (s shape, ok bool) {
	trimmed := strings.TrimRight(header, " \t")
	s.end = header[len(trimmed):]
	trimmed = strings.TrimLeft(trimmed, " \t")
	if trimmed == "" || len(trimmed) > maxHeaderLen {
		return s, false
	}
	var key strings.Builder
	for trimmed != "" {
		t := token{text: firstToken(trimmed)}
		trimmed = trimmed[len(t.text):]
		switch {
		case isWordByte(t.text[0]):
			t.any = strings.ContainsAny(t.text, digits)
			key.WriteByte('W')
		case isBlank(t.text[0]):
			key.WriteByte(' ')
		default:
			key.WriteString(t.text)
		}
		s.tokens = append(s.tokens, t)
	}
	key.WriteString(s.end)
	s.key = key.String()
	return s, len(s.tokens) <= maxHeaderTokens
}

// firstToken is the token that a text begins with.
func firstToken(text string) string {
	n := 1
	switch {
	case isWordByte(text[0]):
		n = runOf(text, isWordByte)
	case isBlank(text[0]):
		n = runOf(text, isBlank)
	}
	return text[:n]
}

// runOf is how many bytes at the beginning of a text are of a kind.
func runOf(text string, of func(byte) bool) int {
	n := 0
	for n < len(text) && of(text[n]) {
		n++
	}
	return n
}

func isWordByte(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// merge lets any word stand where a shape of the same key has another one, unless it is a level: those are told apart.
func (s *shape) merge(other shape) {
	for i := range s.tokens {
		t := &s.tokens[i]
		if t.fits(other.tokens[i].text) || !isWordByte(t.text[0]) {
			continue
		}
		t.any = true
		if isNumber(t.text) {
			t.text = other.tokens[i].text
		}
	}
}

// in is the length of the header of that shape that a line begins with, 0 for none. A line with nothing else lacks the white space at the
// end.
func (s *shape) in(line string) int {
	n := runOf(line, isBlank)
	for i := range s.tokens {
		t := &s.tokens[i]
		rest := line[n:]
		if rest == "" {
			return 0
		}
		size := 0
		switch {
		case isWordByte(t.text[0]):
			size = runOf(rest, isWordByte)
			if !t.fits(rest[:size]) {
				return 0
			}
		case isBlank(t.text[0]):
			size = runOf(rest, isBlank)
		case rest[0] == t.text[0]:
			size = 1
		}
		if size == 0 {
			return 0
		}
		n += size
	}
	switch {
	case strings.HasPrefix(line[n:], s.end):
		return n + len(s.end)
	case len(line) == n:
		return n
	}
	return 0
}

// missing is how many lines lack a header of the shape.
func (s *shape) missing(lines []string) int {
	n := 0
	for _, line := range lines {
		if s.in(line) == 0 {
			n++
		}
	}
	return n
}

// widen adds to the end of a shape the space that stands behind it in all lines: the one that it was taken from may have had nothing else.
func (s *shape) widen(lines []string) {
	for _, line := range lines {
		if n := s.in(line); n > 0 && n < len(line) && line[n] != ' ' {
			return
		}
	}
	if s.end == "" {
		s.end = " "
	}
}
