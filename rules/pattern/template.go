package pattern

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// LineTemplate appends to dst what a line has in common with all lines that differ from it in numbers only: the line with a 1 in place
// of each digit of its numbers, the digits that say how many, when or where. Digits with a letter or an underscore before them are part
// of a name, as in bf16, and zeros alone say that there is nothing: both stay as they are. Most of what rules ask about a line has the
// same answer for all lines of its template.
//
// It refuses lines with control characters or with bytes that are no UTF-8: some may have digits side by side in their text that are
// apart in their bytes.
func LineTemplate(dst, line []byte) (template []byte, ok bool) {
	if !isText(line) {
		return nil, false
	}
	from := len(dst)
	dst = append(dst, line...)
	line = dst[from:]
	for i := toDigit(line, 0); i < len(line); {
		end, zeros := digitRun(line, i)
		for k := i; k < end && !zeros && (i == 0 || !inName(line[i-1])); k++ {
			line[k] = '1'
		}
		i = toDigit(line, end)
	}
	return dst, true
}

// toDigit is where the next digit of a line is from a place on, or the line's end.
func toDigit(line []byte, from int) int {
	for ; from+8 <= len(line); from += 8 { // a byte of others has its highest bit unless it stems from a digit
		digit := binary.LittleEndian.Uint64(line[from:]) ^ each*'0' // a byte below 10 is one
		others := digit | (digit&(each*0x7f) + each*(0x80-10))
		if digits := ^others & (each * 0x80); digits != 0 {
			return from + bits.TrailingZeros64(digits)/8
		}
	}
	for ; from < len(line) && !isDigit(line[from]); from++ {
	}
	return from
}

// isText tells whether a line is UTF-8 without control characters but tabs.
func isText(line []byte) bool {
	rest := line
	for len(rest) >= 8 { // none of the three has a highest bit where all bytes are printable ASCII
		eight := binary.LittleEndian.Uint64(rest)
		if (eight|(eight+each)|(eight-each*' '))&(each*0x80) != 0 && hasControl(rest[:8]) {
			return false
		}
		rest = rest[8:]
	}
	return !hasControl(rest) && utf8.Valid(line)
}

func hasControl(line []byte) bool {
	for _, c := range line {
		if c < ' ' && c != '\t' || c == 0x7f {
			return true
		}
	}
	return false
}

// each has a 1 in each of eight bytes.
const each = 0x0101010101010101

// IgnoresNumbers tells whether surely all lines of a template, or none, contain a literal.
func IgnoresNumbers(literal string) bool { return ignoresNumbers(literal, false, false) }

// ignoresNumbers is IgnoresNumbers for a literal of which is known whether it begins and ends where a word or a line does.
func ignoresNumbers(literal string, begins, ends bool) bool {
	text := []byte(literal)
	for i := 0; i < len(text); i++ {
		if !isDigit(text[i]) {
			continue
		}
		end, zeros := digitRun(text, i)
		name := i > 0 && inName(text[i-1])
		nothing := zeros && (i > 0 || begins) && (end < len(text) || ends)
		if !name && !nothing {
			return false
		}
		i = end
	}
	return true
}

// digitRun is where the digits that begin at a place end, and whether all are zeros.
func digitRun(text []byte, from int) (end int, zeros bool) {
	for end, zeros = from, true; end < len(text) && isDigit(text[end]); end++ {
		zeros = zeros && text[end] == '0'
	}
	return end, zeros
}

func isDigit(c byte) bool { return c-'0' <= 9 }

func inName(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }
