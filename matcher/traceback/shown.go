package traceback

import (
	"strconv"
	"strings"

	"github.com/gpu-triage/triage/rules/pattern"
)

var (
	cellCode   = pattern.Lazy(`^ *\d{1,8}(?: .*)?$`) // a line of IPython's traceback around the one that failed
	assignment = pattern.Lazy(`^[A-Za-z_][\w.]*(?:\[[^\[\]]*\])*(?:, ?\*?[A-Za-z_][\w.]*(?:\[[^\[\]]*\])*)* ?(?:[-+*/%|&@]|//|\*\*)?= ?[^=\s].*$`)
	statement  = pattern.Lazy(`^(?:(?:return|raise|assert|yield|del) [\w(\[].*|(?:for|if|elif|while|with) .*:|(?:from [\w.]+ )?import [\w., *()]+)$`)
	callOrItem = pattern.Lazy(`[A-Za-z_\])][\w]*[(\[]`)
	methodCall = pattern.Lazy(`^[A-Za-z_]\w*(?:\.\w+)+\(`)
)

// maxShown is how many bytes a source line has that somebody copied without its frame.
const maxShown = 300

// Show gives an exception of whose traceback nothing but the last line is known the source line that stands above it, where one does: people
// copy the line of code together with the error below it, and begin in the middle of what a notebook shows.
func (e *Exception) Show() {
	if !e.Lone() || e.Type == "" || e.Before == nil || e.Earlier != nil {
		return
	}
	lines := strings.Split(e.Before(), "\n")
	f := shownCell(lines)
	if f.Code == "" {
		f = unreadable(lines)
	}
	if f.Code != "" {
		if f.File != "" {
			e.Frames = []Frame{f}
		}
		e.shown = f.Code
		return
	}
	if last := lines[len(lines)-1]; isCode(last) {
		e.shown = strings.TrimSpace(last)
	}
}

// shownCell is the frame that the end of a notebook's traceback shows: the line with the arrow, and the nearest line above that names a
// file or cell.
func shownCell(lines []string) (f Frame) {
	for i := len(lines) - 1; i >= 0; i-- {
		text := unlinked(strings.TrimRight(lines[i], " \t\r"))
		if m := notebookPlace().FindStringSubmatch(text); m != nil && f.Code != "" {
			place := notebookPlaceOf(m, text)
			place.Line, place.Code = f.Line, f.Code
			return place
		}
		if m := notebookCode().FindStringSubmatch(text); m != nil && f.Code == "" {
			f.Line, _ = strconv.Atoi(m[1])
			f.Code = sourceLine(strings.TrimSpace(m[2]))
			continue
		}
		if text != "" && !cellCode().MatchString(text) {
			break
		}
	}
	return f
}

// unreadable is the frame of a cell that Python could not parse, which IPython shows without an arrow: its place, the line, and a mark below it.
func unreadable(lines []string) Frame {
	last := len(lines) - 1
	if last < 2 || !isMarker(strings.TrimSpace(lines[last])) {
		return Frame{}
	}
	place := strings.TrimSpace(unlinked(lines[last-2]))
	m := notebookPlace().FindStringSubmatch(place)
	if m == nil {
		return Frame{}
	}
	f := notebookPlaceOf(m, place)
	f.Code = sourceLine(strings.TrimSpace(lines[last-1]))
	return f
}

// isCode tells whether a line is one of a Python program rather than of its output. One that stands as far in as a traceback shows source may be
// short; else it has to call or index something.
func isCode(text string) bool {
	code := strings.TrimSpace(text)
	if code == "" || len(code) > maxShown || isOther(code) || strings.Contains(code, "://") {
		return false
	}
	set := strings.HasPrefix(text, "    ")
	switch {
	case assignment().MatchString(code):
		left, right, _ := strings.Cut(code, "=")
		right = strings.TrimLeft(right, " ")
		return balanced(code) && (callOrItem().MatchString(right) || set && strings.Contains(left, ", ") && !strings.Contains(right, " "))
	case statement().MatchString(code):
		return balanced(code)
	}
	return set && methodCall().MatchString(code) && balanced(code)
}

// balanced tells whether a source line closes the brackets that it opens, or ends where a call goes on in the next line.
func balanced(code string) bool {
	open := strings.Count(code, "(") + strings.Count(code, "[") + strings.Count(code, "{")
	closed := strings.Count(code, ")") + strings.Count(code, "]") + strings.Count(code, "}")
	return open == closed || open > closed && (strings.HasSuffix(code, "(") || strings.HasSuffix(code, ",") || strings.HasSuffix(code, "["))
}
