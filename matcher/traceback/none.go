package traceback

import (
	"regexp"
	"strings"

	"github.com/gpu-triage/triage/rules/pattern"
)

// raisesText finds the f-string that a source line gives to an exception as its message.
var raisesText = pattern.Lazy(`^(?:raise [\w.]+\(|assert .{1,200}, ?\(?)f(?:"([^"\n]{1,400})"|'([^'\n]{1,400})')`)

// hole is what a f-string fills: an expression, perhaps with a conversion or a format behind it.
var hole = pattern.Lazy(`\{([^{}!:]{1,80})(?:![rsa])?(?::[^{}]{0,20})?\}`)

// maxFilled is how long a message may be, in bytes, that is compared with the text it was made of.
const maxFilled = 1 << 10

// None is the expression that the deepest source line puts into the message and that is None there: "self.head_type" of
// `raise ValueError(f"bad arguments: {kind}, {self.head_type}")` with "bad arguments: self, None". It is "" where none is, or where the
// line does not show the text of the message.
func (e *Exception) None() string {
	if len(e.Message) > maxFilled || !strings.Contains(e.Message, "None") {
		return ""
	}
	m := raisesText().FindStringSubmatch(e.Code())
	if m == nil {
		return ""
	}
	text := m[1] + m[2]
	var form strings.Builder
	var holes []string
	end := 0
	for _, at := range hole().FindAllStringSubmatchIndex(text, -1) {
		form.WriteString(regexp.QuoteMeta(text[end:at[0]]) + "(.*?)")
		holes = append(holes, text[at[2]:at[3]])
		end = at[1]
	}
	form.WriteString(regexp.QuoteMeta(text[end:]))
	filled, err := regexp.Compile("^" + form.String() + "$")
	if err != nil {
		return ""
	}
	values := filled.FindStringSubmatch(e.Message)
	for i := range values[min(1, len(values)):] {
		if values[1+i] == "None" {
			return strings.TrimSpace(holes[i])
		}
	}
	return ""
}
