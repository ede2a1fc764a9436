package diagnosis

import (
	"strings"

	"github.com/gpu-triage/triage/matcher/reading"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/pattern"
)

// maxCommandLines is how many command lines are looked at.
const maxCommandLines = 100

var (
	// option begins one on a command line.
	option = pattern.Lazy(`(?:^|\s)--?([A-Za-z][\w-]*)`)
	// noCommand begins a line with options that nobody typed: the help of a program, an error about one, an item of a list.
	noCommand = pattern.Lazy(`(?i)^\s*(?:usage:|-|\*|error\b|\S*error: |\S+: error)`)
	// cut is a line of a command that lost the mark with which those above and the shell go on: an option stands below all the same.
	cut = pattern.Lazy("(?m)(?:\\\\|\\^|`)\r?\n[ \t]*(--?[A-Za-z][^\n\\\\^`]*[^\n\\\\^`\\s])[ \t]*\r?\n[ \t]+--?[A-Za-z][\\w-]*[ =\n]")
	// continued ends a line of a command that has another one.
	continued = pattern.Lazy("(?m)[ \t]*(?:\\\\|\\^|`)\r?\n[ \t]*")
)

// firstLines are those of all logs, one below the other.
func firstLines(heads []reading.Head) condition.Value {
	texts := make([]string, len(heads))
	for i, head := range heads {
		texts[i] = head.Text
	}
	return condition.StringValue(strings.Join(texts, "\n"))
}

// commandLines is what conditions can ask about the command lines in the first lines of the logs.
func commandLines(heads []reading.Head) condition.Value {
	var lines []string
	var options []condition.Value
	ends := ""
	for _, head := range heads {
		if m := cut().FindStringSubmatch(head.Text); m != nil && ends == "" {
			ends = m[1]
		}
		for line := range strings.Lines(continued().ReplaceAllString(head.Text, " ")) {
			if len(lines) == maxCommandLines {
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
		"text": condition.StringValue(strings.Join(lines, "\n")), "options": condition.ListValue(options...),
		"cut": condition.StringValue(ends),
	})
}
