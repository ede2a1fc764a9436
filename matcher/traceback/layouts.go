package traceback

import (
	"strconv"
	"strings"

	"github.com/gpu-triage/triage/rules/pattern"
)

// boxedFrame takes a line of the box that rich draws around frames, and the line with the type after it.
func (r *record) boxedFrame(next nextLine) lineAction {
	inside, ok := strings.CutPrefix(strings.TrimSpace(next.text), "│")
	if !ok {
		return r.belowBox(next)
	}
	inside = strings.TrimSpace(strings.TrimSuffix(inside, "│"))
	if m := boxedPlace().FindStringSubmatch(inside); m != nil {
		n, _ := strconv.Atoi(m[2])
		r.addFrame(Frame{File: m[1], Line: n, Function: m[3]})
	} else if m := boxedCode().FindStringSubmatch(inside); m != nil && len(r.frames) > 0 {
		r.frames[len(r.frames)-1].Code = sourceLine(strings.TrimSpace(m[1]))
	}
	return taken
}

// belowBox takes the lower edge of a box, and the line with the type below it.
func (r *record) belowBox(next nextLine) lineAction {
	if strings.HasPrefix(next.text, "╰") {
		return taken
	}
	typ, msg, ok := parseType(next.text)
	if !ok {
		return r.foreignLine()
	}
	r.raise(next.line, typ, msg)
	return taken
}

var (
	boxedPlace    = pattern.Lazy(`^(/\S.*|[A-Za-z]:\\.*|[\w./<>-]+):(\d{1,8}) in (.+)$`)
	boxedCode     = pattern.Lazy(`^[❱>] +\d+ │ ?(.*)$`)
	notebookPlace = pattern.Lazy(`^(?:File )?([^\s:]+\.py[cx]?|(?:[A-Za-z]:)?[~/\\][^:]{0,300}\.py[cx]?|<ipython-input[^>]*>|<timed (?:exec|eval)>|<magic-timeit>|Cell In\s?\[\d+\])(?::(\d{1,8})|, line (\d{1,8}))?,? in (.+)$|^Cell In\s?\[\d+\], line (\d{1,8})$|` +
		`^File ([^\s:]+\.py[cx]?|(?:[A-Za-z]:)?[~/\\][^:]{0,300}\.py[cx]?):(\d{1,8})$`) // a module as it is imported: no function is named
	framesLeftOut = pattern.Lazy(`^(?:\d+|\[\.\.\.]|\[\.\.\. skipping) .*frames?\b`) // by Colab, and by IPython
	notebookCode  = pattern.Lazy(`^-+> ?(\d{1,8}) (.*)$`)
	notebookLink  = pattern.Lazy(`^(\s*(?:-+> ?|File |Cell In\s?\[\d+\], )?)\[([^\]]{1,300})\]\((?:file:|vscode-|https?://)[^\s)]{1,600}\)`)
)

// unlinked is a line of IPython's traceback without the link that Colab and VS Code put around a file or a line's number, as it is copied.
func unlinked(text string) string {
	if !strings.Contains(text, "](") {
		return text
	}
	return notebookLink().ReplaceAllString(text, "$1$2")
}

// maxNotebook is how many lines of IPython's traceback are waited for until the one with the type.
const maxNotebook = 400

// notebookFrame takes a line of IPython's traceback, which ends with the type that its header names.
func (r *record) notebookFrame(next nextLine) lineAction {
	if typ, msg, ok := parseType(next.text); ok && strings.HasSuffix(typ, r.exc.Type) {
		r.raise(next.line, typ, msg)
		return taken
	}
	r.cellLines++
	if _, ok := findHeader(next.text); ok || r.cellLines > maxNotebook {
		r.exc = nil
		return ended
	}
	text := unlinked(next.text)
	if m := notebookPlace().FindStringSubmatch(text); m != nil {
		r.addFrame(notebookPlaceOf(m, text))
	} else if m := notebookCode().FindStringSubmatch(text); m != nil && len(r.frames) > 0 {
		last := &r.frames[len(r.frames)-1]
		last.Line, _ = strconv.Atoi(m[1])
		last.Code = sourceLine(strings.TrimSpace(m[2]))
	} else if r.mayEndCell(next.text) {
		r.bare = append(r.bare, messageLine{next.line, next.text})
	}
	return taken
}

// mayEndCell tells whether a line below the frames of IPython's traceback may be the message without its type: it is neither code nor a count
// of frames that are not shown.
func (r *record) mayEndCell(text string) bool {
	return len(r.frames) > 0 && len(r.bare) < maxBare && !isSpace(text[0]) && !cellCode().MatchString(text) && !framesLeftOut().MatchString(text)
}

// raiseBareCell takes the lines below the last cell for the message, when none of them begins with the type that the header names.
func (r *record) raiseBareCell() {
	typ, msg, ok := parseType(r.bare[0].text)
	if !ok || !looksRaised(typ) {
		typ, msg = r.exc.Type, r.bare[0].text
	}
	r.raiseBare(typ, msg)
}

// notebookPlaceOf is the frame that a line names which notebookPlace matches.
func notebookPlaceOf(m []string, text string) Frame {
	n, _ := strconv.Atoi(m[2] + m[3] + m[5] + m[7])
	file := m[1] + m[6]
	if file == "" {
		file, _, _ = strings.Cut(text, ",")
	}
	if strings.HasSuffix(file, ".pyc") { // of Python 2, which names the compiled file
		file = strings.TrimSuffix(file, "c")
	}
	function, _, _ := strings.Cut(m[4], "(")
	if m[6] != "" {
		function = "<module>"
	}
	return Frame{File: file, Line: n, Function: function}
}

// faultFrame takes a line of what the fault handler prints: the threads, each with its frames,
// innermost first. Those of the crashed one matter.
func (r *record) faultFrame(text string) lineAction {
	switch {
	case strings.HasPrefix(text, "Current thread "), strings.HasPrefix(text, "Stack (most recent call first)"):
		r.frames, r.otherThread = nil, false
		return taken
	case strings.HasPrefix(text, "Thread "):
		r.otherThread = true
		return taken
	}
	if f, ok := parseFrame(text); ok {
		if !r.otherThread && len(r.frames) < maxFrames {
			r.frames = append([]Frame{f}, r.frames...)
		}
		return taken
	}
	if strings.HasPrefix(text, "Python runtime state: ") || strings.HasPrefix(text, "  <no Python frame>") || strings.HasPrefix(text, "  ...") {
		return taken
	}
	return ended
}
