package diagnosis_test

import "testing"

// What a reader of messages adds under a condition is said where it holds, and nowhere else.
func TestMessageDetails(t *testing.T) {
	engine := knowing(t, "id: any\ntitle: any\nrole: unexplained\nmatch: ['error.type != \"\"']\ncause: It ended.\nfixes: [{do: x}]\nreferences: [x]\n", `id: pot
title: pot
role: message
match: ['error.message contains "pot"']
cause: The pot is meant.
details: [{when: ['error.message contains "empty"'], say: Nothing is in it.}]
fixes: [{do: fill it}]
references: [x]
`)
	for message, want := range map[string]string{
		"the pot is empty": "The pot is meant. Nothing is in it. It ended.",
		"the pot is hot":   "The pot is meant. It ended.",
		"the lid is empty": "It ended.",
	} {
		log := "Traceback (most recent call last):\n  File \"/job/brew.py\", line 3, in <module>\n    pour()\nValueError: " + message + "\n"
		if got := answer(t, engine, log).Diagnoses[0].Cause; got != want {
			t.Errorf("%s: %q, want %q", message, got, want)
		}
	}
}
