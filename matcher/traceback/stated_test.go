package traceback

import (
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher/logline"
)

// TestStatedType: a message that was printed without its type can tell it: by the statement that raised it, the system's
// number, or as one of Python's own.
func TestStatedType(t *testing.T) {
	for _, c := range []struct{ code, last, typ, message string }{
		{`raise KeyError(key)`, "<class 'a.B'>", "KeyError", "<class 'a.B'>"},
		{`raise subprocess.CalledProcessError(code, args)`, "Command 'x' failed", "subprocess.CalledProcessError", "Command 'x' failed"},
		{`raise RuntimeError(f"Unsloth: {why}")`, "Unsloth: no file", "RuntimeError", "Unsloth: no file"},
		{`raise Wrong from None`, "it is wrong", "Wrong", "it is wrong"},
		{`raise error`, "it is wrong", "", "it is wrong"},
		{`run(x)`, "RESOURCE_DOES_NOT_EXIST: Run 'x' not found", "", "RESOURCE_DOES_NOT_EXIST: Run 'x' not found"},
		{`open(x)`, "[Errno 2] No such file or directory: 'x'", "FileNotFoundError", "[Errno 2] No such file or directory: 'x'"},
		{`open(x)`, "[WinError 5] Access is denied: 'x'", "PermissionError", "[WinError 5] Access is denied: 'x'"},
		{`bind(x)`, "[Errno 98] Address already in use", "OSError", "[Errno 98] Address already in use"},
		{`n = c['cond'].shape`, "'cond'", "KeyError", "'cond'"},
		{`n = c['cond'].shape`, "'model'", "", "'model'"},
		{`bind(x)`, "error [Errno 98]", "", "error [Errno 98]"},
		{`run(x)`, "'Net' object has no attribute 'y'", "AttributeError", "'Net' object has no attribute 'y'"},
		{`run(x)`, "too many values to unpack (expected 2)", "ValueError", "too many values to unpack (expected 2)"},
		{`run(x)`, "'Net' object has no attribute at all", "", "'Net' object has no attribute at all"},
	} {
		log := "Traceback (most recent call last):\n  File \"/x/a.py\", line 1, in f\n    " + c.code + "\n" + c.last + "\n"
		exceptions, _ := read(t, "x.log", log)
		if len(exceptions) != 1 || exceptions[0].Type != "" || exceptions[0].Message != c.message || exceptions[0].StatedType() != c.typ {
			t.Errorf("%s, %s: it is read as\n%s", c.code, c.last, outline(exceptions, ""))
		}
	}
}

// TestRaisedWithoutWords: the statement that raises says all, also where it has no message.
func TestRaisedWithoutWords(t *testing.T) {
	const frame = "  File \"/w/env.py\", line 3, in reset\n    "
	for code, want := range map[string]string{"raise NotImplementedError": "NotImplementedError", "raise NotReadyError()": "NotReadyError", "raise stored": "", "raise Stop": ""} {
		exceptions, _ := read(t, "x.log", "starting\n"+frame+code+"\n")
		if want == "" && len(exceptions) != 0 || want != "" && (len(exceptions) != 1 || exceptions[0].Type != want) {
			t.Errorf("%s: it is read as\n%s", code, outline(exceptions, ""))
		}
	}
}

// TestHeaderWithBlank: a blank before the header alone, as a copied text begins with, hides neither the code nor the last line.
func TestHeaderWithBlank(t *testing.T) {
	const rest = "Traceback (most recent call last):\n  File \"/w/train.py\", line 3, in main\n    raise AttributeError(k)\nAttributeError: rate\n"
	for _, blanks := range []string{"", " ", "  "} {
		exceptions, _ := read(t, "x.log", blanks+rest)
		if len(exceptions) != 1 || exceptions[0].Message != "rate" || exceptions[0].Code() != "raise AttributeError(k)" {
			t.Errorf("with %q before the header it is read as\n%s", blanks, outline(exceptions, ""))
		}
	}
}

// TestRewords tells an exception that the catching function raised in place of the caught one from those raised in what it called.
func TestRewords(t *testing.T) {
	const (
		caught  = "Traceback (most recent call last):\n  File \"/w/data.py\", line 89, in from_jsonl\n    a.append(line['text'])\nKeyError: 'text'\n"
		link    = "\nDuring handling of the above exception, another exception occurred:\n\n"
		outer   = "Traceback (most recent call last):\n  File \"/w/main.py\", line 8, in <module>\n    load()\n"
		raising = "  File \"/w/data.py\", line 93, in from_jsonl\n    raise ValueError(\n"
		said    = "ValueError: the file should have text\n"
	)
	for name, test := range map[string]struct {
		log  string
		want bool
	}{
		"in its place":        {caught + link + outer + raising + said, true},
		"by another function": {caught + link + outer + "  File \"/w/data.py\", line 12, in close\n    raise ValueError(\n" + said, false},
		"by a call":           {caught + link + outer + "  File \"/w/data.py\", line 93, in from_jsonl\n    note(line)\n" + said, false},
		"alone":               {outer + raising + said, false},
	} {
		exceptions, _ := read(t, "x.log", test.log)
		if len(exceptions) != 1 || exceptions[0].Rewords() != test.want {
			t.Errorf("%s: not %v of\n%s", name, test.want, outline(exceptions, ""))
		}
	}
}

// TestLabelIsNoType: a word before a colon is the type, unless the frame above says that another was raised.
func TestLabelIsNoType(t *testing.T) {
	for code, want := range map[string]string{"raise CancelledByUser()": "CancelledByUser", "run()": "CancelledByUser", "raise RuntimeError(m)": ""} {
		log := "Traceback (most recent call last):\n  File \"/x/a.py\", line 1, in f\n    " + code + "\nCancelledByUser: stopped\n"
		if exceptions, _ := read(t, "x.log", log); len(exceptions) != 1 || exceptions[0].Type != want {
			t.Errorf("%s: it is read as\n%s", code, outline(exceptions, ""))
		}
	}
}

// TestMessageBelowRaise: below a raise statement stands the message, also where neither a header nor a type was copied.
func TestMessageBelowRaise(t *testing.T) {
	const frame = "  File \"/w/train.py\", line 3, in main\n    "
	exceptions, _ := read(t, "x.log", frame+"raise ValueError(\"no data\")\nno data\n")
	if len(exceptions) != 1 || exceptions[0].Message != "no data" {
		t.Errorf("below a raise it is read as\n%s", outline(exceptions, ""))
	}
	if exceptions, _ := read(t, "x.log", frame+"warn(\"no data\")\nno data\n"); len(exceptions) != 0 {
		t.Errorf("below another statement it is read as\n%s", outline(exceptions, ""))
	}
}

// TestAnnounced: a traceback that is cut off before its last line is of the exception that a program told just above it.
func TestAnnounced(t *testing.T) {
	const frames = "Traceback (most recent call last):\n  File \"/w/tea.py\", line 3, in brew\n    pot.boil()\n"
	for before, want := range map[string]string{
		"Brew 3 failed because of the following error: KeyError('lid').": "KeyError: 'lid'",
		"brew 3 failed: OSError('no water')":                             "OSError: no water",
		"it went on after OSError('no water') as before":                 "",
		"brewing": "",
	} {
		var got []string
		a := NewAssembler(func(e *Exception, _ logline.Line) {
			if e != nil && len(e.Frames) > 0 {
				got = append(got, e.Text())
			}
		}, func(logline.Line) func() string { return func() string { return "tea\n" + before } })
		for i, text := range strings.Split(frames, "\n") {
			a.Feed(logline.Line{Number: i + 1, Text: text})
		}
		a.Close()
		if len(got) != 1 || got[0] != want {
			t.Errorf("behind %q the exception is %q, not %q", before, got, want)
		}
	}
}

// TestDebuggerWithoutFrames: what a debugger's window says is an exception also where its frames were not copied.
func TestDebuggerWithoutFrames(t *testing.T) {
	for log, want := range map[string]string{
		"Exception has occurred: TypeError\nlid is empty.\n```\nIt is a good lid.\n": "TypeError: lid is empty.",
		"Exception has occurred: TypeError\n":                                        "",
		"Exception has occurred: Lid\nit is empty\n":                                 "",
	} {
		exceptions, _ := read(t, "x.log", log)
		if want == "" && len(exceptions) > 0 || want != "" && (len(exceptions) != 1 || exceptions[0].Text() != want) {
			t.Errorf("%q: it is read as\n%s", log, outline(exceptions, ""))
		}
	}
}
