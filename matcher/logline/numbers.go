package logline

import "strings"

// isDigit tells of the ten digits of ASCII.
func IsDigit(c byte) bool { return c >= '0' && c <= '9' }

// withoutNumbers writes text with a sign in place of each number and address.
func WithoutNumbers(to *strings.Builder, text string) {
	from := 0
	for i := 0; i < len(text); i++ {
		if !IsDigit(text[i]) {
			continue
		}
		to.WriteString(text[from:i])
		to.WriteByte('#')
		hex := strings.HasPrefix(text[i:], "0x") && i+2 < len(text) && isHex(text[i+2])
		if hex {
			i += 2
		}
		for i < len(text) && (IsDigit(text[i]) || hex && isHex(text[i])) {
			i++
		}
		from = i
		i--
	}
	to.WriteString(text[from:])
}

func isHex(c byte) bool { return IsDigit(c) || c >= 'a' && c <= 'f' }
