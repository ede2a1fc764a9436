package traceback

import (
	"regexp"
	"slices"

	"github.com/gpu-triage/triage/rules/pattern"
)

// wrapping is how a library repeats the message of what it caught between words of its own; the type stays.
type wrapping struct {
	first  lineForm // the first line of its message
	before lineForm // the line before the message that it repeats; nil: the first line
	behind lineForm // the line behind it; nil: all is of it
}

var wrappings = []wrapping{
	{ // Keras, of what a layer raised
		first:  layerFailed,
		behind: pattern.Lazy(`^(?:Call a|A)rguments received by .{1,200}:$`),
	},
	{ // TensorFlow, of an operation of a graph, below the stack at which that was made
		first:  graphFailed,
		before: pattern.Lazy(`^Node: '[^']{1,300}'$`),
	},
	{ // and of one that nobody's code made, such as that of an iterator
		first:  graphFailed,
		behind: pattern.Lazy(`^Detected at node `),
	},
}

var graphFailed = pattern.Lazy(`^Graph execution error:$`)

// layerFailed is the first line of a message of Keras. What it repeats stands behind an empty line.
var layerFailed = pattern.Lazy(`^Exception encountered when calling .{1,200}[.:]$`)

// wrapped is the exception whose message this one's repeats between words of a library, as what it relays; nothing when there is none.
func (r *record) wrapped() []*Exception {
	for _, w := range wrappings {
		inner := message{head: w.within(r.message)}
		if len(inner.head) == 0 {
			continue
		}
		return []*Exception{{
			Type: r.exc.Type, Message: plain(inner.text(0, 0)), Frames: r.frames, Line: inner.head[0].line, Lines: inner.kept(),
			Header: r.header, Level: r.level(),
		}}
	}
	return nil
}

// within are the lines that are repeated, none when a message has not that form.
func (w wrapping) within(m message) []messageLine {
	if len(m.head) == 0 || !w.first.fits(m.head[0]) {
		return nil
	}
	lines := slices.Concat(m.head[1:], m.tail)
	if w.before != nil {
		at := slices.IndexFunc(lines, w.before.fits)
		if at < 0 {
			return nil
		}
		lines = lines[at+1:]
	}
	from := slices.IndexFunc(lines, func(l messageLine) bool { return l.text != "" })
	if from < 0 {
		return nil
	}
	lines = lines[from:]
	if w.behind == nil {
		return lines
	}
	if end := slices.IndexFunc(lines, w.behind.fits); end >= 0 {
		lines = lines[:end]
	}
	return lines
}

// lineForm is an expression of a line, compiled when it is needed.
type lineForm func() *regexp.Regexp

func (f lineForm) fits(l messageLine) bool { return f().MatchString(l.text) }
