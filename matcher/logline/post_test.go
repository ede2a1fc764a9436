package logline

import (
	"strings"
	"testing"
)

// TestPost: what a sentence of a post quotes of a failure stands on a line of its own; code, names and what programs print stay as they are.
func TestPost(t *testing.T) {
	const hello = "Hi, I try to brew tea.\n"
	for text, want := range map[string]string{
		"and get the error ```No such file or directory: 'pot.pth'```":                                         "and get the error\nNo such file or directory: 'pot.pth'",
		"it says **the pot was not found** at once":                                                            "it says\nthe pot was not found\n at once",
		`the window shows "cannot open the lid" then`:                                                          "the window shows\ncannot open the lid\n then",
		"it stops, returning error: ERROR: the pot failed to start":                                            "it stops, returning error:\nERROR: the pot failed to start",
		`raise OSError("no water" OSError: no water in the pot`:                                                "raise OSError(\"no water\"\nOSError: no water in the pot",
		"Traceback (most recent call last): File \"a.py\", line 3, in f import x OSError: No module named 'x'": "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n    import x\nOSError: No module named 'x'",
		"This causes it to fail with OSError: no water at line 3":                                              "This causes it to fail with\nOSError: no water at line 3",
		"It raises OSError: no water in it. What is the reason?":                                               "It raises\nOSError: no water in it.\n What is the reason?",
		"what I got was AttributeError: 'NoneType' object has no attribute 'pot'.the line is 35 of tea.py":     "what I got was\nAttributeError: 'NoneType' object has no attribute 'pot'\n.the line is 35 of tea.py",
		"It raises OSError: no water in it. Did you mean tea?":                                                 "It raises\nOSError: no water in it. Did you mean tea?",
		"`the pot holds no water today`.":                                                                      "the pot holds no water today",
		"**Error: the lid and the pot differ**":                                                                "Error: the lid and the pot differ",
		"it has an error like Lid not found: '/pot'":                                                           "it has an error like\nLid not found: '/pot'",
		"it reports the error of `lid and pot differ in size`":                                                 "it reports the error of\nlid and pot differ in size",
		`but I see an error saying "lid is of another pot"`:                                                    "but I see an error saying\nlid is of another pot",
		`    raise OSError("the pot failed to boil. "`:                                                         `    raise OSError("the pot failed to boil. "`,
		`Error boiling "C:\tea\pot\lid.dll" or one of its parts`:                                               `Error boiling "C:\tea\pot\lid.dll" or one of its parts`,
		"# OSError: no water":                                                                       "OSError: no water",
		"**CMake Error: no lid":                                                                     "CMake Error: no lid",
		"I call `brew(pot, lid)` and all is well":                                                   "I call `brew(pot, lid)` and all is well",
		"ValueError: Please pass `lid=True or it fails again`":                                      "ValueError: Please pass `lid=True or it fails again`",
		"[INFO] the \"pot was not found\" check":                                                    "[INFO] the \"pot was not found\" check",
		"Error: 2026-01-02 03:04:05 the pot is cold":                                                "2026-01-02 03:04:05 the pot is cold",
		"[Question]: module 'pot' has no attribute 'lid'":                                           "module 'pot' has no attribute 'lid'",
		"and met this problem：ValueError: the pot is cold":                                          "and met this problem：\nValueError: the pot is cold",
		"I have an error on `p = pot(x)`, which is OSError: no lid":                                 "I have an error on `p = pot(x)`, which is\nOSError: no lid",
		`"INFO:tensorflow:Error reported to Coordinator: <class 'tea.PotError'>, lid; no such lid"`: `"tea.PotError: lid; no such lid"`,
		"[here](https://tea.org/pot) I see `the pot was not found`":                                 "[here](https://tea.org/pot) I see\nthe pot was not found",
		"Assertion error: the pot is cold":                                                          "AssertionError: the pot is cold",
		"it says RuntimeError:lid (of pot 3) is gone":                                               "it says\nRuntimeError: lid (of pot 3) is gone",
		"it says \"Cannot import name 'lid' from 'pot'\"":                                           "it says\ncannot import name 'lid' from 'pot'",
		"it says `importerror: cannot import name 'lid' from 'pot'`":                                "it says\nImportError: cannot import name 'lid' from 'pot'",
		`> error "the lid is only for pots of 7 and up."`:                                           `> error "the lid is only for pots of 7 and up."`,
		"Unable to import name 'lid' from 'pot' (my kitchen)":                                       "cannot import name 'lid' from 'pot' (my kitchen)",
		"```python": "```python",
	} {
		form := Sniff("x", []byte(hello+text))
		var got []string
		if _, err := form.Clean(2, []byte(text), func(l Line) error {
			if l.Text != "" {
				got = append(got, strings.TrimRight(l.Text, " "))
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if said := strings.Join(got, "\n"); said != want {
			t.Errorf("%q is read as %q, want %q", text, said, want)
		}
	}
	for text, help := range map[string]bool{
		"# OSError: no water when brewing tea\n\n### Reproduction\n":                       true,
		"# No tea from this pot\n\nThe pot stays cold.\n":                                  true,
		"The pot stays cold:\n```\nOSError: no water\n```\n":                               false,
		"No such file or directory: 'pot' on the stove\n\nBrewed all by the book, cold.\n": false,
		"Cold tea\n\n- [X] I have read the book\n\n## 当前行为\n\nOSError: no water\n":         true,
	} {
		if form := Sniff("x", []byte(text)); !form.IsPost() || form.AsksHelp() != help {
			t.Errorf("%q: a post %v, which asks %v", text, form.IsPost(), form.AsksHelp())
		}
	}
	for _, log := range []string{"step 1 loss 2.3\n# OSError: no water\n", "no water: not started\n\nSee the book of tea.\n", "brewing tea\n\nPour the water in slowly.\n"} {
		if form := Sniff("x", []byte(log)); form.IsPost() {
			t.Errorf("%q is taken for a post", log)
		}
	}
}

// TestTickedLines: where each line of a print has marks of its own, they are taken off, and the lines stay together.
func TestTickedLines(t *testing.T) {
	text := "Hi, I brew tea.\n`Traceback (most recent call last):`\n`  File \"a.py\", line 3, in f`\n`    pot = find the pot here`\n`OSError: no water`\n"
	form := Sniff("x", []byte(text))
	var got []string
	for i, raw := range strings.Split(text, "\n") {
		if _, err := form.Clean(i+1, []byte(raw), func(l Line) error {
			got = append(got, l.Text)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if read := strings.Join(got, "\n"); read != strings.ReplaceAll(text, "`", "") {
		t.Errorf("it is read as %q", read)
	}
}

// TestAsksHelp: a title that says what failed asks about it, though nobody says a word more.
func TestAsksHelp(t *testing.T) {
	for text, want := range map[string]bool{
		"KeyError: 'pot is not in the registry\n\n```\na = 1\n```\n": true,
		"How to make tea\n\n```\na = 1\n```\n":                       false,
		"KeyError: 'pot is not in the registry\na = 1\n":             false,
	} {
		if got := Sniff("post.txt", []byte(text)).AsksHelp(); got != want {
			t.Errorf("%q asks for help: %v, want %v", text, got, want)
		}
	}
}
