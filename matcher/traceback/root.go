package traceback

import (
	"strings"

	"github.com/gpu-triage/triage/rules/pattern"
)

// missingModule is what Python says of a module that it does not find. The group is its dotted name.
var missingModule = pattern.Lazy(`^No module named '?([A-Za-z_]\w*(?:\.\w+)*)`)

// Root is the folder that has to be on Python's path for the module that the message misses to be found: the one above a folder of the module's
// name in which a frame of the user's own code lies, as /home/u/project for "No module named 'train'" in /home/u/project/train/run.py. It is
// "." for the folder of a relative path, and "" when no frame lies in such a folder.
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
	}
	return ""
}
