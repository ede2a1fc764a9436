package traceback

import "github.com/gpu-triage/triage/rules/pattern"

// prompt is what shells print before a command: "(env) lea@box:~/code$ ", "[lea@box code]$ ", "PS C:\code> ", "C:\code>".
var prompt = pattern.Lazy(`^(?:\([\w.\-/]+\) ?)*(?:[\w.\-]+@[\w.\-]+:[^\s$#]{0,100} ?[$#](?: |$)|\[[\w.\-]+@[\w.\-]+ [^\]\s]{0,100}\] ?[$#](?: |$)|(?:PS )?[A-Za-z]:\\[^>:"]{0,100}>)`)

// isPrompt tells whether a line is that of a shell that waits for a command or was given one.
func isPrompt(text string) bool { return prompt().MatchString(text) }
