package diagnosis_test

import "testing"

// brewing knows a failure of a program that makes tea.
const brewing = `id: pot-lost
title: The pot is lost
keywords: ["no pot here"]
match: ['text contains "no pot here"']
cause: It is on another shelf.
fixes: [{do: Look there.}]
references: [x]
`

// TestAskedThoughHandled: what Python prints of a destructor is answered where somebody asks about it, and ends no program else.
func TestAskedThoughHandled(t *testing.T) {
	engine := knowing(t, brewing)
	const printed = "Exception ignored in: <function Tea.__del__ at 0x7f2b>\nTraceback (most recent call last):\n  File \"/w/tea.py\", line 9, in __del__\n    self.pot.close()\nRuntimeError: no pot here\n"
	for log, want := range map[string]string{
		printed: "",
		"Hello, I get this at the end of my script.\n\n" + printed + "\nWhat have I done wrong?\n": "It is on another shelf.",
	} {
		if got := cause(t, engine, log); got != want {
			t.Errorf("%q: %q instead of %q", log, got, want)
		}
	}
}

// TestWholeBesideCut: the message that a post quotes says more than the traceback below it whose end is missing, although a bar moves on in between.
func TestWholeBesideCut(t *testing.T) {
	engine := knowing(t, brewing, `id: steps
title: A bar moves on
role: progress
keywords: ["% brewed"]
match: ['text contains "% brewed"']
references: [x]
`, `id: cut-off
title: The end is missing
role: unexplained
match: ['error.type == "" and error.message == ""', 'any(error.frames, .line > 0)']
cause: The end is missing.
fixes: [{do: Send the rest.}]
references: [x]
`)
	const post = "The tea does not start\n\nHi, I get this error:\n```\nRuntimeError: no pot here\n```\n\nAll of it:\n```\npot 1 of 2: 100 % brewed\nTraceback (most recent call last):\n  File \"/w/tea.py\", line 42, in brew\n    return fill()\n"
	if got := cause(t, engine, post); got != "It is on another shelf." {
		t.Errorf("the cause is %q", got)
	}
}
