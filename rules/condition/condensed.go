package condition

import "strings"

// maxDump is how many bytes between two brackets a long text keeps.
const maxDump = 80

// condensed is a text with little of what its long brackets hold: the sentence that stands behind the dump of a list or a dictionary
// says more than the dump.
func condensed(text string) string {
	ends := closings(text)
	var b strings.Builder
	from := 0
	for i := 0; i < len(text); i++ {
		end, opens := ends[i]
		if !opens {
			continue
		}
		if end-i > maxDump {
			b.WriteString(text[from:i+1] + "…")
			from = end
		}
		i = end
	}
	return b.String() + text[from:]
}

// closings are the places of the brackets that close those at other places. One that is cut off in the text, or is no bracket of a value, has
// none.
func closings(text string) map[int]int {
	ends := make(map[int]int)
	var open []int
	for i := range len(text) {
		switch text[i] {
		case '[', '{':
			open = append(open, i)
		case ']', '}':
			if len(open) > 0 {
				ends[open[len(open)-1]] = i
				open = open[:len(open)-1]
			}
		}
	}
	return ends
}
