package traceback

import "testing"

// TestMarkdown: a traceback and a lone last line are read out of Markdown's marks for code and bold words; those of the message stay.
func TestMarkdown(t *testing.T) {
	for _, c := range []struct{ log, typ, message string }{
		{"`TypeError: f() got an unexpected keyword argument 'x'`\n", "TypeError", "f() got an unexpected keyword argument 'x'"},
		{"I am getting a ```TypeError: f() got multiple values for argument 'model'```. Help!\n", "TypeError", "f() got multiple values for argument 'model'"},
		{"when I run train.py, I meet a error :ValueError: no rows in it\n", "ValueError", "no rows in it"},
		{"**ValueError: no rows**\n", "ValueError", "no rows"},
		{"`ValueError: set `a` to 1`\n", "ValueError", "set `a` to 1"},
		{"ValueError: set `a`\n", "ValueError", "set `a`"},
		{"`Traceback (most recent call last):\n  File \"/x/a.py\", line 1, in f\n    run()\nKeyError: 'x'`\n", "KeyError", "'x'"},
	} {
		exceptions, _ := read(t, "x.log", c.log)
		if len(exceptions) != 1 || exceptions[0].Type != c.typ || exceptions[0].Message != c.message {
			t.Errorf("%s: it is read as\n%s", c.log, outline(exceptions, ""))
		}
	}
	if exceptions, _ := read(t, "x.log", "the class `ValueError: no rows` is not raised\n"); len(exceptions) != 0 {
		t.Errorf("words in the middle of a sentence are read as\n%s", outline(exceptions, ""))
	}
}

// TestFlat: a traceback that lost its leading blanks with copying has its source lines all the same.
func TestFlat(t *testing.T) {
	log := "Traceback (most recent call last):\nFile \"/x/a.py\", line 1, in f\nrun(x)\nFile \"/x/b.py\", line 2, in run\nraise ValueError('no')\nValueError: no\n"
	exceptions, _ := read(t, "x.log", log)
	if len(exceptions) != 1 || exceptions[0].Type != "ValueError" || len(exceptions[0].Frames) != 2 || exceptions[0].Code() != "raise ValueError('no')" {
		t.Errorf("it is read as\n%s", outline(exceptions, ""))
	}
	log = "Traceback (most recent call last):\nFile \"/x/a.py\", line 1, in f\nValueError: no\n"
	exceptions, _ = read(t, "x.log", log)
	if len(exceptions) != 1 || exceptions[0].Message != "no" || exceptions[0].Code() != "" {
		t.Errorf("without source lines it is read as\n%s", outline(exceptions, ""))
	}
}

// TestFlatWithoutHeader: of a flat traceback only the last frame was copied. Without a function's name it may be a compiler's line.
func TestFlatWithoutHeader(t *testing.T) {
	exceptions, _ := read(t, "x.log", "File \"/x/b.py\", line 2, in run\n    first(rows)\nIndexError: list index out of range\n")
	if len(exceptions) != 1 || len(exceptions[0].Frames) != 1 || exceptions[0].Code() != "first(rows)" {
		t.Errorf("it is read as\n%s", outline(exceptions, ""))
	}
	exceptions, _ = read(t, "x.log", "File \"kernel.ptx\", line 7\nsome words\nIndexError: list index out of range\n")
	if len(exceptions) != 1 || len(exceptions[0].Frames) != 0 {
		t.Errorf("a compiler's line is read as\n%s", outline(exceptions, ""))
	}
}
