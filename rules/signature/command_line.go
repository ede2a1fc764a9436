package signature

import "github.com/gpu-triage/triage/rules/condition"

// CommandLineName is the name by which conditions know the command lines that the first lines of the logs show, as people and launchers write them.
const CommandLineName = "command_line"

// FirstLinesName is the name by which conditions know the first lines of the logs, or a post, as one text.
const FirstLinesName = "first_lines"

// CommandLineShape is what conditions can ask of it.
func CommandLineShape() condition.Shape {
	text := condition.Shape{Type: condition.String}
	return condition.Shape{Type: condition.Object, Members: map[string]condition.Shape{
		"text":    text,                                 // one line below the other, "" when none is shown
		"options": {Type: condition.List, Items: &text}, // the names of their options as Python writes them: n_ctx for --n-ctx
		"cut":     text,                                 // the line at which one ends although options stand below, for want of a \ at its end
	}}
}
