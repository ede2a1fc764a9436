package traceback

import (
	"slices"
	"strings"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/rules/pattern"
)

// The words of a report that states an exception above its frames: ComfyUI's window and its file of a report, what has fields like it, and
// the window of VS Code's debugger.
const (
	whileExecuting = " occurred when executing "
	typeField      = "Exception Type:"
	inDebugger     = "Exception has occurred: "
)

var (
	executing    = pattern.Lazy(`^(?:Error|Exception) occurred when executing .{1,200}:$`)
	reportedType = pattern.Lazy(`^[-*# ]*Exception Type:[* ]*((?:\w+\.)*[A-Z]\w*)$`)
	debuggerType = pattern.Lazy(`^Exception has occurred: ((?:\w+\.)*[A-Za-z_]\w*)(?:\s+\(note: .{1,200}\))?$`)
	noMessage    = pattern.Lazy(`^exception: no description$`)
	reportedText = pattern.Lazy(`^[-*# ]*Exception (?:Message|Value):[* ]*(.*)$`)
	stackTitle   = pattern.Lazy("^(?:[-*# ]*Stack ?[Tt]race:?[* ]*|```\\w*)$")
)

// mayReport tells cheaply whether a line can begin a report.
func mayReport(text string) bool {
	return strings.Contains(text, whileExecuting) || strings.Contains(text, typeField) || strings.Contains(text, inDebugger)
}

// openedByReport begins with the line above the message of a report. It is no more than a guess until a frame follows.
func openedByReport(l logline.Line, text string) *record {
	if !mayReport(text) {
		return nil
	}
	r := &record{layout: reported, state: inReport, headless: true}
	if m := reportedType().FindStringSubmatch(text); m != nil {
		r.typ = m[1]
	} else if m := debuggerType().FindStringSubmatch(text); m != nil {
		r.typ, r.deepestFirst = m[1], true
	} else if !executing().MatchString(text) {
		return nil
	}
	r.kept = append(r.kept, l)
	return r
}

// report takes a line between the first one of a report and its frames.
func (r *record) report(next nextLine) lineAction {
	if f, ok := parseFrame(next.text); ok && f.Function != "" {
		return r.reportEnds(next, f)
	}
	if _, header := findHeader(next.text); header || r.message.lines() > maxBare {
		return ended
	}
	if r.deepestFirst && r.message.lines() > 0 && strings.HasPrefix(next.text, logline.Fence) { // a debugger prints no marks: they end what was copied
		return ended
	}
	if stackTitle().MatchString(next.text) || noMessage().MatchString(next.text) {
		return taken
	}
	text := next.text
	if m := reportedText().FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	r.message.add(next.line, text)
	return taken
}

// withoutFrames is what a report tells whose frames were left away, nil where it is not sure that it tells of an exception.
func (r *record) withoutFrames() *Exception {
	lines := r.message.kept()
	if r.layout != reported || !looksRaised(r.typ) || len(lines) == 0 {
		return nil
	}
	return &Exception{Type: r.typ, Message: lines[0].Text, Line: lines[0], Level: lines[0].Level, Lines: lines[:1]}
}

// reportEnds takes the first frame: only now the lines above it are known to be an exception.
func (r *record) reportEnds(next nextLine, f Frame) lineAction {
	at := r.kept[0]
	if lines := r.message.kept(); len(lines) > 0 {
		at = lines[0]
	}
	r.exc = &Exception{Type: r.typ, Line: at}
	r.state = inFrames
	r.flat = !isSpace(next.text[0])
	r.addFrame(f)
	return taken
}

// reportedFrame takes a line of the frames below a report.
func (r *record) reportedFrame(next nextLine) lineAction {
	if f, ok := parseFrame(next.text); ok {
		r.addFrame(f)
		return taken
	}
	if r.isFlatCode(next.text) || isSpace(next.text[0]) {
		return r.code(next.text)
	}
	if r.flat && strings.Trim(next.text, "^~ ") == "" { // marks below the code, which have lost their place
		return taken
	}
	// The last line again: the frames are in Python's order then, unless they end where a program begins.
	if typ, msg, ok := r.lastLine(next.text); ok && typ == r.typ {
		r.message = message{}
		r.deepestFirst = r.deepestFirst && len(r.frames) > 0 && r.frames[len(r.frames)-1].Function == "<module>"
		r.raise(next.line, typ, msg)
		return taken
	}
	return ended
}

// turn puts frames whose deepest one came first into Python's order.
func (r *record) turn() {
	if r.deepestFirst && len(r.frames) > 0 && r.frames[0].Function != "<module>" {
		slices.Reverse(r.frames)
	}
}
