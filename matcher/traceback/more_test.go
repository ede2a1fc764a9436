package traceback

import "testing"

// TestOneLine: a message of Python's own ends with its line, whatever is printed below; another one goes on.
func TestOneLine(t *testing.T) {
	for _, c := range []struct{ printed, message string }{
		{"NameError: name 'plan' is not defined\nPBS Job 6354842.pbs\nCPU time  : 00:00:03\n", "name 'plan' is not defined"},
		{"**AttributeError: 'Pot' object has no attribute 'copy'**\n", "'Pot' object has no attribute 'copy'"},
		{"ModuleNotFoundError: No module named 'agents'\n RETURN=1!!! Start over!!!\n", "No module named 'agents'"},
		{"RuntimeError: the sizes differ:\n a 3\n b 4\n", "the sizes differ:\n a 3\n b 4"},
		{"ValueError: No module named 'agents' here\nSecond line\n", "No module named 'agents' here\nSecond line"},
	} {
		exceptions, _ := read(t, "x.log", frames+c.printed)
		if len(exceptions) != 1 || exceptions[0].Message != c.message {
			t.Errorf("%q is read as\n%s", c.printed, outline(exceptions, ""))
		}
	}
}

// TestSideWithoutHeader: a box around a traceback is seen through, too, where the copy begins behind the side of its first line.
func TestSideWithoutHeader(t *testing.T) {
	const log = "Traceback (most recent call last):\n" +
		"│  File \"samples/coco.py\", line 504, in <module>\n" +
		"│    augmentation=augmentation)\n" +
		"│AttributeError: 'Model' object has no attribute 'metrics_tensors'\n"
	exceptions, _ := read(t, "x.log", log)
	if len(exceptions) != 1 || len(exceptions[0].Frames) != 1 || exceptions[0].Frames[0].Code != "augmentation=augmentation)" {
		t.Errorf("read as\n%s", outline(exceptions, ""))
	}
}

// TestCutBeforeSyntaxError: a place without a function, at the end of a traceback without its last line, is that of a SyntaxError.
func TestCutBeforeSyntaxError(t *testing.T) {
	const begin = "Traceback (most recent call last):\n  File \"a.py\", line 10, in <module>\n    from pot import lid\n"
	for log, want := range map[string]string{
		begin + "  File \"/venv/pot.py\", line 77\n    print lid\n":         "SyntaxError",
		begin + "  File \"/venv/pot.py\", line 77, in f\n    lid.print()\n": "",
	} {
		exceptions, _ := read(t, "x.log", log)
		if len(exceptions) != 1 || exceptions[0].Type != want {
			t.Errorf("%q is read as\n%s", log, outline(exceptions, ""))
		}
	}
}
