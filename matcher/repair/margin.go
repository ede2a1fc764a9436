package repair

import "strings"

// inMargin are the characters of a margin: of a quotation in a mail or in Markdown, and of what is set in.
const inMargin = "> \t"

// marginOf is how many bytes of a margin each line has that is not empty. The frames of a traceback are set in without one.
func marginOf(lines []string) int {
	const few = 2
	margin, count, frames := "", 0, 0
	for _, line := range lines {
		rest := strings.TrimLeft(line, inMargin)
		if rest == "" {
			continue
		}
		own := line[:len(line)-len(rest)]
		if count == 0 {
			margin = own
		}
		if common := commonStart(margin, own); common < len(margin) || count == 0 {
			margin, frames = margin[:common], 0
		}
		if len(own) == len(margin) && strings.HasPrefix(rest, `File "`) {
			frames++
		}
		if margin == "" {
			return 0
		}
		count++
	}
	if count < few || frames > 0 {
		return 0
	}
	return len(margin)
}

// commonStart is how many bytes two texts begin with alike.
func commonStart(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// withoutMargin takes the margin off a line, by its number from 1. An empty line may lack some of it, and a line that does not have it stays as it is.
func (d Damage) withoutMargin(line string, number int) string {
	n := min(d.margin, len(line))
	if number <= len(d.blocks) {
		n = min(d.blocks[number-1], len(line))
	}
	if strings.Trim(line[:n], inMargin) != "" {
		return line
	}
	return line[n:]
}
