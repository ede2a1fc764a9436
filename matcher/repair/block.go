package repair

import "strings"

// What sets apart in a post, as somebody writes it into a tracker or a forum, what was printed.
const (
	leastCode = 4   // blanks that Markdown takes for code
	quoteMark = ">" // before each line of a quotation, mostly with a blank behind it
)

// blocksOf is how many bytes to take off each line of a post of which parts are set in as code, or quoted, between sentences that are not. It is
// nil where there are none. Such a part begins behind an empty line, or at the beginning, and ends with a line at the edge of the page. A
// quotation may also stand right below the sentence that announces it.
func blocksOf(lines []string) []int {
	margins := make([]int, len(lines))
	found := false
	said := "" // the last line that is not empty
	for i := 0; i < len(lines); i++ {
		behind := i == 0 || isEmpty(lines[i-1])
		if (behind || strings.HasSuffix(said, ":")) && setIn(said) == 0 && !announcesMore(said) {
			n, margin := blockAt(lines[i:], behind)
			for range n {
				margins[i] = margin
				i++
			}
			found = found || n > 0
		}
		if i < len(lines) && !isEmpty(lines[i]) {
			said = lines[i]
		}
	}
	if !found {
		return nil
	}
	return margins
}

// announcesMore tells whether a program itself sets lines in below this one, as those of an exception's message.
func announcesMore(line string) bool {
	return strings.Contains(line, "Error: ") || strings.Contains(line, "Exception: ") || strings.Contains(line, "Traceback ")
}

// blockAt is how many lines of a quotation, or of code where it may be that, these begin with, and how many bytes stand there before what was
// printed.
func blockAt(lines []string, code bool) (n, margin int) {
	if n, margin := quoteAt(lines); n > 0 || !code {
		return n, margin
	}
	return codeAt(lines)
}

// quoteAt is how many lines of a quotation these begin with, and how many bytes stand there before what was printed.
func quoteAt(lines []string) (n, margin int) {
	for n < len(lines) && (lines[n] == quoteMark || strings.HasPrefix(lines[n], quoteMark+" ")) {
		n++
	}
	if n == 1 { // it may be a shell's prompt
		return 0, 0
	}
	return n, len(quoteMark + " ")
}

// codeAt is how many lines of code these begin with, and by how many blanks all of it is set in.
func codeAt(lines []string) (n, margin int) {
	for i, line := range lines {
		set := setIn(line)
		switch {
		case isEmpty(line):
			continue
		case set == 0:
			return n, margin
		case set < leastCode:
			return 0, 0
		case n == 0 || set < margin:
			margin = set
		}
		n = i + 1
	}
	return n, margin
}

// setIn is how many blanks stand before a line.
func setIn(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

func isEmpty(line string) bool { return strings.TrimSpace(line) == "" }
