package traceback

import (
	"strings"
	"unicode"

	"github.com/gpu-triage/triage/matcher/logline"
)

const (
	escapedHeader   = logline.TracebackHeader + `:\n`
	fatalPython     = "Fatal Python error: "
	terminateCalled = "terminate called after throwing an instance of '"
	tracebackOf     = "Traceback of " // a compiled program's, inside the message of the interpreter's
	lastCalls       = "(most recent call last)"
	ignoredIn       = "Exception ignored " // in a destructor or a callback: Python says so and goes on
)

// mayOpen tells cheaply whether a line can begin a traceback.
func MayOpen(text string) bool {
	if text == "" {
		return false
	}
	switch c := text[0]; {
	case c == ' ' || c == '\t':
		if strings.HasPrefix(strings.TrimLeft(text, " \t"), `File "`) {
			return true
		}
	case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c == '_':
		if typ, _, ok := parseType(text); ok && looksRaised(typ) {
			return true
		}
		for _, start := range []string{fatalPython, terminateCalled, ignoredIn, "E  "} {
			if strings.HasPrefix(text, start) {
				return true
			}
		}
	}
	return strings.Contains(text, lastCalls)
}

// findHeader finds the first line of a traceback, and what stands before it.
func findHeader(text string) (before string, ok bool) {
	j := strings.Index(text, lastCalls)
	if j < 0 {
		return "", false
	}
	i := strings.LastIndex(text[:j], "Traceback ")
	if i < 0 || j-i > 80 || !endsHeader(text[j+len(lastCalls):]) {
		return "", false
	}
	return text[:i], true
}

// endsHeader tells whether a header can end like this: with a colon, with the frame of a box, or with what another process wrote
// at the same time.
func endsHeader(rest string) bool {
	rest = strings.TrimLeft(strings.TrimPrefix(rest, ":"), " ")
	for _, start := range []string{"Traceback ", `File "`, "─", "╮", `\n`} {
		if strings.HasPrefix(rest, start) {
			return true
		}
	}
	return rest == ""
}

// opened begins a record with this line, or gives nil.
func opened(l logline.Line, text string) *record {
	if before, ok := findHeader(text); ok {
		return withHeader(l, text, before)
	}
	if _, ok := parseFrame(strings.TrimLeft(text, " \t")); ok && (text[0] == ' ' || text[0] == '\t') {
		indent := text[:len(text)-len(strings.TrimLeft(text, " \t"))]
		r := &record{form: python, headless: true, base: strings.TrimSuffix(indent, "  ")}
		r.take(l)
		if len(r.frames) == 0 {
			return nil
		}
		return r
	}
	if typ, msg, ok := parseType(text); ok && looksRaised(typ) {
		r := &record{form: lone}
		r.raise(l, typ, msg)
		return r
	}
	if rest := strings.TrimLeft(strings.TrimPrefix(text, "E  "), " "); strings.HasPrefix(text, "E  ") {
		if typ, msg, ok := parseType(rest); ok && looksRaised(typ) { // pytest's
			prefixed := true
			r := &record{form: lone, prefix: text[:len(text)-len(rest)], prefixed: &prefixed}
			r.raise(l, typ, msg)
			return r
		}
	}
	if msg, ok := strings.CutPrefix(text, fatalPython); ok {
		r := &record{form: fault}
		r.raise(l, strings.TrimSuffix(fatalPython, ": "), msg)
		r.state = inFrames
		return r
	}
	if strings.HasPrefix(text, ignoredIn) {
		return &record{form: python, state: inChain, swallowed: true, kept: []logline.Line{l}}
	}
	if rest, ok := strings.CutPrefix(text, terminateCalled); ok {
		r := &record{form: terminate}
		r.raise(l, strings.TrimSuffix(rest, "'"), "")
		return r
	}
	return nil
}

// withHeader begins a record with its header; before is what the line has in front of it.
func withHeader(l logline.Line, text, before string) *record {
	r := &record{form: python, header: l}
	trimmed := strings.TrimSpace(before)
	switch {
	case trimmed == "":
		r.base = before
	case strings.HasSuffix(trimmed, "+ Exception Group"):
		r.form, r.group = grouped, newGroup(l, strings.Index(before, "+"))
	case strings.HasPrefix(trimmed, "╭"):
		r.form, r.width = boxed, len([]rune(text))
	case looksRaised(trimmed) && strings.HasSuffix(before, "  "):
		r.form = notebook
		r.exc = &Exception{Type: trimmed, Line: l, Header: l}
	case isWords(before):
	default:
		r.prefix = before
	}
	return r
}

// isWords tells whether something in front of a header is part of it: "Original ", "Remote ".
func isWords(s string) bool {
	for _, c := range s {
		if c != ' ' && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// parseType splits a line like "torch.OutOfMemoryError: message" or "KeyboardInterrupt". It accepts all that can be the name of an
// exception: a dotted name, or one that begins with a capital, alone or before a colon.
func parseType(text string) (typ, msg string, ok bool) {
	i := 0
	for i < len(text) && i < 200 && (unicode.IsDigit(rune(text[i])) && i > 0 || isLetter(text[i]) || text[i] == '.' && i > 0) {
		i++
	}
	if strings.HasPrefix(text[i:], ".<locals>.") {
		typ, msg, ok = parseType(text[i+len(".<locals>."):])
		return text[:i] + ".<locals>." + typ, msg, ok && typ != ""
	}
	end := i
	if i > 0 && i < len(text) && text[i] == '(' { // ray.exceptions.RayTaskError(ValueError)
		if j := strings.IndexByte(text[i:min(len(text), i+100)], ')'); j > 0 && isDotted(text[i+1:i+j]) {
			end = i + j + 1
		}
	}
	typ = text[:i]
	if i == 0 || typ[i-1] == '.' || strings.Contains(typ, "..") || !strings.Contains(typ, ".") && (typ[0] < 'A' || typ[0] > 'Z') && !looksRaised(typ) {
		return "", "", false
	}
	switch rest := text[end:]; {
	case rest == "":
	case rest == ":":
	case strings.HasPrefix(rest, ": "):
		msg = rest[2:]
	default:
		return "", "", false
	}
	typ, msg = once(text[:end], msg)
	return typ, msg, true
}

func isLetter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isDotted(s string) bool {
	for i := range len(s) {
		if !isLetter(s[i]) && !unicode.IsDigit(rune(s[i])) && s[i] != '.' {
			return false
		}
	}
	return s != ""
}

// once undoes that several ranks wrote the same line at the same time: "RuntimeErrorRuntimeError: : message".
func once(typ, msg string) (string, string) {
	const end = "Error"
	for n := 1; n <= len(typ)/2; n++ {
		unit := typ[:n]
		if len(typ)%n == 0 && strings.HasSuffix(unit, end) && strings.Repeat(unit, len(typ)/n) == typ {
			return unit, strings.TrimLeft(msg, ": ")
		}
	}
	return typ, msg
}

// otherNames are Python's exceptions whose names do not end like one.
var otherNames = map[string]bool{
	"StopIteration": true, "StopAsyncIteration": true, "KeyboardInterrupt": true, "SystemExit": true, "GeneratorExit": true,
	"ExceptionGroup": true, "BaseExceptionGroup": true, "TimeoutExpired": true,
}

// builtinNames are Python's own exceptions: their names need no dot to be believed.
var builtinNames = map[string]bool{
	"ArithmeticError": true, "AssertionError": true, "AttributeError": true, "BaseException": true, "BlockingIOError": true,
	"BrokenPipeError": true, "BufferError": true, "ChildProcessError": true, "ConnectionAbortedError": true, "ConnectionError": true,
	"ConnectionRefusedError": true, "ConnectionResetError": true, "EOFError": true, "EnvironmentError": true, "Exception": true,
	"FileExistsError": true, "FileNotFoundError": true, "FloatingPointError": true, "IOError": true, "ImportError": true,
	"IndentationError": true, "IndexError": true, "InterruptedError": true, "IsADirectoryError": true, "KeyError": true,
	"LookupError": true, "MemoryError": true, "ModuleNotFoundError": true, "NameError": true, "NotADirectoryError": true,
	"NotImplementedError": true, "OSError": true, "OverflowError": true, "PermissionError": true, "ProcessLookupError": true,
	"RecursionError": true, "ReferenceError": true, "RuntimeError": true, "SyntaxError": true, "SystemError": true, "TabError": true,
	"TimeoutError": true, "TypeError": true, "UnboundLocalError": true, "UnicodeDecodeError": true, "UnicodeEncodeError": true,
	"UnicodeError": true, "ValueError": true, "ZeroDivisionError": true,
}

// looksRaised tells whether a name is so much like an exception's that a line with no traceback above it is believed.
func looksRaised(typ string) bool {
	typ, _, _ = strings.Cut(typ, "(")
	name := typ[strings.LastIndexByte(typ, '.')+1:]
	if builtinNames[name] || otherNames[name] {
		return true
	}
	if name == "" || name[0] >= 'a' && name[0] <= 'z' || name == "Error" && len(name) == len(typ) {
		return false
	}
	for _, end := range []string{"Error", "Exception", "Interrupt", "Exit", "RemoteTraceback"} {
		if strings.HasSuffix(name, end) && isDotted(typ) {
			return true
		}
	}
	return false
}

// linkOf reads the sentences that Python prints between the tracebacks of a chain.
func linkOf(text string) (Link, bool) {
	switch strings.TrimSpace(text) {
	case "The above exception was the direct cause of the following exception:":
		return DirectCause, true
	case "During handling of the above exception, another exception occurred:":
		return WhileHandling, true
	}
	return "", false
}
