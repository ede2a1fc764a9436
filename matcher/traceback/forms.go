package traceback

import (
	"strconv"
	"strings"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/rules/pattern"
)

// boxedFrame takes a line of the box that rich draws around frames, and the line with the type after it.
func (r *record) boxedFrame(l logline.Line, text string) lineAction {
	inside, ok := strings.CutPrefix(strings.TrimSpace(text), "│")
	if !ok {
		if strings.HasPrefix(text, "╰") {
			return taken
		}
		typ, msg, ok := parseType(text)
		if !ok {
			return r.stranger()
		}
		r.raise(l, typ, msg)
		return taken
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

var (
	boxedPlace    = pattern.Lazy(`^(/\S.*|[A-Za-z]:\\.*|[\w./<>-]+):(\d{1,8}) in (.+)$`)
	boxedCode     = pattern.Lazy(`^[❱>] +\d+ │ ?(.*)$`)
	notebookPlace = pattern.Lazy(`^(?:File )?([^\s:]+\.pyx?|<ipython-input[^>]*>|Cell In\s?\[\d+\])(?::(\d{1,8})|, line (\d{1,8}))?,? in (.+)$|^Cell In\s?\[\d+\], line (\d{1,8})$`)
	notebookCode  = pattern.Lazy(`^-+> ?(\d{1,8}) (.*)$`)
)

// notebookFrame takes a line of IPython's traceback, which ends with the type that its header names.
func (r *record) notebookFrame(l logline.Line, text string) lineAction {
	typ, msg, ok := parseType(text)
	if ok && strings.HasSuffix(typ, r.exc.Type) {
		r.raise(l, typ, msg)
		return taken
	}
	if _, ok := findHeader(text); ok {
		r.exc = nil
		return ended
	}
	if m := notebookPlace().FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[2] + m[3] + m[5])
		file := m[1]
		if file == "" {
			file, _, _ = strings.Cut(text, ",")
		}
		function, _, _ := strings.Cut(m[4], "(")
		r.addFrame(Frame{File: file, Line: n, Function: function})
	} else if m := notebookCode().FindStringSubmatch(text); m != nil && len(r.frames) > 0 {
		last := &r.frames[len(r.frames)-1]
		last.Line, _ = strconv.Atoi(m[1])
		last.Code = sourceLine(strings.TrimSpace(m[2]))
	}
	if r.strange++; r.strange > 4*maxStrange {
		r.exc = nil
		return ended
	}
	return taken
}

// faultFrame takes a line of what the fault handler prints: the threads, each with its frames,
// innermost first. Those of the crashed one matter.
func (r *record) faultFrame(text string) lineAction {
	switch {
	case strings.HasPrefix(text, "Current thread "), strings.HasPrefix(text, "Stack (most recent call first)"):
		r.frames, r.strange = nil, 0
		return taken
	case strings.HasPrefix(text, "Thread "):
		r.strange = 1 // another thread's
		return taken
	}
	if f, ok := parseFrame(text); ok {
		if r.strange == 0 && len(r.frames) < maxFrames {
			r.frames = append([]Frame{f}, r.frames...)
		}
		return taken
	}
	if strings.HasPrefix(text, "Python runtime state: ") || strings.HasPrefix(text, "  <no Python frame>") || strings.HasPrefix(text, "  ...") {
		return taken
	}
	return ended
}

// unescape reads a traceback that was printed as a Python string or list of strings, on one line.
func (a *Assembler) unescape(l logline.Line) bool {
	if a.nesting >= maxNesting {
		return false
	}
	text := l.Body()
	i := strings.Index(text, logline.TracebackHeader)
	found := false
	inner := NewAssembler(func(e *Exception) { found = true; a.exception(e) }, func(logline.Line) {})
	inner.nesting, inner.Before = a.nesting+1, a.Before
	for _, part := range strings.Split(unquoted(text[i:]), "\n") {
		l.Text, l.Head = part, 0
		inner.Feed(l)
	}
	inner.Close()
	return found
}

// unquoted undoes the escapes of Python strings, and joins the strings of a list.
func unquoted(s string) string {
	s = strings.NewReplacer(`\\n`, "\n", `\n', '`, "\n", `\n", '`, "\n", `\n', "`, "\n", `\n", "`, "\n", `\n`, "\n", `\"`, `"`, `\'`, `'`, `\t`, "\t", `\\`, `\`).Replace(s)
	return strings.TrimRight(s, "\n'\"]}), ")
}
