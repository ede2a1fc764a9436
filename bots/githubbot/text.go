package githubbot

import (
	"regexp"
	"strings"
)

// split parts Markdown into what stands in fenced code and the rest. Both have as many lines as the body, blank where the other has
// text, so that a line's number is that in the body.
func split(body string) (code, prose string) {
	var inCode, inProse strings.Builder
	fence := ""
	for line := range strings.Lines(body) {
		text := strings.TrimRight(line, "\r\n")
		inside, marker := "", fenceOf(text)
		switch {
		case fence == "" && marker != "":
			fence = marker
		case fence != "" && marker != "" && marker[0] == fence[0] && len(marker) >= len(fence) && strings.TrimLeft(text, " "+marker[:1]) == "":
			fence = ""
		case fence != "":
			inside = text
		default:
			inProse.WriteString(text)
		}
		inCode.WriteString(inside)
		inCode.WriteByte('\n')
		inProse.WriteByte('\n')
	}
	return inCode.String(), inProse.String()
}

// fenceOf returns the run of backticks or tildes that a line begins with, when it can open or close a block.
func fenceOf(line string) string {
	text := strings.TrimLeft(line, " \t")
	if strings.HasPrefix(text, ">") || text == "" {
		return ""
	}
	// A list item may begin with a fence.
	text = strings.TrimLeft(strings.TrimPrefix(strings.TrimPrefix(text, "- "), "* "), " ")
	for _, mark := range []string{"`", "~"} {
		run := len(text) - len(strings.TrimLeft(text, mark))
		if run >= 3 && !(mark == "`" && strings.Contains(text[run:], "`")) {
			return text[:run]
		}
	}
	return ""
}

var link = regexp.MustCompile(`https?://[^\s<>"'()\[\]` + "`" + `]+`)

// links returns the web addresses in a text, each once, at most twenty.
func links(text string) []string {
	var found []string
	met := map[string]bool{}
	for _, address := range link.FindAllString(text, 200) {
		address = strings.TrimRight(address, ".,;:!?*_|")
		if !met[address] && len(found) < 20 {
			met[address] = true
			found = append(found, address)
		}
	}
	return found
}

// attachment tells whether an address is of a file that someone attached to an issue or put in a gist.
func attachment(address string) bool {
	for _, part := range []string{"://github.com/user-attachments/files/", "://gist.githubusercontent.com/", "://raw.githubusercontent.com/"} {
		if strings.Contains(address, part) {
			return true
		}
	}
	return oldAttachment.MatchString(address)
}

var (
	oldAttachment = regexp.MustCompile(`^https://github\.com/[\w.-]+/[\w.-]+/files/\d+/`)
	gist          = regexp.MustCompile(`^https://gist\.github\.com/(?:[\w-]+/)?([0-9a-f]{20,40})(?:[/#?]|$)`)
	picture       = regexp.MustCompile(`(?i)\.(?:png|jpe?g|gif|webp|svg|mp4|mov|pdf|pt|bin|safetensors)$`)
)
