package traceback

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/rules/pattern"
)

// Exception is a raised Python error as a traceback printed it, or the lone last line of one. An uncaught C++ exception and a
// crash that Python's fault handler reported have the same form.
type Exception struct {
	Type    string         // as printed: "torch.OutOfMemoryError"; "" when the log is cut off inside the traceback, or has a message without it
	Message string         // may have several lines
	Frames  []Frame        // outermost first, none for a lone line
	Line    logline.Line   // the line that holds Type
	Lines   []logline.Line // the lines of Message that were kept, the first is Line; their Text is what the program printed
	Header  logline.Line   // the line "Traceback (most recent call last)", zero for a lone line
	Before  func() string  // what its writer printed just before it, or the message that relays it had before; nil when nobody asked
	Level   logline.Level  // severity of the log record that the traceback was written into, "" when it was printed bare
	// Swallowed tells that Python itself says nobody was told: an exception in a destructor or a callback.
	Swallowed bool
	// Earlier is the exception printed before this one in the same chain, and Link how they hang together.
	Earlier *Exception
	Link    Link
	// Within are further exceptions that led to this one: the members of an exception group, or what several workers relayed, but
	// for the first, which is Earlier.
	Within []*Exception
	// Failures are the dead processes that a launcher lists in its message.
	Failures []Failure

	shown string // the source line that stands above a lone line
}

// Link says how an exception follows from the one printed before it.
type Link string

// The links that Python and its libraries print.
const (
	DirectCause   Link = "direct cause"    // raise ... from ...
	WhileHandling Link = "during handling" // raised in an except block
	Relayed       Link = "relayed"         // a worker's traceback inside the message of its parent's, a member of a group
)

// Frame is one entry of a traceback.
type Frame struct {
	File     string
	Line     int
	Function string // "" in a SyntaxError
	Code     string // the source line, "" when it was not printed
	Marked   string // the part of Code that Python 3.11 and newer mark as what failed, "" when none is
	At       int    // number of the log's line that shows it
	Repeated int    // how many more times a recursion went through the frames that end here
}

// Failure is a dead process as the launcher of a distributed job lists it.
type Failure struct {
	First     bool // the first that the launcher observed
	Rank      int  // global rank, or NoRank
	LocalRank int  // or NoRank
	Host      string
	PID       int
	ExitCode  int          // negative: killed by that signal
	Time      string       // as printed
	ErrorFile string       // "" when there is none
	Line      logline.Line // the line that names the exit code
	Said      string       // what it has of the process's own traceback: a sentence, or the traceback itself
	Raised    *Exception   // that traceback, nil when there is none
}

// Text is the exception as Python prints it: the type, a colon, and all lines of the message.
func (e *Exception) Text() string {
	switch {
	case e.Message == "":
		return e.Type
	case e.Type == "":
		return e.Message
	}
	return e.Type + ": " + e.Message
}

// Untyped tells whether the message was printed without the type.
func (e *Exception) Untyped() bool { return e.Type == "" && e.Message != "" }

// Lone tells whether nothing but the last line of a traceback was printed.
func (e *Exception) Lone() bool { return len(e.Frames) == 0 && e.Header.Number == 0 }

// Name is the last part of a type: "OutOfMemoryError" of "torch.OutOfMemoryError", "Error" of "c10::Error", "RayTaskError" of
// "ray.exceptions.RayTaskError(ValueError)".
func (e *Exception) Name() string {
	name, _, _ := strings.Cut(e.Type, "(")
	name = name[strings.LastIndexAny(name, ".:")+1:]
	if name == "ModuleAttributeError" { // of PyTorch 1.6 and 1.7
		return "AttributeError"
	}
	return name
}

// Code is the deepest source line that the traceback shows, or the one that stands above a lone line: what was being done when it was
// raised. It is "" where none is shown.
func (e *Exception) Code() string {
	if len(e.Frames) == 0 {
		return e.shown
	}
	return e.Frames[len(e.Frames)-1].Code
}

// Raised is where the exception was raised, as FILE:LINE; "" when no frame is shown.
func (e *Exception) Raised() string {
	if len(e.Frames) == 0 {
		return ""
	}
	return e.Frames[len(e.Frames)-1].Place()
}

// Marked is the part of Code that Python marks as what failed, and Code where it marks none.
func (e *Exception) Marked() string {
	if len(e.Frames) == 0 {
		return e.shown
	}
	last := e.Frames[len(e.Frames)-1]
	return cmp.Or(last.Marked, last.Code)
}

// Rewords tells whether the function that caught the exception before this one raised this one in its place: it says in the program's words
// what that one meant.
func (e *Exception) Rewords() bool {
	if e.Earlier == nil || e.Link != DirectCause && e.Link != WhileHandling || len(e.Frames) == 0 || len(e.Earlier.Frames) == 0 {
		return false
	}
	raising, catching := e.Frames[len(e.Frames)-1], e.Earlier.Frames[0]
	return raising.Function == catching.Function && raising.File == catching.File && (raising.Code == "" || strings.HasPrefix(raising.Code, "raise "))
}

// Origin is the first exception of the chain: the one that was raised before all others.
func (e *Exception) Origin() *Exception {
	for e.Earlier != nil {
		e = e.Earlier
	}
	return e
}

// UserFrame is the deepest frame in the user's own code: not in an installed package, the standard library, the interpreter itself
// or an installed script. It is nil when there is none.
func (e *Exception) UserFrame() *Frame {
	for i := len(e.Frames) - 1; i >= 0; i-- {
		if e.Frames[i].User() {
			return &e.Frames[i]
		}
	}
	return nil
}

var (
	installed  = pattern.Lazy(`(?i)/(?:site|dist)-packages/|/lib(?:64)?/python\d(?:\.\d+)?/|/python\d[\d.]*/lib/|/lib/python\d*\.zip/|^<frozen |^<__array_function__|^<decorator-gen|^<attrs generated|^<torch_package|^<eval_with_key>|/bin/[\w.-]+$|/torchinductor_[^/]*/|/__autograph_generated_file|/unsloth_compiled_cache/|/\.triton/|/transformers_modules/|\.pyx$|\.pxi$|^\./(?:site|dist)-packages/`)
	windowsLib = pattern.Lazy(`(?i)^[a-z]:/.*/(?:lib/(?:site-packages|[\w]+\.py|(?:importlib|multiprocessing|concurrent|asyncio|json|runpy)/))`)
)

// User tells whether the frame is in the user's own code.
func (f Frame) User() bool {
	if f.File == "<string>" && f.Function != "" && f.Function != "<module>" { // a function that a library wrote and ran; python -c has no other name
		return false
	}
	file := strings.ReplaceAll(f.File, `\`, "/")
	return file != "" && !installed().MatchString(file) && !windowsLib().MatchString(file)
}

// Module is the dotted module that the file is, as far as its path tells: the part after site-packages, or the bare file name.
func (f Frame) Module() string {
	file, installed := f.inPackages()
	if !installed {
		return strings.TrimSuffix(path.Base(file), path.Ext(file))
	}
	return strings.ReplaceAll(strings.TrimSuffix(strings.TrimSuffix(file, path.Ext(file)), "/__init__"), "/", ".")
}

// Place is where the frame is, as train.py:12; of an installed package without the folders above it: torch/serialization.py:1026.
func (f Frame) Place() string {
	file, installed := f.inPackages()
	if !installed {
		file = f.File
	}
	if f.Line == 0 || file == "" {
		return file
	}
	return fmt.Sprintf("%s:%d", file, f.Line)
}

// inPackages is the file as seen from the folder of installed packages that it lies in, and whether it lies in one.
func (f Frame) inPackages() (string, bool) {
	file := strings.ReplaceAll(f.File, `\`, "/")
	for _, mark := range []string{"-packages/", "-packages-/"} {
		if i := strings.LastIndex(file, mark); i >= 0 {
			return file[i+len(mark):], true
		}
	}
	return file, false
}

// Last is the last line of the message.
func (e *Exception) Last() logline.Line {
	if len(e.Lines) == 0 {
		return e.Line
	}
	return e.Lines[len(e.Lines)-1]
}
