package traceback

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/rules/pattern"
)

// unfinished is a traceback whose last line never came. What was printed in its place is its message; else the statement that raised it may
// tell what that line would have said.
func (r *record) unfinished() *Exception {
	if len(r.bare) > 0 {
		r.raiseBare("", r.bare[0].text)
		return r.finish()
	}
	e := &Exception{Frames: r.frames, Header: r.header, Line: r.header, Earlier: r.earlier, Link: r.link}
	if r.headless { // there is no line that begins it
		e.Line = lastSaid(r.kept)
	} else {
		e.Level = r.level()
	}
	e.Type, e.Message = raisedBy(e.Code())
	if e.Type == "" && len(r.frames) > 0 {
		e.Type, e.Message = behind(&r.frames[len(r.frames)-1])
	}
	if e.Type == "" && r.before != nil {
		e.Type, e.Message = announced(r.before())
	}
	if e.Type == "" && namesNoFunction(r.frames) {
		e.Type = "SyntaxError"
	}
	return e
}

// namesNoFunction tells whether the deepest frame alone names no function: it is the place that a SyntaxError names.
func namesNoFunction(frames []Frame) bool {
	n := len(frames)
	return n > 1 && frames[n-1].Function == "" && frames[n-1].File != "" && frames[n-1].Code != "" && frames[n-2].Function != ""
}

// raisedBehind is the last line of a traceback behind a frame or a source line, where the line breaks were lost.
var raisedBehind = pattern.Lazy(`^(.*[^\s:]) ((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)): (\S.*)$`)

// behind is the exception that stands behind a frame, or behind its source line; "" where none does. The frame is left without it.
func behind(last *Frame) (typ, message string) {
	line := strings.TrimSpace(last.Function + " " + last.Code)
	m := raisedBehind().FindStringSubmatch(line)
	if m == nil || !looksRaised(m[2]) || strings.HasSuffix(m[1], " except") || inText(m[1]) {
		return "", ""
	}
	last.Function, last.Code, _ = strings.Cut(m[1], " ")
	return m[2], m[3]
}

// inText tells whether what follows some source code is a text or a comment in it.
func inText(code string) bool {
	return strings.Count(code, `"`)%2 == 1 || strings.Count(code, "'")%2 == 1 || strings.Contains(code, "#")
}

// messageForm is the message of an exception as notebooks keep it, before the traceback: "message": "...",
var messageForm = pattern.Lazy(`(?m)^\s*"message": ("(?:[^"\\\n]|\\.)*"),\s*$`)

// messageBefore is the message of a notebook's exception whose last line is not shown, "" where nothing tells it.
func (r *record) messageBefore() string {
	if r.layout != notebook || r.before == nil {
		return ""
	}
	m := messageForm().FindStringSubmatch(r.before())
	if m == nil {
		return ""
	}
	var text string
	err := json.Unmarshal([]byte(m[1]), &text)
	if err != nil {
		return ""
	}
	return text
}

// announced is the exception whose repr ends the last line of what was printed before its traceback; "" where none does.
func announced(before string) (typ, message string) {
	last := strings.TrimRight(before, " \n")
	typ, message, ok := reprOf(last[strings.LastIndexByte(last, '\n')+1:])
	if !ok || !strings.HasSuffix(strings.TrimRight(last, "."), ")") {
		return "", ""
	}
	return typ, message
}

// lastSaid is the last of the lines that is not empty.
func lastSaid(lines []logline.Line) logline.Line {
	last := len(lines) - 1
	for last > 0 && strings.TrimSpace(lines[last].Text) == "" {
		last--
	}
	return lines[last]
}

// level is the severity of the record that the traceback was written into. A launcher or a collector that makes a record of each line of
// its child says nothing of the child: then it is "". Some loggers put their header before each line of a warning.
func (r *record) level() logline.Level {
	if r.header.Number == 0 {
		return r.exc.Line.Level
	}
	level := r.header.Level
	eachLine := r.header.Head > 0 && r.prefixed != nil && *r.prefixed
	collected := r.header.Head == 0 && r.exc != nil && r.exc.Line.Number != r.header.Number
	if eachLine && level == logline.Info || collected {
		return ""
	}
	return level
}

// finish gives the exception, or nil when it turned out to be none.
func (r *record) finish() *Exception {
	switch {
	case r.layout == grouped:
		return r.finishGroup()
	case r.exc == nil && len(r.frames) == 0:
		return cmp.Or(r.earlier, r.withoutFrames())
	case r.exc == nil:
		return nil
	}
	if r.layout == notebook && r.state == inFrames && len(r.bare) > 0 {
		r.raiseBareCell()
	}
	r.shortenChain()
	r.turn()
	e := r.exc
	e.Frames, e.Earlier, e.Link, e.Swallowed = r.frames, r.earlier, r.link, r.swallowed
	e.Lines, e.Message = r.message.kept(), plain(r.message.text(r.width, len(e.Type)+len(": ")))
	if e.Message == "" {
		e.Message = r.messageBefore()
	}
	if key := keyOf(e.Message); e.Type == keyError && key != "" {
		e.Message = key
	}
	e.Level = r.level()
	e.Failures = parseFailures(e.Lines)
	for _, f := range e.Failures {
		if f.First && f.Raised != nil {
			r.relayed = append(r.relayed, f.Raised)
		}
	}
	if len(r.relayed) == 0 {
		r.relayed = r.wrapped()
	}
	e.follow(r.relayed)
	return e
}

// nodeOfGraph is what TensorFlow puts before a message: where in its graph it was raised.
var nodeOfGraph = pattern.Lazy(`^\{\{(?:function_node|node) [^{}]{1,300}\}\} ?`)

// keyError is the class whose message is nothing but the key, as Python writes it.
const keyError = "KeyError"

// quotedKey is a text as Python writes it, and what somebody wrote behind it.
var quotedKey = pattern.Lazy(`^('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")(?:[\s.,;)].*)?$`)

// keyOf is the key that a KeyError has as its message, "" where it is no text. A person's sentence may go on behind it.
func keyOf(message string) string {
	first, _, _ := strings.Cut(message, "\n")
	m := quotedKey().FindStringSubmatch(first)
	if m == nil {
		return ""
	}
	return m[1]
}

// plain is a message without where TensorFlow raised it, and without the mark that ends Markdown's code, and what follows that, when the code
// began before the message.
func plain(message string) string {
	if strings.HasPrefix(message, "{{") {
		message = message[len(nodeOfGraph().FindString(message)):]
	}
	if strings.Count(message, "`")%2 == 0 {
		return message
	}
	if end := codeEnd().FindStringSubmatchIndex(message); end != nil {
		return message[:end[2]]
	}
	return strings.TrimRight(message, "`")
}

// codeEnd is a mark of Markdown that ends code: one that stands behind a word and before none. GNU's programs quote with the same sign.
var codeEnd = pattern.Lazy("[^`\\s](`+)(?:[.,;:)]?\\s|[.,;:)]?$)[^`]*$")

// finishGroup gives the exception group, and puts what came before it in front of its first member's chain.
func (r *record) finishGroup() *Exception {
	e := r.group.finish()
	if e != nil && r.earlier != nil {
		origin := e.Origin()
		origin.Earlier, origin.Link = r.earlier, r.link
	}
	return e
}

// shortenChain drops an exception from the middle of a chain that is too long.
func (r *record) shortenChain() {
	if r.links > maxChain && r.earlier.Earlier != nil {
		r.earlier = r.earlier.Earlier
	}
}

// follow puts relayed exceptions before this one: the first of them follows what came before it, and leads to it.
func (e *Exception) follow(relayed []*Exception) {
	if len(relayed) == 0 {
		return
	}
	first := relayed[0]
	origin := first.Origin()
	origin.Earlier, origin.Link = e.Earlier, e.Link
	e.Earlier, e.Link, e.Within = first, Relayed, relayed[1:]
}
