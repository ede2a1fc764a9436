package matcher

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// printable makes the bytes of a line valid UTF-8 without escape sequences and other control characters but the tab. White space at
// the end goes too. It is linear, and only copies what needs no cleaning.
func printable(raw []byte) string {
	raw = bytes.TrimRight(raw, " \t\r")
	clean, plain := true, true
	for _, c := range raw {
		if c < ' ' && c != '\t' || c == 0x7f {
			clean = false
			break
		}
		if c >= utf8.RuneSelf {
			plain = false
		}
	}
	if clean && (plain || utf8.Valid(raw)) {
		return withoutBareCodes(string(raw))
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		switch c := raw[i]; {
		case c == 0x1b:
			i += escapeLen(raw[i:])
		case c < ' ' && c != '\t' || c == 0x7f:
			i++
		default:
			out = append(out, c)
			i++
		}
	}
	out = bytes.TrimRight(out, " \t")
	return withoutBareCodes(strings.ToValidUTF8(string(out), "\uFFFD"))
}

// escapeLen is the length of the terminal escape sequence that b begins with: a colour or cursor code (CSI), a title or a link
// (OSC and its like, up to BEL or ST), a character set, or two bytes. An unfinished CSI ends where it stops making sense.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return len(b)
	}
	switch b[1] {
	case '[':
		for i := 2; i < len(b); i++ {
			if b[i] >= 0x40 && b[i] <= 0x7e {
				return i + 1
			}
			if b[i] < 0x20 || b[i] > 0x3f {
				return i
			}
		}
		return len(b)
	case ']', 'P', 'X', '^', '_':
		return stringLen(b)
	case '(', ')', '*', '+', '#', '%', ' ':
		return min(3, len(b))
	}
	return 2
}

// maxString is how far the end of an OSC is looked for; hyperlinks are the longest in use.
const maxString = 4096

// stringLen is the length of an escape sequence that is ended by BEL or ST. One that never ends is only its first two bytes, so
// that the text after it is not lost.
func stringLen(b []byte) int {
	for i := 2; i < len(b) && i < maxString; i++ {
		if b[i] == 0x07 {
			return i + 1
		}
		if b[i] == 0x1b {
			if i+1 < len(b) && b[i+1] == '\\' {
				return i + 2
			}
			break
		}
	}
	return 2
}

// withoutBareCodes drops colour codes that lost their escape character on the way through a web page: "[36m(worker)[0m". They are
// taken for such only when the line has the code that ends colours.
func withoutBareCodes(s string) string {
	if !strings.Contains(s, "[0m") {
		return s
	}
	var out strings.Builder
	for {
		i := strings.IndexByte(s, '[')
		if i < 0 {
			out.WriteString(s)
			return strings.TrimRight(out.String(), " \t")
		}
		out.WriteString(s[:i])
		n := bareCodeLen(s[i:])
		if n == 0 {
			out.WriteByte('[')
			n = 1
		}
		s = s[i+n:]
	}
}

// bareCodeLen is the length of the "[1;36m" that s begins with, or 0.
func bareCodeLen(s string) int {
	for i := 1; i < len(s) && i < 20; i++ {
		switch c := s[i]; {
		case c == 'm' && i > 1:
			return i + 1
		case c != ';' && (c < '0' || c > '9'):
			return 0
		}
	}
	return 0
}
