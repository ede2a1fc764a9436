package traceback

import (
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/logline/loglinetest"
)

const frames = "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n    g()\n"

// TestLastLine: the line that names the exception is found in whatever a program or a test makes of it.
func TestLastLine(t *testing.T) {
	for name, c := range map[string]struct{ log, typ, message string }{
		"as printed":           {frames + "ValueError: bad\n", "ValueError", "bad"},
		"repr":                 {frames + "training failed: ValueError('bad \\'x\\'\\nworse')\n", "ValueError", "bad 'x'\nworse"},
		"repr, double quotes":  {frames + "Task 3 failed with torch.OutOfMemoryError(\"it's full\")\n", "torch.OutOfMemoryError", "it's full"},
		"behind words":         {frames + "Task failed: RuntimeError: bad\n", "RuntimeError", "bad"},
		"raised":               {frames + "job 3 raised ValueError: bad\n", "ValueError", "bad"},
		"of a thread":          {frames + "Exception in thread Thread-1 (f): ValueError: bad\n", "ValueError", "bad"},
		"pytest":               {frames + "E   ValueError: bad\n", "ValueError", "bad"},
		"all marked by pytest": {"E   " + strings.ReplaceAll(frames, "\n  ", "\nE     ") + "E   ValueError: bad\n", "ValueError", "bad"},
		"no type":              {frames + "bad things\nand worse\n  set in\n", "", "bad things\nand worse\n  set in"},
		"an operator":          {frames + "aten.mm.default: got mixed things\n", "", "aten.mm.default: got mixed things"},
		"of a module":          {frames + "socket.timeout: timed out\n", "socket.timeout", "timed out"},
		"break lost":           {strings.TrimSuffix(frames, "\n") + " ValueError: bad\n", "ValueError", "bad"},
		"breaks lost":          {"Traceback (most recent call last):\n  File \"a.py\", line 3, in f g() ValueError: bad\n", "ValueError", "bad"},
		"another's line first": {frames + "step 3 loss 2.1\nValueError: bad\n", "ValueError", "bad"},
		"between sides": {"│ Traceback (most recent call last):   │\n│   File \"a.py\", line 3, in f      │\n│     g()       │\nValueError: bad\n",
			"ValueError", "bad"},
	} {
		exceptions, _ := read(t, "x.log", c.log)
		if len(exceptions) != 1 {
			t.Errorf("%s: there are %d exceptions: %s", name, len(exceptions), outline(exceptions, ""))
			continue
		}
		e := exceptions[0]
		if e.Type != c.typ || e.Message != c.message {
			t.Errorf("%s: it is %q: %q", name, e.Type, e.Message)
		}
		if len(e.Frames) != 1 || e.Frames[0].Function != "f" || e.Frames[0].Code != "g()" {
			t.Errorf("%s: its frames are %+v", name, e.Frames)
		}
	}
}

// TestLastLineInText: a source line that has an exception's name in a text or a comment is not the last line of its traceback.
func TestLastLineInText(t *testing.T) {
	for _, code := range []string{`print("it was ValueError: bad")`, "f()  # raises ValueError: bad", "except ValueError: return"} {
		exceptions, _ := read(t, "x.log", strings.Replace(frames, "g()", code, 1))
		if len(exceptions) != 1 || exceptions[0].Type != "" {
			t.Errorf("%s: %s", code, outline(exceptions, ""))
		}
	}
}

// TestCaught: what a program says of an exception that it caught is one, without a traceback; but not where it goes on.
func TestCaught(t *testing.T) {
	for text, want := range map[string]string{
		"Training failed: RuntimeError: bad":              "RuntimeError",
		"Error loading the model: m.odd.ValueError: bad":  "m.odd.ValueError",
		"An error occurred: OSError: [Errno 5] bad: x":    "OSError",
		"ERROR train.py:10 ValueError: bad":               "ValueError",
		"Loading failed: ValueError: bad, trying again":   "",
		"Training failed: ValueError('bad')":              "ValueError",
		`Exception in task 3: m.OddException("it's bad")`: "m.OddException",
		"Retry 2 failed: ValueError('bad')":               "",
		"Loaded with: ValueError('bad')":                  "",
		"request failed: TimeoutError: slow. Retry in 2s": "",
		"Question:OSError: bad":                           "OSError",
		"Bug: OSError: bad":                               "OSError",
		"But the output: 'OSError: 'a' is bad'.":          "OSError",
		" it shows  \"OSError: bad\" when I run it":       "OSError",
		"# OSError: bad":                                  "",
		"pot: OSError: bad":                               "",
		"The pot leaks - OSError: bad":                    "OSError",
		"# see OSError: bad":                              "",
		"[Bug]: OSError: bad":                             "OSError",
		"[BUG] the pot leaks, OSError: bad":               "OSError",
		"> OSError: bad":                                  "OSError",
		"getting 'KeyError: 'a'' at the end":              "KeyError",
		"I see this in the log - OSError: bad":            "OSError",
		"Raised OSError: bad":                             "OSError",
		"[notes] the type OSError: bad":                   "",
		"_OSError: bad_":                                  "OSError",
		"_m.OddError: bad":                                "_m.OddError",
		"the tutorial's 'OSError: bad' is an example":     "",
		"Raises: ValueError: if it is bad":                "",
		"the docs: ValueError: bad values":                "",
		"register failed: IOError: end of file":           "",
		"the type of the error: Kind: bad":                "",
	} {
		exceptions, _ := read(t, "x.log", text+"\n")
		switch {
		case want == "" && len(exceptions) > 0:
			t.Errorf("%q is read as %s", text, outline(exceptions, ""))
		case want != "" && (len(exceptions) != 1 || exceptions[0].Type != want || !exceptions[0].Lone()):
			t.Errorf("%q is read as %s", text, outline(exceptions, ""))
		}
	}
}

// TestMessageEnds: a message ends where Markdown's code does, and a key where Python's quotes do, whatever a person writes behind it.
func TestMessageEnds(t *testing.T) {
	for text, want := range map[string]string{
		frames + "KeyError: 'a'\n```\n\nany idea?":                        "'a'",
		frames + "KeyError: 'a'\nwhen I start it":                         "'a'",
		"KeyError: 'a' [after the update]":                                "'a'",
		"KeyError: \"['a'] not in index\"":                                "\"['a'] not in index\"",
		"OSError: bad\n\nWhenever I run it, this is shown:\n\nno water\n": "bad",
		"KeyError: (0, 'a')":                                              "(0, 'a')",
		"I get `OSError: bad`. However, I am on it":                       "bad",
		"OSError: version `GLIBC_2.32' not found (by a.so)":               "version `GLIBC_2.32' not found (by a.so)",
		"\"a.py\", line 3, in f\nb = c['a']\nKeyError: 'a'":               "'a'",
	} {
		exceptions, _ := read(t, "x.log", text+"\n")
		if len(exceptions) != 1 || exceptions[0].Message != want {
			t.Errorf("%q is read as %s", text, outline(exceptions, ""))
		}
	}
}

// TestNoLastLine: words that only mention exceptions end no traceback.
func TestNoLastLine(t *testing.T) {
	for _, text := range []string{
		"see the docs of ValueError for more", "RuntimeError() takes no arguments", "except ValueError as e", "Error('x'", "def MyError(name='x')",
		"(ValueError)", "('ValueError', 'x')", "ValueErrors: 3",
	} {
		if typ, msg, ok := quoted(text); ok {
			t.Errorf("%q is read as %q: %q", text, typ, msg)
		}
	}
}

// TestChainWithoutTypes: also the first of two exceptions may lack its type.
func TestChainWithoutTypes(t *testing.T) {
	exceptions, _ := read(t, "x.log", frames+"first\n\nDuring handling of the above exception, another exception occurred:\n\n"+frames+"second\n")
	if len(exceptions) != 1 || exceptions[0].Message != "second" || exceptions[0].Earlier == nil || exceptions[0].Earlier.Message != "first" {
		t.Errorf("the chain is\n%s", outline(exceptions, ""))
	}
}

// TestOtherWriter: what heads the traceback of a thread or a process belongs to no message of another one, unless that announces it.
func TestOtherWriter(t *testing.T) {
	for heading, want := range map[string]int{
		"Exception in thread Thread-4 (run):": 2, "Process SpawnProcess-3:": 2, "Exception in background worker 3:": 2,
		"The worker said:": 1, "Process of the data:": 1,
	} {
		exceptions, _ := read(t, "x.log", frames+"ValueError: bad\n"+heading+"\n"+frames+"KeyError: 'x'\n")
		if len(exceptions) != want {
			t.Errorf("%s: there are %d exceptions instead of %d\n%s", heading, len(exceptions), want, outline(exceptions, ""))
		}
	}
	exceptions, _ := read(t, "x.log", frames+"ValueError: bad, it said:\nProcess SpawnProcess-3:\n"+frames+"KeyError: 'x'\n")
	if len(exceptions) != 1 {
		t.Errorf("what is announced is read as\n%s", outline(exceptions, ""))
	}
}

// TestCaughtMessage: what a program says of an exception that it caught, without the type; not where it goes on, nor what libraries log.
func TestCaughtMessage(t *testing.T) {
	for text, want := range map[string]string{
		"Error during training: CUDA out of memory":                "CUDA out of memory",
		"❌ Failed to load the model: No module named 'x'":          "No module named 'x'",
		"unable to execute '/x/nvcc': No such file or directory":   "unable to execute '/x/nvcc': No such file or directory",
		"2026-01-01 10:00:00,123 - ERROR - train - No module 'x'":  "No module 'x'",
		"2026-01-01 10:00:00,123 - ERROR - Run failed: it is bad":  "it is bad",
		"2026-01-01 10:00:00,123 - WARNING - Run failed: too bad":  "",
		"Error while loading: it is bad, trying again":             "",
		"loss: it is bad and bad":                                  "",
		"E0101 10:00:00.000000 140 torch/a.py:19] failed: bad one": "",
	} {
		got := ""
		note := func(line logline.Line) error {
			if message, ok := CaughtMessage(line, false); ok {
				got = message
			}
			return nil
		}
		if _, err := loglinetest.ReadLines(strings.NewReader(text+"\n"), "x.log", note); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%q: the message is %q", text, got)
		}
	}
}

// TestWholeRepr: a line that is nothing but the repr of an exception is one, alone or announced by another; what is more than that is none.
func TestWholeRepr(t *testing.T) {
	const repr = `TypeError("Net() got an unexpected keyword argument 'x'")`
	exceptions, _ := read(t, "x.log", "Error in call to target 'Net':\n"+repr+"\nfull_key: model\n")
	if len(exceptions) != 1 || exceptions[0].Message != "Net() got an unexpected keyword argument 'x'" {
		t.Errorf("alone it is read as\n%s", outline(exceptions, ""))
	}
	exceptions, _ = read(t, "x.log", frames+"app.InstantiationException: Error in call to target 'Net':\n"+repr+"\nfull_key: model\n")
	if len(exceptions) != 1 || exceptions[0].Earlier == nil || exceptions[0].Earlier.Type != "TypeError" {
		t.Errorf("announced it is read as\n%s", outline(exceptions, ""))
	}
	for text, want := range map[string]string{
		`ConnectionError(ProtocolError('Connection aborted.', ConnectionResetError(104, 'Reset (by peer')))`: `ProtocolError('Connection aborted.', ConnectionResetError(104, 'Reset (by peer'))`,
		`FileNotFoundError(2, 'No such file or directory')`:                                                  "[Errno 2] No such file or directory",
	} {
		if _, msg, ok := wholeRepr(text); !ok || msg != want {
			t.Errorf("%q is read as %q", text, msg)
		}
	}
	for _, text := range []string{"FileNotFoundError(2, 'x') and more", "ConnectionError(ProtocolError('x')", "ValueError(rows, 3)", "raise " + repr, repr + " and more", `Net("x")`, `x = ValueError("x")`} {
		if typ, msg, ok := wholeRepr(text); ok {
			t.Errorf("%q is read as %q: %q", text, typ, msg)
		}
	}
}

// TestInTitle: the title of a post may name an exception in brackets, or one of Python's own messages without its class.
func TestInTitle(t *testing.T) {
	for title, want := range map[string]string{
		"Unable to brew (ValueError: too many values to unpack (expected 6))": "ValueError: too many values to unpack (expected 6)",
		"module 'pot' has no attribute 'Lid' (solved)":                        "AttributeError: module 'pot' has no attribute 'Lid'",
		"the pot is cold [Solved]":                                            "",
	} {
		got := ""
		if typ, msg, ok := InTitle(title); ok {
			got = typ + ": " + msg
		}
		if got != want {
			t.Errorf("%q names %q, want %q", title, got, want)
		}
	}
}
