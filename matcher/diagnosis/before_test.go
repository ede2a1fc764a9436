package diagnosis_test

import "testing"

// TestGroupsBefore: a group of before: is what the same process printed before, and is not found when that says nothing.
func TestGroupsBefore(t *testing.T) {
	engine := knowing(t, `id: lost
title: It is lost
keywords: [is lost now]
match: ['text contains "is lost now"']
before: ['(?:^|\n)no (?P<what>\w+) here\s*$']
cause: 'It is {what|something}.'
fixes: [{do: 'Look for it.'}]
references: [x]
`)
	for log, want := range map[string]string{
		"no map here\nit is lost now\n":                             "It is map.",
		"no map here\nanother line\nit is lost now\n":               "It is something.",
		"it is lost now\n":                                          "It is something.",
		"[rank1]: no map here\n[rank0]: it is lost now\n":           "It is something.",
		"[rank0]: no map here\n[rank1]: x\n[rank0]: it is lost now": "It is map.",
	} {
		if got := cause(t, engine, log); got != want {
			t.Errorf("%q: %q instead of %q", log, got, want)
		}
	}
}

// TestGroupsOfCommandLine: a group of command_line: is what a command in the first lines gives, and is not found where none does.
func TestGroupsOfCommandLine(t *testing.T) {
	engine := knowing(t, `id: lost
title: It is lost
keywords: [is lost now]
match: ['text contains "is lost now"']
command_line: ['--maps[= ](?P<maps>[\w./]+)']
cause: 'It is lost[[ in {maps}]].'
fixes: [{do: 'Look for it.'}]
references: [x]
`)
	for log, want := range map[string]string{
		"$ python walk.py --maps shelf/one --steps 2\nit is lost now\n": "It is lost in shelf/one.",
		"$ python walk.py --steps 2\nit is lost now\n":                  "It is lost.",
		"it is lost now\n": "It is lost.",
	} {
		if got := cause(t, engine, log); got != want {
			t.Errorf("%q: %q instead of %q", log, got, want)
		}
	}
}
