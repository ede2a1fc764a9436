package scan

import "bytes"

const esc = 0x1b

// escaped is the first line at or after from, which is where a line begins, that has an escape sequence: without its \n, both ends
// of data when there is none.
func escaped(data []byte, from int) (start, end int) {
	n := bytes.IndexByte(data[from:], esc)
	if n < 0 {
		return len(data), len(data)
	}
	start = from + bytes.LastIndexByte(data[from:from+n], '\n') + 1
	end = bytes.IndexByte(data[from+n:], '\n')
	if end < 0 {
		return start, len(data)
	}
	return start, from + n + end
}

// Plain appends line without its terminal escape sequences to to.
func Plain(to, line []byte) []byte {
	for {
		n := bytes.IndexByte(line, esc)
		if n < 0 {
			return append(to, line...)
		}
		to = append(to, line[:n]...)
		line = line[n+escapeLen(line[n:]):]
	}
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
		if b[i] == '\r' || b[i] == '\n' {
			break
		}
		if b[i] == esc {
			if i+1 < len(b) && b[i+1] == '\\' {
				return i + 2
			}
			break
		}
	}
	return 2
}
