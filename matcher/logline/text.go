package logline

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/gpu-triage/triage/matcher/scan"
)

// printable makes the bytes of a line valid UTF-8 without escape sequences. Other control characters but the tab are treated like bytes
// that are no UTF-8: nothing that they part becomes one word, so that what is looked for in raw bytes is found in the text and the
// other way round. At the start of a line they are dropped, since truncated files begin with zeros, and so is white space at its end.
func printable(raw []byte) string {
	raw = bytes.TrimRight(raw, " \t\r")
	for len(raw) > 0 && isControl(raw[0]) && raw[0] != escape {
		raw = raw[1:]
	}
	clean, plain := true, true
	for _, c := range raw {
		if isControl(c) {
			clean = false
			break
		}
		if c >= utf8.RuneSelf {
			plain = false
		}
	}
	if clean && (plain || utf8.Valid(raw)) {
		return string(raw)
	}
	out := scan.Plain(make([]byte, 0, len(raw)), raw)
	for i, c := range out {
		if isControl(c) {
			out[i] = 0xff
		}
	}
	return strings.ToValidUTF8(string(bytes.TrimRight(out, " \t")), "\uFFFD")
}

func isControl(c byte) bool { return c < ' ' && c != '\t' || c == 0x7f }

// bareEnd is the code that ends colours, without its escape character.
const bareEnd = "[0m"

// withoutBareCodes drops colour codes that lost their escape character on the way through a web page: "[36m(worker)[0m". They are
// taken for such only when the line has the code that ends colours.
func withoutBareCodes(s string) string {
	if !strings.Contains(s, bareEnd) {
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

// maxBareCode is the longest colour code that is taken for one, in bytes.
const maxBareCode = 20

// bareCodeLen is the length of the "[1;36m" that s begins with, or 0.
func bareCodeLen(s string) int {
	for i := 1; i < len(s) && i < maxBareCode; i++ {
		switch c := s[i]; {
		case c == 'm' && i > 1:
			return i + 1
		case c != ';' && !isDigit(c):
			return 0
		}
	}
	return 0
}
