package diagnosis_test

import (
	"strings"
	"testing"
)

// TestGroupsNotFound: what is said when a capture found nothing is said, and what needs the group is not.
func TestGroupsNotFound(t *testing.T) {
	engine := knowing(t, `id: port
title: The port is taken
keywords: [is taken]
match: ['text contains "is taken"']
capture: ['port (?P<port>\d+)']
confirm: [port != nil]
cause: 'It is{port| a port}.'
details:
  - {when: [port != nil], say: 'It has a number.'}
  - {when: [port == nil], say: 'It has none.'}
fixes:
  - {do: 'Take another number.', when: [port != nil]}
  - {do: 'Ask for the number.', when: [port == nil]}
  - {do: 'Look at the version.', when: [torch != nil]}
references: [x]
`)
	for log, want := range map[string]string{
		"the port 80 is taken": "confirmed It is80. It has a number. Take another number. Look at the version.",
		"a port is taken":      "likely It is a port. It has none. Ask for the number. Look at the version.",
	} {
		d := answer(t, engine, log+"\n").Diagnoses[0]
		got := string(d.Certainty) + " " + d.Cause
		for _, fix := range d.Fixes {
			got += " " + fix.Do
		}
		if got != want {
			t.Errorf("%s: %q instead of %q", log, got, want)
		}
	}
}

// What is only said of certain frames or of a certain source line is not said of an exception without its traceback, whose frames nobody
// knows.
func TestFixOfCertainFrames(t *testing.T) {
	for _, certain := range []string{`any(error.frames, .file contains "loader")`, `error.code contains "put"`} {
		engine := knowing(t, `id: full
title: full
keywords: ["device is full"]
match: ['error.message contains "device is full"']
cause: x
fixes:
  - {do: upgrade the loader, when: ['`+certain+`']}
  - {do: make room, when: ['not (`+certain+`)']}
references: [x]
`)
		for log, want := range map[string]string{
			"RuntimeError: the device is full\n": "make room",
			"Traceback (most recent call last):\n  File \"/w/loader.py\", line 3, in load\n    put()\nRuntimeError: the device is full\n": "upgrade the loader",
		} {
			fixes := answer(t, engine, log).Diagnoses[0].Fixes
			if len(fixes) != 1 || fixes[0].Do != want {
				t.Errorf("%s, %q: %v instead of %q", certain, log, fixes, want)
			}
		}
	}
}

// TestRepeats: of two signatures that fit equally well, the one that has an answer of its own is told before the one that repeats the message.
func TestRepeats(t *testing.T) {
	engine := knowing(t, `id: checks
title: checks
role: generic
reads_message: true
match: ['error.type != ""', 'error.message contains "must be"', 'error.user != nil', 'error.name == "TypeError"']
cause: x
fixes: [{do: read it}]
references: [x]
`, `id: kind
title: kind
role: generic
keywords: ["must be a Tensor"]
match: ['error.message contains "must be a Tensor"']
cause: y
fixes: [{do: take the tensor out}]
references: [x]
`)
	log := "Traceback (most recent call last):\n  File \"/w/net.py\", line 3, in load\n    put(image)\nTypeError: it must be a Tensor\n"
	if d := answer(t, engine, log).Diagnoses[0]; d.ID != "kind" {
		t.Errorf("%s instead of kind", d.ID)
	}
}

// TestInstallerKnowsDistribution: a package's code is called by its module, and pip is told what brings that.
func TestInstallerKnowsDistribution(t *testing.T) {
	engine := knowing(t, `id: old
title: old
keywords: ["is too old"]
match: ['error.message contains "is too old"']
cause: '{error.owner} says so.'
fixes:
  - {do: 'Upgrade {error.owner}.', run: ['pip install -U {error.owner}', 'python -m pip show {error.owner}', 'grep -rn {error.owner} .']}
references: [x]
`)
	for module, distribution := range map[string]string{"sklearn": "scikit-learn", "einops": "einops", "unheard": "unheard", "homemade": ""} {
		log := "Traceback (most recent call last):\n  File \"/opt/lib/python3.11/site-packages/" + module + "/a.py\", line 3, in load\n    check()\nRuntimeError: it is too old\n"
		got := answer(t, engine, log).Diagnoses[0].Fixes[0].Run
		want := []string{"pip install -U " + distribution, "python -m pip show " + distribution, "grep -rn " + module + " ."}
		if distribution == "" {
			want = want[2:]
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: %q instead of %q", module, got, want)
		}
	}
}
