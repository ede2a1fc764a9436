package diagnosis

import (
	"strings"

	"github.com/gpu-triage/triage/matcher/reading"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/pattern"
)

// maxTyped is how many command lines are looked at.
const maxTyped = 100

var (
	// option begins one on a command line.
	option = pattern.Lazy(`(?:^|\s)--?([A-Za-z][\w-]*)`)
	// noCommand begins a line with options that nobody typed: the help of a program, an error about one, an item of a list.
	noCommand = pattern.Lazy(`(?i)^\s*(?:usage:|-|\*|error\b|\S*error: |\S+: error)`)
	// goesOn ends a line of a command that has another one.
	goesOn = pattern.Lazy("(?m)[ \t]*(?:\\\\|\\^|`)\r?\n[ \t]*")
)

// typed is what conditions can ask about the command lines in the first lines of the logs.
func typed(heads []reading.Head) condition.Value {
	var lines []string
	var options []condition.Value
	for _, head := range heads {
		for line := range strings.Lines(goesOn().ReplaceAllString(head.Text, " ")) {
			if len(lines) == maxTyped {
				break
			}
			found := option().FindAllStringSubmatch(line, -1)
			if len(found) == 0 || noCommand().MatchString(line) {
				continue
			}
			lines = append(lines, strings.TrimSpace(line))
			for _, m := range found {
				options = append(options, condition.StringValue(strings.ReplaceAll(m[1], "-", "_")))
			}
		}
	}
	return condition.ObjectValue(map[string]condition.Value{
		"lines": condition.StringValue(strings.Join(lines, "\n")), "options": condition.ListValue(options...),
	})
}
