package traceback

import (
	"strconv"
	"strings"

	"github.com/gpu-triage/triage/rules/pattern"
)

var (
	raiseStatement = pattern.Lazy(`^raise ((?:\w+\.)*[A-Z]\w*)(?:\(| from |$)`)
	raisedText     = pattern.Lazy(`^raise ((?:\w+\.)*[A-Z]\w*)\(` + textWithHoles + `\)$`)
	raisedStart    = pattern.Lazy(`^raise ((?:\w+\.)*[A-Z]\w*)\(f?(?:"([^"\\]{12,400})"?|'([^'\\]{12,400})'?)$`) // it goes on in the next lines
	raisedEmpty    = pattern.Lazy(`^raise ((?:\w+\.)*[A-Z]\w*)(?:\(\))?$`)
	assertText     = pattern.Lazy(`^assert .+, \(?` + textWithHoles + `\)?$`)
	holeInText     = pattern.Lazy(`\{[^{}]{0,80}\}|%[-+ #0]?[\d.]*[sdrifgx]`)
	bareAssert     = pattern.Lazy(`^assert [^"'\\]+$`)
	systemError    = pattern.Lazy(`^\[(Errno|WinError) (\d{1,5})\] `)
)

// textWithHoles is the text of a message in a source line, which Python may fill with values: f"no {name}", "no %s" % name, "no {}".format(name).
const textWithHoles = `f?(?:"([^"\\]{1,400})"|'([^'\\]{1,400})')(?: % .+|\.format\(.*\))?`

// The classes that Python raises for errors of the system, by the numbers of Linux (PEP 3151) and of Windows (PC/errmap.h of CPython).
var (
	classOfErrno = map[int]string{
		1: "PermissionError", 2: "FileNotFoundError", 3: "ProcessLookupError", 4: "InterruptedError", 10: "ChildProcessError",
		11: "BlockingIOError", 13: "PermissionError", 17: "FileExistsError", 20: "NotADirectoryError", 21: "IsADirectoryError",
		32: "BrokenPipeError", 103: "ConnectionAbortedError", 104: "ConnectionResetError", 110: "TimeoutError",
		111: "ConnectionRefusedError",
	}
	classOfWinError = map[int]string{
		2: "FileNotFoundError", 3: "FileNotFoundError", 5: "PermissionError", 32: "PermissionError", 33: "PermissionError",
		80: "FileExistsError", 183: "FileExistsError", 10053: "ConnectionAbortedError", 10054: "ConnectionResetError",
		10060: "TimeoutError", 10061: "ConnectionRefusedError",
	}
)

// StatedType is the type of an exception that was printed without it, where the rest of the print states it: the statement that raised it,
// the key that it looked up, the number of the system's error, or a message of Python's own. It is "" where nothing does.
func (e *Exception) StatedType() string {
	if raised := raisedIn(e.Code()); raised != "" {
		return raised
	}
	if looksUp(e.Code(), e.Message) {
		return "KeyError"
	}
	m := systemError().FindStringSubmatch(e.Message)
	if m == nil {
		return classOfMessage(e.Message)
	}
	number, err := strconv.Atoi(m[2])
	if err != nil {
		return ""
	}
	classes := classOfErrno
	if m[1] == "WinError" {
		classes = classOfWinError
	}
	if class := classes[number]; class != "" {
		return class
	}
	return "OSError"
}

// looksUp tells whether a source line looks up the key that is all of the message: `c['cond'].shape` with 'cond'.
func looksUp(code, message string) bool {
	return len(message) > 2 && (message[0] == '\'' || message[0] == '"') &&
		(strings.Contains(code, "["+message+"]") || strings.Contains(code, `["`+message[1:len(message)-1]+`"]`))
}

// raisedIn is the class that a source line raises, as it is written there; "" where it raises none by name.
func raisedIn(code string) string {
	m := raiseStatement().FindStringSubmatch(code)
	if m == nil {
		return ""
	}
	return m[1]
}

// raisedBy is the type and the message that a source line raises an exception with, where it shows the type, and of the message at least how it
// begins. Values that the message is filled with stand in it as "…".
func raisedBy(code string) (typ, message string) {
	if m := raisedText().FindStringSubmatch(code); m != nil {
		return m[1], withHoles(m[2] + m[3])
	}
	if m := raisedStart().FindStringSubmatch(code); m != nil {
		return m[1], strings.TrimRight(withHoles(m[2]+m[3]), " ")
	}
	if m := raisedEmpty().FindStringSubmatch(code); m != nil && looksRaised(m[1]) {
		return m[1], ""
	}
	if m := assertText().FindStringSubmatch(code); m != nil {
		return "AssertionError", withHoles(m[1] + m[2])
	}
	if bareAssert().MatchString(code) {
		return "AssertionError", ""
	}
	return "", ""
}

func withHoles(text string) string { return holeInText().ReplaceAllString(text, "…") }
