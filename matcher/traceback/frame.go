package traceback

import (
	"strconv"
	"strings"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/rules/pattern"
)

// frame takes a line between the header and the line with the type.
func (r *record) frame(next nextLine) lineAction {
	if !next.own {
		return r.foreignLine()
	}
	switch r.layout {
	case boxed:
		return r.boxedFrame(next)
	case notebook:
		return r.notebookFrame(next)
	case fault:
		return r.faultFrame(next.text)
	case reported:
		return r.reportedFrame(next)
	}
	return r.pythonFrame(next)
}

// pythonFrame takes a line of the traceback that Python itself prints.
func (r *record) pythonFrame(next nextLine) lineAction {
	if f, ok := parseFrame(next.text); ok && !r.bareAnnounces() {
		r.frameAt = r.rebased(len(next.text) - len(strings.TrimLeft(next.text, " \t")))
		r.flat = r.frameAt == 0
		r.addFrame(f)
		return taken
	}
	if r.isFlatCode(next.text) {
		return r.code(next.text)
	}
	if typ, msg, ok := r.setInLast(next.text); ok {
		r.raise(next.line, typ, msg)
		return taken
	}
	if isSpace(next.text[0]) {
		r.bareGoesOn(next)
		return r.code(next.text)
	}
	if _, ok := findHeader(next.text); ok {
		return ended
	}
	if typ, msg, ok := r.lastLine(next.text); ok {
		r.raise(next.line, typ, msg)
		return taken
	}
	if link, ok := linkOf(next.text); ok && len(r.bare) > 0 {
		r.raiseBare("", r.bare[0].text)
		r.chain(link)
		return taken
	}
	if r.raises() && !isOther(next.text) {
		r.raise(next.line, "", next.text)
		return taken
	}
	if !r.headless || r.blanks == 0 || !r.showsRaise() { // else the statement tells the message, and this is somebody's sentence
		r.mayBeMessage(next)
	}
	return r.foreignLine()
}

// rebased is where a frame stands, in blanks behind the base. Where the header alone was copied with one or two blanks before it, the first
// frame stands one behind it, or none, in place of two: then the base is what the frames show.
func (r *record) rebased(at int) int {
	lacks := len(frameIndent) - at
	if len(r.frames) > 0 || lacks <= 0 || lacks > len(r.base) || at == 0 && r.base != frameIndent || strings.Trim(r.base, " ") != "" {
		return at
	}
	r.base = r.base[lacks:]
	return len(frameIndent)
}

// frameIndent stands before each frame that Python prints.
const frameIndent = "  "

// raises tells of frames without a header whether the deepest one shows the statement that raises: then what stands right below is the message,
// also without its type.
func (r *record) raises() bool {
	return r.headless && r.blanks == 0 && len(r.frames) > 0 && raisedIn(r.frames[len(r.frames)-1].Code) != ""
}

// lastLine reads the line below the frames that names the exception: as Python prints it, marked by pytest, or quoted by a program that
// caught it.
func (r *record) lastLine(text string) (typ, msg string, ok bool) {
	text = unmarked(text)
	if typ, msg, ok := parseType(text); ok && (looksRaised(typ) || isClassOfModule(typ) || !r.headless && !isOperator(typ) && !r.isLabel(typ)) {
		return typ, msg, true
	}
	if len(r.frames) == 0 {
		return "", "", false
	}
	if marked, ok := strings.CutPrefix(text, pytestMark); ok {
		return parseType(strings.TrimLeft(marked, " "))
	}
	return quoted(text)
}

// setInLast reads the line that names the exception where it stands as far in as the frames: behind an empty line, as TensorFlow's "in user
// code:" has it, or right behind them, where a source line would stand further in.
func (r *record) setInLast(text string) (typ, msg string, ok bool) {
	if r.layout != python || len(r.frames) == 0 || !isSpace(text[0]) {
		return "", "", false
	}
	set := strings.TrimLeft(text, " \t")
	if len(text)-len(set) > r.frameAt && (!r.headless || r.blanks == 0) {
		return "", "", false
	}
	typ, msg, ok = parseType(set)
	return typ, msg, ok && looksRaised(typ)
}

// isOperator tells whether a dotted name is not that of an exception, as "aten.embedding.default", with which a message can begin. Some modules
// have an exception with a small letter: struct.error, socket.timeout.
func isOperator(typ string) bool {
	name := typ[strings.LastIndexByte(typ, '.')+1:]
	return name[0] >= 'a' && name[0] <= 'z' && !strings.HasSuffix(name, "error") && name != "timeout"
}

// isLabel tells whether a word that is not like the name of an exception belongs to the message: one in capitals, as RESOURCE_DOES_NOT_EXIST,
// and any other where the deepest frame shows that something else was raised.
func (r *record) isLabel(typ string) bool {
	if strings.Contains(typ, ".") {
		return false
	}
	if strings.ToUpper(typ) == typ {
		return true
	}
	if len(r.frames) == 0 {
		return false
	}
	raised := raisedIn(r.frames[len(r.frames)-1].Code)
	return raised != "" && raised[strings.LastIndexByte(raised, '.')+1:] != typ
}

// isFlatCode tells whether a line is the source line of the frame above it, in a traceback that lost its leading blanks with copying.
func (r *record) isFlatCode(text string) bool {
	if !r.flat || len(r.frames) == 0 || isSpace(text[0]) {
		return false
	}
	last := r.frames[len(r.frames)-1]
	if last.Code != "" || last.At != r.at-1-r.blanks || isOther(text) {
		return false
	}
	if _, header := findHeader(text); header {
		return false
	}
	typ, _, named := parseType(text)
	return !named || !looksRaised(typ)
}

// maxBare bounds the lines that may be a message without its type.
const maxBare = 40

// mayBeMessage keeps a line in the place of the one that names the exception, and those after it: if none comes that does, it was the message.
func (r *record) mayBeMessage(next nextLine) {
	if r.layout == python && r.foreign == 0 && len(r.frames) > 0 && !isOther(next.text) {
		r.bare = append(r.bare, messageLine{next.line, next.text})
		return
	}
	r.bareGoesOn(next)
}

// bareGoesOn keeps a line after one that may be a message.
func (r *record) bareGoesOn(next nextLine) {
	blank := r.blanks > 0 && !strings.HasSuffix(next.text, ":")
	if n := len(r.bare); n > 0 && n < maxBare && !blank && !isOther(next.text) {
		r.bare = append(r.bare, messageLine{next.line, next.text})
	}
}

// bareAnnounces tells whether a line that may be a message says that something follows, such as frames of other code.
func (r *record) bareAnnounces() bool {
	n := len(r.bare)
	return n > 0 && strings.HasSuffix(r.bare[n-1].text, ":")
}

// raiseBare takes the lines below the frames for an exception of that type, "" when it was not printed, whose message begins with msg on
// the first of them.
func (r *record) raiseBare(typ, msg string) {
	r.raise(r.bare[0].line, typ, msg)
	for _, l := range r.bare[1:] {
		r.message.add(l.line, l.text)
	}
}

// foreignLine counts a line of somebody else.
func (r *record) foreignLine() lineAction {
	r.foreign++
	if r.headless || r.foreign > maxForeign {
		return ended
	}
	return foreign
}

// code takes an indented line below a frame.
func (r *record) code(text string) lineAction {
	if len(r.frames) == 0 {
		return r.foreignLine()
	}
	last := &r.frames[len(r.frames)-1]
	trimmed := strings.TrimSpace(text)
	if n, ok := repeated(trimmed); ok {
		last.Repeated = n
	} else if last.Code == "" && !isMarker(trimmed) {
		last.Code = sourceLine(trimmed)
		r.codeAt = len(text) - len(strings.TrimLeft(text, " \t"))
	} else if last.Marked == "" && isMarker(trimmed) {
		last.Marked = marked(last.Code, text, r.codeAt)
	}
	return taken
}

// marked is the part of a source line that the line of ~ and ^ below it marks: what Python was evaluating. Codeat is how many blanks stood
// before the source line. It is "" where all of the line is marked, or what is marked goes on in the next one.
func marked(code, marks string, codeAt int) string {
	characters := []rune(code)
	trimmed := strings.TrimLeft(marks, " ")
	begin := len(marks) - len(trimmed) - codeAt
	end := begin + len(strings.TrimRight(trimmed, " "))
	if begin < 0 || end > len(characters) || begin >= end {
		return ""
	}
	return string(characters[begin:end])
}

// sourceLine shortens a line of code, so that a generated one does not stay in memory as a whole.
func sourceLine(code string) string {
	if len(code) <= maxCode {
		return code
	}
	return strings.Clone(logline.ClipWord(code, maxCode))
}

// addFrame keeps the outermost and the deepest frames.
func (r *record) addFrame(f Frame) {
	f.At = r.at
	r.bare = nil
	if len(r.frames) >= maxFrames {
		copy(r.frames[maxFrames/4:], r.frames[maxFrames/4+1:])
		r.frames[len(r.frames)-1] = f
		return
	}
	r.frames = append(r.frames, f)
}

// maxFrameLine is longer than any line that names a file.
const maxFrameLine = 8 << 10

// parseFrame reads `  File "x.py", line 3, in f`; the function is missing in a SyntaxError, and without comma in a fault handler's.
func parseFrame(text string) (Frame, bool) {
	s := strings.TrimLeft(text, " \t")
	s = strings.TrimPrefix(s, "> ") // loguru marks the frame that caught it
	s, ok := strings.CutPrefix(s, `File "`)
	if !ok {
		return Frame{}, false
	}
	file, rest, ok := strings.Cut(s, `", line `)
	if !ok || file == "" || len(text) > maxFrameLine {
		return Frame{}, false
	}
	n := 0
	for n < len(rest) && n < 9 && isDigit(rest[n]) {
		n++
	}
	if n == 0 {
		return Frame{}, false
	}
	number, _ := strconv.Atoi(rest[:n])
	rest = strings.TrimPrefix(rest[n:], ",")
	function, _ := strings.CutPrefix(rest, " in ")
	return Frame{File: file, Line: number, Function: strings.TrimRight(strings.TrimSpace(function), " *")}, true // AutoGraph marks what it made
}

var repeatedLine = pattern.Lazy(`^\[Previous line repeated (\d{1,9}) more times?\]$`)

// repeated reads how many times a recursion went through the frames above.
func repeated(text string) (int, bool) {
	if !strings.HasPrefix(text, "[Previous") {
		return 0, false
	}
	m := repeatedLine().FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	n, _ := strconv.Atoi(m[1])
	return n, true
}

// isMarker tells whether a line only points at the code above it.
func isMarker(trimmed string) bool {
	return strings.Trim(trimmed, "^~ ") == "" || strings.HasSuffix(trimmed, "<--- HERE")
}
