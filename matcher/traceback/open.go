package traceback

import (
	"strings"
	"sync"

	"github.com/gpu-triage/triage/matcher/scan"
)

// openers are literals of which every line has one that begins a traceback: a pass over the bytes of a log that looks for them misses
// none. All are long enough for the fastest pass, which is why an exception without traceback and without message is believed only
// when its name is one of Python's own.
var Openers = sync.OnceValue(func() []scan.Literal {
	texts := []string{lastCalls, fatalPython, terminateCalled, ignoredIn, `", line `, "Exception", "Interrupt", "RemoteTraceback", "Error): "}
	const before = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_."
	for _, c := range before {
		for _, after := range " \t\r\n" {
			texts = append(texts, string(c)+"Error:"+string(after))
		}
	}
	for _, names := range []map[string]bool{builtinNames, otherNames} {
		for name := range names {
			if len(name) >= scan.WideLiteral {
				texts = append(texts, name)
			}
		}
	}
	literals := make([]scan.Literal, len(texts))
	for i, text := range texts {
		literals[i] = scan.Literal{Text: text}
	}
	return literals
})

// hasOpener tells whether the text of a line has one of the openers.
func hasOpener(text string) bool {
	text += "\n"
	for _, l := range Openers() {
		if strings.Contains(text, l.Text) {
			return true
		}
	}
	return false
}
