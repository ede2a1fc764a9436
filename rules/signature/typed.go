package signature

import "github.com/gpu-triage/triage/rules/condition"

// TypedName is the name by which conditions know the command lines that the first lines of the logs show, as people and launchers write them.
const TypedName = "typed"

// TypedShape is what conditions can ask of it.
func TypedShape() condition.Shape {
	text := condition.Shape{Type: condition.String}
	return condition.Shape{Type: condition.Object, Members: map[string]condition.Shape{
		"lines":   text,                                 // one below the other, "" when none is shown
		"options": {Type: condition.List, Items: &text}, // the names of their options as Python writes them: n_ctx for --n-ctx
	}}
}
