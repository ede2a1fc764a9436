package traceback

import (
	"strings"

	"github.com/gpu-triage/triage/rules/pattern"
)

// missingModule is what Python says of a module that it does not find. The group is its dotted name.
var missingModule = pattern.Lazy(`^No module named '?([A-Za-z_]\w*(?:\.\w+)*)`)

// Root is the folder that has to be on Python's path for the module that the message misses to be found: the one above a folder of the module's
// name in which a frame of the user's own code lies, as /home/u/project for "No module named 'train'" in /home/u/project/train/run.py. It is
// "." for the folder of a relative path, and "" when no frame lies in such a folder. A folder that is called so but for capital letters and
// hyphens is a checkout of the project, which has the module in it: /home/u/Tea-Pot for 'tea_pot' in /home/u/Tea-Pot/tools/run.py.
func (e *Exception) Root() string {
	m := missingModule().FindStringSubmatch(e.Message)
	if m == nil {
		return ""
	}
	folder := "/" + strings.ReplaceAll(m[1], ".", "/") + "/"
	for i := len(e.Frames) - 1; i >= 0; i-- {
		if !e.Frames[i].User() {
			continue
		}
		file := e.Frames[i].File
		at := strings.LastIndex("/"+strings.ReplaceAll(file, `\`, "/"), folder)
		switch {
		case at == 0:
			return "."
		case at > 1:
			return file[:at-1]
		}
		top, _, _ := strings.Cut(m[1], ".")
		if checkout := checkoutOf(file, top); checkout != "" {
			return checkout
		}
	}
	return ""
}

// checkoutOf is the folder in a path that has a module's name in other letters.
func checkoutOf(file, module string) string {
	end := 0
	unified := strings.ReplaceAll(file, `\`, "/")
	for folder := range strings.SplitAfterSeq(unified[:strings.LastIndex(unified, "/")+1], "/") {
		end += len(folder)
		name := strings.ReplaceAll(strings.TrimSuffix(folder, "/"), "-", "_")
		if name != module && strings.EqualFold(name, module) {
			return file[:end-1]
		}
	}
	return ""
}
