package traceback

import (
	"strings"

	"github.com/gpu-triage/triage/rules/pattern"
)

// ownMessages are messages of Python's own, with the class that CPython 3.8 to 3.13 raises them with. Each is a whole line: what a batch
// system or a shell prints below is no part of it.
var ownMessages = []struct{ class, message string }{
	{"ModuleNotFoundError", `No module named '[^']+'(?:; '[^']+' is not a package)?`},
	{"ImportError", `cannot import name '\w+' from '[^']+' \([^()]+\)`},
	{"NameError", `name '\w+' is not defined`},
	{"AttributeError", `(?:type object|(?:partially initialized )?module) '[^']+' has no attribute '\w+'|'\w+' object has no attribute '\w+'`},
	{"IndexError", `(?:list|tuple|string|list assignment) index out of range|pop from empty list`},
	{"ZeroDivisionError", `division by zero`},
	{"TypeError", `'\w+' object (?:is not (?:callable|iterable|subscriptable)|does not support item assignment)` +
		`|\w+\(\) (?:got an unexpected keyword argument '\w+'|missing \d+ required positional arguments?: .*'\w+'|takes \d+ positional arguments? but \d+ (?:was|were) given)`},
	{"ValueError", `invalid literal for int\(\) with base 10: '[^']*'|could not convert string to float: '[^']*'` +
		`|not enough values to unpack \(expected \d+, got \d+\)|too many values to unpack \(expected \d+\)`},
	{"OSError", `\[Errno \d+\] [^:]+: '[^']+'`},
}

var ownMessage = pattern.Lazy(ownPattern())

// ownPattern has a group for each of them.
func ownPattern() string {
	var groups []string
	for _, m := range ownMessages {
		groups = append(groups, "("+m.message+")")
	}
	return "^(?:" + strings.Join(groups, "|") + ")$"
}

// OwnMessage tells whether a message is, as a whole, one that Python itself raises an exception with.
func OwnMessage(message string) bool { return classOfMessage(message) != "" }

// classOfMessage is the class that Python itself raises with a message, "" for one that is not its own.
func classOfMessage(message string) string {
	m := ownMessage().FindStringSubmatchIndex(message)
	for i := range ownMessages {
		if m != nil && m[2*i+2] >= 0 {
			return ownMessages[i].class
		}
	}
	return ""
}
