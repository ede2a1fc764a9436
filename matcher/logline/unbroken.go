package logline

import (
	"strings"

	"github.com/gpu-triage/triage/rules/pattern"
)

// A traceback may come on one line, since a form, a table or a chat took its line breaks for spaces. Where they are written as \n, in quotes
// mostly, matcher/traceback reads it.
//
//	Traceback (most recent call last):   File "train.py", line 7, in <module>     main() ValueError: x

// withBreaks puts the line breaks back into the traceback that a text has on one line. Other texts are left as they are.
func withBreaks(text string) string {
	at := strings.Index(text, TracebackHeader)
	if at < 0 {
		return text
	}
	if !spacedFrame().MatchString(strings.TrimPrefix(text[at+len(TracebackHeader):], ":")) {
		return text
	}
	return text[:at] + spacedBreaks(text[at:])
}

// spacedBreaks puts line breaks before the frames of a traceback, their code, its exception, and the next traceback of a chain.
func spacedBreaks(text string) string {
	text = inFrame().ReplaceAllString(text, "\n  ${1}\n    ")
	text = betweenTracebacks().ReplaceAllString(text, "\n\n${1}\n\n")
	parts := strings.SplitAfter(text, TracebackHeader+":")
	for i := range parts[1:] {
		parts[i+1] = beforeException(parts[i+1])
	}
	return strings.Join(parts, "")
}

// beforeException breaks the line of the last frame of a traceback, before its exception.
func beforeException(traceback string) string {
	last := max(0, strings.LastIndex(traceback, "\n  File "))
	m := spacedException().FindStringSubmatchIndex(traceback[last:])
	if m == nil {
		return traceback
	}
	at := last + m[2]
	return strings.TrimRight(traceback[:at], " ") + "\n" + traceback[at:]
}

var (
	spacedFrame       = pattern.Lazy(`^ +File "[^"]{1,300}", line \d`)
	inFrame           = pattern.Lazy(` +(File "[^"]{1,300}", line \d{1,7}(?:, in \S{1,200})?) *`)
	betweenTracebacks = pattern.Lazy(` *(During handling of the above exception, another exception occurred:|The above exception was the direct cause of the following exception:) *`)
	spacedException   = pattern.Lazy(`(?: |^)((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Iteration|NotImplemented|Unsupported)(?:: | *$))`)
)
