package traceback

import (
	_ "embed" // for Python's own messages
	"strings"

	"github.com/gpu-triage/triage/rules/pattern"
)

//go:embed builtin.txt
var builtinText string

// ownClasses are the classes of Python's own messages, each of them the class of one group of ownMessage.
var (
	ownClasses, ownPattern = builtin(builtinText)
	ownMessage             = pattern.Lazy(ownPattern)
)

// builtin reads rows of a class and the pattern of its message: the classes, and one pattern with a group for each of the messages.
func builtin(text string) (classes []string, whole string) {
	var groups []string
	for row := range strings.Lines(text) {
		class, message, ok := strings.Cut(strings.TrimSpace(row), " ")
		if !ok || class == "#" {
			continue
		}
		classes, groups = append(classes, class), append(groups, "("+message+")")
	}
	return classes, "^(?:" + strings.Join(groups, "|") + ")$"
}

// OwnMessage tells whether a message is, as a whole, one that Python itself raises an exception with.
func OwnMessage(message string) bool { return classOfMessage(message) != "" }

// classOfMessage is the class that Python itself raises with a message, "" for one that is not its own.
func classOfMessage(message string) string {
	m := ownMessage().FindStringSubmatchIndex(message)
	for i, class := range ownClasses {
		if m != nil && m[2*i+2] >= 0 {
			return class
		}
	}
	return ""
}
