package traceback

import (
	"slices"
	"strings"
)

const (
	maxTypeLen     = 200        // bytes of the name of an exception
	maxArgumentLen = 100        // bytes of what can follow it in parentheses
	local          = "<locals>" // stands in the name of a class that is made in a function
)

// parseType splits a line like "torch.OutOfMemoryError: message" or "KeyboardInterrupt". It accepts all that can be the name of an
// exception: a dotted name, or one that begins with a capital, alone or before a colon.
func parseType(text string) (typ, msg string, ok bool) {
	n := nameLen(text)
	if !isTypeName(text[:n]) {
		return "", "", false
	}
	n += argumentLen(text[n:])
	switch rest := text[n:]; {
	case rest == "" || rest == ":":
	case strings.HasPrefix(rest, ": "):
		msg = rest[len(": "):]
	case strings.HasPrefix(rest, ":") && isLetter(rest[1]) && strings.HasSuffix(text[:n], "Error"): // as people type it
		msg = rest[len(":"):]
	default:
		return "", "", false
	}
	typ, msg = once(text[:n], msg)
	if inner, words, ok := carried(typ, msg); ok {
		return inner, words, true
	}
	return typ, msg, true
}

// carried reads the exception of which another only carries the traceback, and that is named for it: "pkg.UnfilteredStackTrace:
// pkg.errors.ShapeError: message" is a ShapeError.
func carried(typ, msg string) (inner, words string, ok bool) {
	if !strings.HasSuffix(typ, "StackTrace") && !strings.HasSuffix(typ, "SimplifiedTraceback") {
		return "", "", false
	}
	inner, words, ok = parseType(msg)
	return inner, words, ok && looksRaised(inner)
}

// nameLen is how many bytes the dotted name takes that a text begins with.
func nameLen(text string) int {
	n := 0
	for n < len(text) && n < maxTypeLen {
		switch c := text[n]; {
		case isLetter(c), n > 0 && (isDigit(c) || c == '.'):
			n++
		case n > 0 && text[n-1] == '.' && strings.HasPrefix(text[n:], local+"."):
			n += len(local)
		default:
			return n
		}
	}
	return n
}

// isTypeName tells whether a dotted name can be that of an exception.
func isTypeName(name string) bool {
	if name == "" || strings.HasSuffix(name, ".") || strings.Contains(name, "..") {
		return false
	}
	return strings.Contains(name, ".") || name[0] >= 'A' && name[0] <= 'Z' || looksRaised(name)
}

// argumentLen is how many bytes "(ValueError)" takes, which Ray puts behind the name of its own exception; 0 when there is none.
func argumentLen(rest string) int {
	if !strings.HasPrefix(rest, "(") {
		return 0
	}
	end := strings.IndexByte(rest[:min(len(rest), maxArgumentLen)], ')')
	if end < 0 || !isDotted(rest[1:end]) {
		return 0
	}
	return end + 1
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isDotted(s string) bool {
	for i := range len(s) {
		if !isLetter(s[i]) && !isDigit(s[i]) && s[i] != '.' {
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

// otherNames are exceptions whose names do not end like one: Python's, and those that gRPC raises for a stream.
var otherNames = map[string]bool{
	"StopIteration": true, "StopAsyncIteration": true, "KeyboardInterrupt": true, "SystemExit": true, "GeneratorExit": true,
	"ExceptionGroup": true, "BaseExceptionGroup": true, "TimeoutExpired": true, "_Rendezvous": true, "_MultiThreadedRendezvous": true,
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

// smallNames are the exceptions of modules whose names are not written as those of classes.
var smallNames = map[string]bool{"cv2.error": true, "struct.error": true, "socket.timeout": true, "socket.gaierror": true, "zlib.error": true, "re.error": true, "pickle.error": true}

// isClass tells whether a word is named as classes are: ArrowInvalid.
func isClass(word string) bool {
	return word != "" && word[0] >= 'A' && word[0] <= 'Z' && lastName(word) == 0
}

// looksRaised tells whether a name is so much like an exception's that a line with no traceback above it is believed.
func looksRaised(typ string) bool {
	typ, _, _ = strings.Cut(typ, "(")
	name := typ[strings.LastIndexByte(typ, '.')+1:]
	if builtinNames[name] || otherNames[name] {
		return true
	}
	if smallNames[typ] {
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
	return isClassOfModule(typ) && hasErrorsModule(typ)
}

// exceptionModules are how Python packages name the modules in which they keep their exceptions, and nothing else, so that a class of one
// is an exception whatever its own name: omegaconf.errors.MissingMandatoryValue, google.api_core.exceptions.NotFound. The dots belong to
// them, as these are also openers, which are long; a module exc is too short for one without the name before it.
var exceptionModules = []string{".errors.", ".exceptions.", "._errors.", "._exceptions.", "._dynamo.exc."}

// hasErrorsModule tells whether a dotted name lies in a module of exceptions.
func hasErrorsModule(typ string) bool {
	return slices.ContainsFunc(exceptionModules, func(module string) bool { return strings.Contains(typ, module) })
}

// isClassOfModule tells whether a name is that of a class with the module it is in, as pyarrow.lib.ArrowInvalid. Behind the frames of a
// traceback nothing else is printed so.
func isClassOfModule(typ string) bool {
	dot := strings.LastIndexByte(typ, '.')
	return dot > 0 && dot+1 < len(typ) && typ[dot+1] >= 'A' && typ[dot+1] <= 'Z' && typ[0] >= 'a' && typ[0] <= 'z' && isDotted(typ)
}
