package traceback

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/scan"
	"github.com/gpu-triage/triage/rules/pattern"
)

const (
	escapedHeader   = logline.TracebackHeader + `:\n`
	joinedBox       = "╮ " + side
	fatalPython     = "Fatal Python error: "
	terminateCalled = "terminate called after throwing an instance of '"
	tracebackOf     = "Traceback of " // a compiled program's, inside the message of the interpreter's
	lastCalls       = "(most recent call last)"
	rankMark        = "(RANK "             // behind the header of another rank's, inside the message of who gathered them
	ignoredIn       = "Exception ignored " // in a destructor or a callback: Python says so and goes on
	pytestMark      = "E  "
	unavailable     = "UNAVAILABLE: " // Triton's state of a model, with what it raised behind it
	side            = "│"             // of a box around a traceback

	marks     = "`*\"" // of Markdown, around code and bold words, and quotes
	quotation = "> "   // of Markdown and mails, before a line
	codeMark  = "`"
	italic    = "_" // of Markdown, where it stands on both sides: the names of some exceptions begin with it

	notebookType = 40 // columns before a notebook's header, in which the type stands

	maxHeaderLen = 80 // bytes from the first word of a header to its last ones
	maxSetIn     = 3  // blanks that come before a lone last line with copying; what stands further in is a program's text
)

// MayOpen tells cheaply whether a line can begin a traceback.
func MayOpen(text string) bool {
	if text == "" {
		return false
	}
	switch c := text[0]; {
	case c == ' ', c == '\t', c == '>', c == '[', strings.IndexByte(marks, c) >= 0:
		if strings.HasPrefix(strings.TrimLeft(text, " \t"), `File "`) {
			return true
		}
		if typ, _, ok := parseType(setIn(text)); ok && looksRaised(typ) {
			return true
		}
		if _, _, ok := caught(text); ok {
			return true
		}
		if _, _, cut := cutFrame(strings.TrimLeft(text, marks)); cut {
			return true
		}
	case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c == '_', c == '/', c == '~', c == '.':
		if strings.HasPrefix(text, `File "`) {
			return true
		}
		if typ, _, ok := parseType(text); ok && looksRaised(typ) {
			return true
		}
		if _, _, ok := caught(text); ok {
			return true
		}
		if _, _, cut := cutFrame(text); cut {
			return true
		}
		if _, _, ok := wholeRepr(text); ok {
			return true
		}
		for _, start := range []string{fatalPython, terminateCalled, ignoredIn, pytestMark} {
			if strings.HasPrefix(text, start) {
				return true
			}
		}
	}
	if text[0] >= utf8.RuneSelf || strings.Contains(text, unavailable) { // a person's words in another script, a table of models
		if _, _, ok := caught(text); ok {
			return true
		}
	}
	return strings.Contains(text, lastCalls) || mayReport(text)
}

// setIn is the text without the few blanks that come with copying, and without marks.
func setIn(text string) string {
	if trimmed := strings.TrimLeft(text, " "); len(text)-len(trimmed) <= maxSetIn {
		text = trimmed
	}
	return unmarked(text)
}

// unmarked is the text without the marks with which Markdown sets a whole line as a quotation, code, bold or italic.
func unmarked(text string) string {
	text = strings.TrimPrefix(text, quotation)
	if strings.HasPrefix(text, italic) && strings.HasSuffix(text, italic) && len(text) > len(italic) {
		text = strings.Trim(text, italic)
	}
	bare := strings.TrimLeft(text, marks)
	if bare == text {
		return text
	}
	return strings.TrimRight(bare, marks+" ")
}

// findHeader finds the first line of a traceback, and what stands before it.
func findHeader(text string) (before string, ok bool) {
	j := strings.Index(text, lastCalls)
	if j < 0 {
		return "", false
	}
	i := strings.LastIndex(text[:j], "Traceback ")
	if i < 0 || j-i > maxHeaderLen || !endsHeader(text[j+len(lastCalls):]) {
		return "", false
	}
	return text[:i], true
}

// endsHeader tells whether a header can end like this: with a colon, with the rank that it is of, with the frame of a box, or with what
// another process wrote at the same time.
func endsHeader(rest string) bool {
	rest = strings.TrimLeft(strings.TrimPrefix(rest, ":"), " ")
	for _, start := range []string{"Traceback ", `File "`, "─", "╮", side, `\n`, rankMark} {
		if strings.HasPrefix(rest, start) {
			return true
		}
	}
	return rest == ""
}

// Openers are literals of which every line has one that begins a traceback: a pass over the bytes of a log that looks for them misses
// none. All are long enough for the fastest pass, which is why an exception without traceback and without message is believed only
// when its name is one of Python's own.
func Openers() []scan.Literal { return openers() }

var openers = sync.OnceValue(func() []scan.Literal {
	texts := []string{lastCalls, fatalPython, terminateCalled, ignoredIn, `", line `, "Exception", "Interrupt", "RemoteTraceback", "Error): ", whileExecuting}
	const before = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_."
	for _, c := range before {
		for _, after := range " \t\r\n" {
			texts = append(texts, string(c)+"Error:"+string(after))
		}
	}
	for name := range smallNames {
		texts = append(texts, name+": ")
	}
	for _, names := range []map[string]bool{builtinNames, otherNames} {
		for name := range names {
			if len(name) >= scan.WideLiteral {
				texts = append(texts, name)
			}
		}
	}
	texts = append(texts, exceptionModules...)
	literals := make([]scan.Literal, len(texts))
	for i, text := range texts {
		literals[i] = scan.Literal{Text: text}
	}
	return literals
})

// hasOpener tells whether the text of a line has one of the openers.
func hasOpener(text string) bool {
	text += "\n"
	for _, l := range openers() {
		if strings.Contains(text, l.Text) {
			return true
		}
	}
	return false
}

// opened begins a record with this line, or gives nil. The ways to begin one are tried in this order.
func opened(l logline.Line, text string) *record {
	for _, begin := range [...]func(logline.Line, string) *record{
		openedByHeader, openedByReport, openedByFrame, openedByType, openedByPytest, openedByFault, openedByIgnored, openedByTerminate,
	} {
		if r := begin(l, text); r != nil {
			return r
		}
	}
	return nil
}

// streamName is the stream of a child that a program names before the first line of what it printed there, and not before the others.
var streamName = pattern.Lazy(`std(?:out|err): $`)

// openedByHeader begins with "Traceback (most recent call last):", in any of its layouts.
func openedByHeader(l logline.Line, text string) *record {
	before, ok := findHeader(text)
	if !ok {
		return nil
	}
	r := &record{layout: python, header: l}
	trimmed := strings.TrimSpace(before)
	indent := before[:len(before)-len(strings.TrimLeft(before, " \t"))]
	switch {
	case trimmed == "":
		r.base = before
	case strings.HasSuffix(trimmed, "+ Exception Group"):
		r.layout, r.group = grouped, newGroup(l, strings.Index(before, "+"))
	case trimmed == side:
		r.sided = true
	case strings.HasPrefix(trimmed, "╭"):
		r.layout, r.width, r.base = boxed, utf8.RuneCountInString(strings.TrimSpace(text)), indent
	case failureField().MatchString(before): // the launcher's list, without its beginning
		r.base = indent
	case (looksRaised(trimmed) || isClass(trimmed) && len(before) >= notebookType) && strings.HasSuffix(before, "  "):
		r.layout = notebook
		r.exc = &Exception{Type: trimmed, Line: l, Header: l}
	case !isWords(before):
		r.prefix = streamName().ReplaceAllString(before, "")
	}
	return r
}

// openedByFrame begins with a frame whose header is missing. One at the very beginning of a line has to name its function, or a file of
// Python, as a SyntaxError does whose first blanks were lost in copying: compilers write the rest, too.
func openedByFrame(l logline.Line, text string) *record {
	place := strings.TrimLeft(text, " \t")
	indent := text[:len(text)-len(place)]
	if file, rest, ok := cutFrame(strings.TrimLeft(place, marks)); ok {
		place = `File "` + file + rest
		l.Text, l.Head = place, 0
	}
	if f, ok := parseFrame(place); !ok || indent == "" && f.Function == "" && !strings.HasSuffix(f.File, ".py") {
		return nil
	}
	r := &record{layout: python, headless: true}
	if len(indent) > len(frameIndent) {
		r.base = strings.TrimSuffix(indent, frameIndent)
	}
	r.take(l)
	if len(r.frames) == 0 {
		return nil
	}
	return r
}

// cutFrame splits a frame's line that was copied from somewhere behind its first quote: `models/net.py", line 3, in f`.
func cutFrame(text string) (file, rest string, ok bool) {
	i := strings.Index(text, `.py", line `)
	if i < 0 || strings.ContainsAny(text[:i], " \"'`") || !strings.Contains(text[i:], ", in ") {
		return "", "", false
	}
	i += len(".py")
	return text[:i], text[i:], true
}

// openedByType begins with the last line of a traceback that was not printed, or with what a program that caught it says of it.
func openedByType(l logline.Line, text string) *record {
	closed := enclosed(text)
	text = setIn(text)
	typ, msg, ok := parseType(text)
	if !ok || !looksRaised(typ) {
		typ, msg, ok = caught(text)
	}
	whole := false
	if !ok {
		typ, msg, whole = wholeRepr(text)
	}
	if !ok && !whole {
		return nil
	}
	r := &record{layout: lone, whole: whole || closed}
	r.raise(l, typ, msg)
	return r
}

// enclosed tells whether Markdown's marks for code begin and end with a line, so that nothing below belongs to it.
func enclosed(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, codeMark) && strings.HasSuffix(text, codeMark) && strings.Count(text, codeMark)%2 == 0 && strings.Trim(text, codeMark) != ""
}

// openedByPytest begins with the first of the lines that pytest marks with an E.
func openedByPytest(l logline.Line, text string) *record {
	rest, ok := strings.CutPrefix(text, pytestMark)
	if !ok {
		return nil
	}
	rest = strings.TrimLeft(rest, " ")
	r := openedByType(l, rest)
	if r != nil {
		prefixed := true
		r.prefix, r.prefixed = text[:len(text)-len(rest)], &prefixed
	}
	return r
}

// openedByFault begins with what Python's fault handler says first.
func openedByFault(l logline.Line, text string) *record {
	msg, ok := strings.CutPrefix(text, fatalPython)
	if !ok {
		return nil
	}
	r := &record{layout: fault}
	r.raise(l, strings.TrimSuffix(fatalPython, ": "), msg)
	r.state = inFrames
	return r
}

// openedByIgnored begins with the line in which Python says that it goes on.
func openedByIgnored(l logline.Line, text string) *record {
	if !strings.HasPrefix(text, ignoredIn) {
		return nil
	}
	return &record{layout: python, state: inChain, swallowed: true, kept: []logline.Line{l}}
}

// openedByTerminate begins with the first of the last words of C++.
func openedByTerminate(l logline.Line, text string) *record {
	rest, ok := strings.CutPrefix(text, terminateCalled)
	if !ok {
		return nil
	}
	r := &record{layout: terminate}
	r.raise(l, strings.TrimSuffix(rest, "'"), "")
	return r
}

// isWords tells whether something in front of a header is part of it: "Original ", "Remote ".
func isWords(s string) bool {
	for _, c := range s {
		if c != ' ' && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}
