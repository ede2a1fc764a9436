package traceback

import (
	"regexp"
	"slices"

	"github.com/gpu-triage/triage/rules/pattern"
)

// wrapping is how a library repeats the message of what it caught between words of its own; the type stays.
type wrapping struct {
	first  func() *regexp.Regexp // the first line of its message
	before func() *regexp.Regexp // the line before the message that it repeats; nil: the first line
	behind func() *regexp.Regexp // the line behind it; nil: all is of it
}

var wrappings = []wrapping{
	{ // Keras, of what a layer raised
		first:  beforeWrapped,
		behind: pattern.Lazy(`^(?:Call a|A)rguments received by .{1,200}:$`),
	},
	{ // TensorFlow, of an operation of a graph
		first:  pattern.Lazy(`^Graph execution error:$`),
		before: pattern.Lazy(`^Node: '[^']{1,300}'$`),
	},
}

var beforeWrapped = pattern.Lazy(`^Exception encountered when calling .{1,200}[.:]$`)

// wrapped is the exception whose message this one's repeats between words of a library; nil when there is none.
func (r *record) wrapped() *Exception {
	for _, w := range wrappings {
		inner := message{head: w.within(r.message.head)}
		if len(inner.head) == 0 {
			continue
		}
		return &Exception{
			Type: r.exc.Type, Message: bare(inner.text(0, 0)), Frames: r.frames, Line: inner.head[0].line, Lines: inner.kept(),
			Header: r.header, Level: r.level(),
		}
	}
	return nil
}

// within are the lines that are repeated, none when a message has not that form.
func (w wrapping) within(lines []messageLine) []messageLine {
	if len(lines) < 2 || !w.first().MatchString(lines[0].text) {
		return nil
	}
	lines = lines[1:]
	if w.before != nil {
		lines = lines[slices.IndexFunc(lines, matches(w.before))+1:]
	}
	from := slices.IndexFunc(lines, func(l messageLine) bool { return l.text != "" })
	if from < 0 {
		return nil
	}
	lines = lines[from:]
	if w.behind == nil {
		return lines
	}
	if end := slices.IndexFunc(lines, matches(w.behind)); end >= 0 {
		lines = lines[:end]
	}
	return lines
}

func matches(expression func() *regexp.Regexp) func(messageLine) bool {
	return func(l messageLine) bool { return expression().MatchString(l.text) }
}
