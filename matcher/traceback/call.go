package traceback

import (
	"strings"

	"github.com/gpu-triage/triage/rules/pattern"
)

var (
	unfitting = pattern.Lazy(`^(?:[\w.<>]+\.)?(\w+)\(\) (?:got an unexpected keyword argument(?: '(\w+)')?|got multiple values for|missing \d+ required|takes )`)
	called    = pattern.Lazy(`([A-Za-z_][\w.]*)\(`)
	handsOn   = pattern.Lazy(`^(?:return |\w+ = )?(?:await )?[\w.()]+\((?:(?:self|cls), ?)?(?:\*\w+|(?:\*\w+, ?)?\*\*\w+)\)$`)
)

// AtCall is the exception as it stands at the call that is wrong, of one that says that a call does not fit: without the deepest frames
// that only hand on the arguments they got, as decorators do. Through is the package of those, "" when there are none.
func (e *Exception) AtCall() (at *Exception, through string) {
	if e.Name() != "TypeError" || !unfitting().MatchString(e.Message) {
		return e, ""
	}
	copied := *e
	for n := len(e.Frames) - 1; n > 0 && handsOn().MatchString(e.Frames[n].Code); n-- {
		copied.Frames, through = e.Frames[:n], e.Frames[n].Package()
	}
	return &copied, through
}

// Call is the name by which the deepest frame's source line calls what refused the call, of an exception that says so: "Trainer" for
// `__init__() got an unexpected keyword argument` below `trainer = Trainer(model=m)`. Python before 3.10 names no class there. It is ""
// where the line shows no call, or several that may be meant.
func (e *Exception) Call() string {
	m := unfitting().FindStringSubmatch(e.Message)
	if m == nil || e.Name() != "TypeError" || len(e.Frames) == 0 || !gives(e.Code(), m[2]) {
		return ""
	}
	found := ""
	for _, call := range called().FindAllStringSubmatch(e.Marked(), -1) {
		if !couldBe(call[1], m[1]) && !(m[1] == "__init__" && entered(e.Code(), call[1])) {
			continue
		}
		if marks := e.Frames[len(e.Frames)-1].Marked; strings.HasPrefix(marks, call[0]) {
			return call[1]
		}
		if found != "" && found != call[1] {
			return ""
		}
		found = call[1]
	}
	return found
}

// entered tells whether code only opens what it calls by a name, as `with autocast(dtype=t):` does: it is a class for all its small letters.
func entered(code, name string) bool {
	return strings.HasPrefix(code, "with "+name+"(") && strings.Count(code, "(") == 1
}

// gives tells whether code can call with an argument by name: where the call goes on in the next line, or hands on others, nobody knows.
func gives(code, argument string) bool {
	return argument == "" || strings.Contains(code, argument+"=") || strings.Contains(code, argument+" =") || strings.Contains(code, "**") || strings.HasSuffix(code, "(") || strings.HasSuffix(code, ",")
}

// couldBe tells whether code that calls by a name may end in the function. A class is called for its __init__, and has a capital letter; an
// object for its __call__ or forward.
func couldBe(name, function string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	switch function {
	case "__init__", "__new__":
		return last == "cls" || last == "__init__" || strings.ToLower(last) != last
	case "__call__", "forward":
		return true
	}
	return last == function
}
