package traceback

import (
	"slices"

	"github.com/gpu-triage/triage/rules/pattern"
)

// The words that Keras puts before and behind the message of what its layers raised; the type stays.
var (
	beforeWrapped = pattern.Lazy(`^Exception encountered when calling .{1,200}[.:]$`)
	behindWrapped = pattern.Lazy(`^(?:Call a|A)rguments received by .{1,200}:$`)
)

// wrapped is the exception whose message this one's repeats between words of a library; nil when there is none.
func (r *record) wrapped() *Exception {
	lines := r.message.head
	if len(lines) < 2 || !beforeWrapped().MatchString(lines[0].text) {
		return nil
	}
	first := slices.IndexFunc(lines[1:], func(l messageLine) bool { return l.text != "" }) + 1
	end := slices.IndexFunc(lines, func(l messageLine) bool { return behindWrapped().MatchString(l.text) })
	if end < 0 {
		end = len(lines)
	}
	if first == 0 || first >= end {
		return nil
	}
	inner := message{head: lines[first:end]}
	return &Exception{
		Type: r.exc.Type, Message: bare(inner.text(0, 0)), Frames: r.frames, Line: lines[first].line, Lines: inner.kept(), Header: r.header, Level: r.level(),
	}
}
