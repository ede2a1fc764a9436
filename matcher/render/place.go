package render

import (
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/gpu-triage/triage/matcher/report"
)

// location is a line of a file, as editors and code hosts name it. Its file has slashes, and is relative when it lies in the workspace.
type location struct {
	file string
	line int
}

// frameLine is how Python's tracebacks name a line of code, which evidence quotes.
var frameLine = regexp.MustCompile(`^\s*File "([^"\n]+)", line (\d{1,9})`)

// codeLine is the line of code that evidence is about: the first frame that lies in the workspace, or else none.
func codeLine(evidence []report.Evidence, workspace string) (location, bool) {
	return codeLineIn(evidence, func(file string) (string, bool) { return within(file, workspace) })
}

// codeLineIn is codeLine for a workspace of which inside tells what a file is called there, and whether it lies in there.
func codeLineIn(evidence []report.Evidence, inside func(file string) (string, bool)) (location, bool) {
	for _, e := range evidence {
		m := frameLine.FindStringSubmatch(e.Text)
		if m == nil {
			continue
		}
		file, inside := inside(m[1])
		number, err := strconv.Atoi(m[2])
		if inside && err == nil {
			return location{file, number}, true
		}
	}
	return location{}, false
}

// logLine is where a log says so.
func logLine(e report.Evidence, workspace string) location {
	file, _ := within(e.Source, workspace)
	return location{file, max(e.Line, 1)}
}

// within is a path as seen from the workspace, and whether it lies in there. What is no path of a file, as <string>, does not.
func within(file, workspace string) (string, bool) {
	file = path.Clean(filepath.ToSlash(Line(file)))
	root := path.Clean(filepath.ToSlash(workspace))
	rest, inside := strings.CutPrefix(file, strings.TrimSuffix(root, "/")+"/")
	switch {
	case workspace != "" && inside:
		return rest, !strings.Contains("/"+rest, "/site-packages/")
	case strings.HasPrefix(file, "<"), strings.HasPrefix(file, "../"), path.IsAbs(file), len(file) > 1 && file[1] == ':':
		return file, false
	}
	return file, true
}
