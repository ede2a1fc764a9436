package pyrepr

import (
	"strconv"
	"strings"
)

func isQuote(c byte) bool { return c == '\'' || c == '"' }

func isClosing(c byte) bool { return c == ')' || c == ']' || c == '}' }

func isNameStart(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isWord(c byte) bool { return isNameStart(c) || c >= '0' && c <= '9' }

func isDottedName(s string) bool {
	for i := range len(s) {
		if !isWord(s[i]) && s[i] != '.' {
			return false
		}
	}
	return s != ""
}

// scalar gives the value of a repr without brackets.
func scalar(raw string) any {
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

// escapes are those of Python's string literals that stand for one byte. Others stay as they are printed.
var escapes = map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', '\\': '\\', '\'': '\'', '"': '"'}

// unescaped undoes the escapes of a Python string literal, given without its quotes.
func unescaped(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			if c, known := escapes[s[i+1]]; known {
				b.WriteByte(c)
				i++
				continue
			}
			b.WriteByte(s[i])
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
