package traceback

import (
	"path"
	"strings"

	"github.com/gpu-triage/triage/rules/pattern"
)

// StandardLibrary is the package of a frame in Python's own modules.
const StandardLibrary = "python"

// generated are the folders into which a package writes code that then runs as if it were somebody's own. The groups are the packages.
var generated = pattern.Lazy(`/(?P<torch>torchinductor_[^/]*|torch_compile_debug)/|/(?P<unsloth>unsloth_compiled_cache)/|/(?P<triton>\.triton)/|/(?P<transformers_modules>transformers_modules)/`)

// Package is the top module of the code in a frame: "transformers" of .../site-packages/transformers/trainer.py, the package that wrote it
// for generated code, StandardLibrary for Python's own, and "" for the user's code.
func (f Frame) Package() string {
	file := strings.ReplaceAll(f.File, `\`, "/")
	if i := strings.LastIndex(file, "-packages/"); i >= 0 {
		return topModule(file[i+len("-packages/"):])
	}
	for i, found := range generated().FindStringSubmatch(file) {
		if i > 0 && found != "" {
			return generated().SubexpNames()[i]
		}
	}
	if f.User() {
		return ""
	}
	return StandardLibrary
}

// topModule is the first name of a path below site-packages.
func topModule(file string) string {
	top, rest, inside := strings.Cut(file, "/")
	if inside && strings.HasSuffix(top, ".egg") { // an egg has the packages in a folder of its own
		return topModule(rest)
	}
	if inside {
		return top
	}
	top, _, _ = strings.Cut(strings.TrimSuffix(top, path.Ext(top)), ".")
	return top
}

// Owner is the package in which the exception was raised, and "" for the user's own code or without frames. The standard library
// counts for whoever called it.
func (e *Exception) Owner() string {
	owner, _ := e.owners()
	return owner
}

// Caller is the package that called into the owner's code, "" for the user's own code or without frames.
func (e *Exception) Caller() string {
	_, caller := e.owners()
	return caller
}

// Asker is the package whose code asks an object for an attribute: the owner, but for a __getattr__, which only tells that there is none.
func (e *Exception) Asker() string {
	frames := e.Frames
	for n := len(frames); n > 0 && strings.Contains(frames[n-1].Function, "__getattr"); n-- {
		frames = frames[:n-1]
	}
	return (&Exception{Frames: frames}).Owner()
}

func (e *Exception) owners() (owner, caller string) {
	found := false
	for i := len(e.Frames) - 1; i >= 0; i-- {
		name := e.Frames[i].Package()
		switch {
		case name == StandardLibrary:
		case !found:
			owner, found = name, true
		case name != owner:
			return owner, name
		}
	}
	return owner, ""
}
