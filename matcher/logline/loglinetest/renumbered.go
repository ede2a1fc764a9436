package loglinetest

import (
	"bytes"
	"math/rand/v2"
	"strings"

	"github.com/gpu-triage/triage/rules/pattern"
)

// Renumbered is another line of the same template, or the line itself when it is of none.
func Renumbered(rnd *rand.Rand, line string) string {
	raw, end, _ := strings.Cut(line, "\n")
	template, ok := pattern.LineTemplate(nil, []byte(raw))
	if !ok {
		return line
	}
	other := []byte(raw)
	for i, c := range other {
		if '0' <= c && c <= '9' {
			other[i] = byte('0' + rnd.IntN(10))
			if now, _ := pattern.LineTemplate(nil, other); !bytes.Equal(now, template) {
				other[i] = c
			}
		}
	}
	return string(other) + line[len(raw):len(line)-len(end)] + end
}
