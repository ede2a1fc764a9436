package traceback

import (
	"fmt"
	"strings"
	"testing"
)

// TestMarkdown: a traceback and a lone last line are read out of Markdown's marks for code and bold words; those of the message stay.
func TestMarkdown(t *testing.T) {
	for _, c := range []struct{ log, typ, message string }{
		{"`TypeError: f() got an unexpected keyword argument 'x'`\n", "TypeError", "f() got an unexpected keyword argument 'x'"},
		{"I am getting a ```TypeError: f() got multiple values for argument 'model'```. Help!\n", "TypeError", "f() got multiple values for argument 'model'"},
		{"When I try it, it appeared \"x.y.OtherError: no rows in it\".\n", "x.y.OtherError", "no rows in it"},
		{"when I run train.py, I meet a error :ValueError: no rows in it\n", "ValueError", "no rows in it"},
		{"我运行的时候出现 ValueError: no rows in it\n", "ValueError", "no rows in it"},
		{"cv2.error: OpenCV(4.6.0) bad\n", "cv2.error", "OpenCV(4.6.0) bad"},
		{"**ValueError: no rows**\n", "ValueError", "no rows"},
		{"`ValueError: set `a` to 1`\n", "ValueError", "set `a` to 1"},
		{"`ValueError: no rows in: ['a', 'b'] `\nIt seems that `reader` does not know it. How did you solve this?\n", "ValueError", "no rows in: ['a', 'b']"},
		{"Run this and it raises error `KeyError: 'rows'`, this is because `table()` takes it out, but `read()` needs it.\n", "KeyError", "'rows'"},
		{"I got the error `ValueError: no rows. Stopping.` using the default `run.sh` script.\n", "ValueError", "no rows. Stopping."},
		{"ValueError: no rows\nbut if I run it on one node then it works\n", "ValueError", "no rows"},
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
	log = "Traceback (most recent call last):\n\nFile \"/x/a.py\", line 1, in f\n\n\nrun(x)\n\n^^^^^^\nFile \"/x/b.py\", line 2, in run\n\nraise ValueError('no')\n\nValueError: no\n"
	exceptions, _ = read(t, "x.log", log)
	if len(exceptions) != 1 || len(exceptions[0].Frames) != 2 || exceptions[0].Code() != "raise ValueError('no')" {
		t.Errorf("with empty lines it is read as\n%s", outline(exceptions, ""))
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
	exceptions, _ = read(t, "x.log", "x/b.py\", line 2, in run\n    first(rows)\nIndexError: list index out of range\n")
	if len(exceptions) != 1 || len(exceptions[0].Frames) != 1 || exceptions[0].Frames[0].File != "x/b.py" || exceptions[0].Code() != "first(rows)" {
		t.Errorf("a frame without its beginning is read as\n%s", outline(exceptions, ""))
	}
	exceptions, _ = read(t, "x.log", "File \"kernel.ptx\", line 7\nsome words\nIndexError: list index out of range\n")
	if len(exceptions) != 1 || len(exceptions[0].Frames) != 0 {
		t.Errorf("a compiler's line is read as\n%s", outline(exceptions, ""))
	}
}

// TestReports: the type and the message stand above the frames, and nothing stands below them.
func TestReports(t *testing.T) {
	const frames = "File \"/x/run.py\", line 2, in run\n%[1]sfirst(rows)\n\n%[2]sFile \"/x/rows.py\", line 3, in first\n%[1]sreturn rows[0]\n"
	for name, test := range map[string]struct{ log, want string }{
		"words": {
			"Error occurred when executing KSampler:\n\nlist index out of range\n\n" + fmt.Sprintf(frames, "", ""),
			"3-3:: list index out of range [2] /x/rows.py:3\n",
		},
		"fields": {
			"- **Exception Type:** IndexError\n- **Exception Message:** list index out of range\n## Stack Trace\n```\n" +
				"  " + fmt.Sprintf(frames, "    ", "  ") + "```\n## System Information\n",
			"2-2:IndexError: list index out of range [2] /x/rows.py:3\n",
		},
		"marks that have lost their place": {
			"Error occurred when executing KSampler:\n\nlist index out of range\n\nFile \"/x/run.py\", line 2, in run\nfirst(rows)\n^^^^^^^^^^^\n" +
				"File \"/x/rows.py\", line 3, in first\nreturn rows[0]\n~~~~^^^\n",
			"3-3:: list index out of range [2] /x/rows.py:3\n",
		},
		"with a traceback of Python's": {
			"Error occurred when executing KSampler:\n\nTraceback (most recent call last):\n  " + fmt.Sprintf(frames, "    ", "  ") + "IndexError: list index out of range\n",
			"9-9:IndexError: list index out of range [2] /x/rows.py:3\n",
		},
		"VS Code's debugger, the deepest frame first": {
			"Exception has occurred: IndexError\nlist index out of range\n  " + fmt.Sprintf(frames, "    ", "  "),
			"2-2:IndexError: list index out of range [2] /x/run.py:2\n",
		},
		"VS Code's debugger, as Python prints it": {
			"Exception has occurred: IndexError       (note: full exception trace is shown but execution is paused at: run)\nlist index out of range\n  " +
				fmt.Sprintf(frames, "    ", "  ") + "IndexError: list index out of range\n",
			"8-8:IndexError: list index out of range [2] /x/rows.py:3\n",
		},
		"VS Code's debugger, the deepest frame first and the last line again": {
			"Exception has occurred: KeyError\n'model'\n  File \"/x/demo.py\", line 61, in test\n    load(saved['model'])\n  File \"/x/demo.py\", line 118, in <module>\n    test()\nKeyError: 'model'\n",
			"7-7:KeyError: 'model' [2] /x/demo.py:61\n",
		},
		"VS Code's debugger without a message": {
			"Exception has occurred: AssertionError\nexception: no description\n  " + fmt.Sprintf(frames, "    ", "  "),
			"1-1:AssertionError:  [2] /x/run.py:2\n",
		},
		"without frames": {"Error occurred when executing KSampler:\n\nlist index out of range\nsee the console\n", ""},
	} {
		exceptions, plain := read(t, "x.log", test.log)
		if got := brief(exceptions); got != test.want {
			t.Errorf("%s: it is read as\n%swanted\n%s", name, got, test.want)
		}
		if test.want == "" && len(plain) == 0 {
			t.Errorf("%s: its lines are lost", name)
		}
	}
}

// TestInColumn: a traceback that stands in a column of another program's output is read without the blanks before it.
func TestInColumn(t *testing.T) {
	for name, log := range map[string]string{
		"rich's log handler": `[03/12/24 10:11:12] ERROR    Training failed                   train.py:55
                             ╭─── Traceback (most recent call last) ───╮
                             │ /x/rows.py:3 in first                   │
                             │                                         │
                             │   2 def first(rows):                    │
                             │ ❱ 3 │   return rows[0]                  │
                             ╰─────────────────────────────────────────╯
                             IndexError: list index out of range
`,
		"rich's box on one line, and what was above it": strings.Repeat("step\n", 7) + "╭─── Traceback (most recent call last) ───╮ │ /x/rows.py:3 in first │ │ │ │ 2 def first(rows): │ │ ❱ 3 │ return rows[0] │ ╰──────╯ IndexError: list index out of range\n",
		"the launcher's list without its beginning": `Root Cause (first observed failure):
[0]:
  exitcode  : 1 (pid: 1234)
  error_file: /tmp/none/error.json
  traceback : Traceback (most recent call last):
    File "/x/rows.py", line 3, in first
      return rows[0]
  IndexError: list index out of range
`,
	} {
		exceptions, _ := read(t, "x.log", log)
		if got, want := brief(exceptions), "8-8:IndexError: list index out of range [1] /x/rows.py:3\n"; got != want {
			t.Errorf("%s: it is read as\n%swanted\n%s", name, got, want)
		}
	}
}

// TestMarkedCode: what Python marks in a source line is what failed there.
func TestMarkedCode(t *testing.T) {
	for _, c := range []struct{ code, marks, want string }{
		{"    idx = [classes[a] for a in answer]", "           ~~~~~~~^^^", "classes[a]"},
		{"    größe = cups[größe]", "            ~~~~^^^^^^^", "cups[größe]"},
		{"    return cups[0]", "           ~~~~^^^", "cups[0]"},
		{"    return pour(", "    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^", "return pour("}, // not of this line: nothing is marked
		{"    return pour(x)", "", "return pour(x)"},
	} {
		log := "Traceback (most recent call last):\n  File \"/x/a.py\", line 1, in f\n" + c.code + "\n"
		if c.marks != "" {
			log += c.marks + "\n"
		}
		exceptions, _ := read(t, "x.log", log+"KeyError: 'x'\n")
		if len(exceptions) != 1 || exceptions[0].Marked() != c.want || exceptions[0].Message != "'x'" {
			t.Errorf("%s: it is read as\n%smarked %q", c.code, outline(exceptions, ""), exceptions[0].Marked())
		}
	}
}

// TestCutOnBothSides: frames alone, without the lines before and after them, are an exception where the last statement raises one.
func TestCutOnBothSides(t *testing.T) {
	for code, want := range map[string]string{
		`assert cups, "no cups"`:         "AssertionError",
		`raise tea.PotError("no cups")`:  "tea.PotError",
		`raise PotError(why)`:            "",
		"pour(x)":                        "",
		"traceback.print_stack(limit=3)": "",
	} {
		exceptions, rest := read(t, "x.log", "  File \"/x/a.py\", line 1, in f\n    "+code+"\n")
		got := ""
		if len(exceptions) > 0 {
			got = exceptions[0].Type
		}
		if got != want || want == "" && len(rest) != 2 {
			t.Errorf("%s: %q instead of %q, and %d lines are given back", code, got, want, len(rest))
		}
	}
}

// TestCut: a traceback that stops before its last line has the type and the message that its last statement shows, with "…" where values
// fill it.
func TestCut(t *testing.T) {
	for _, c := range []struct{ code, typ, message string }{
		{"assert (boxes[:, 2] >= boxes[:, 0]).all()", "AssertionError", ""},
		{`raise tea.PotError("no cups")`, "tea.PotError", "no cups"},
		{"raise PotError('no cups')", "PotError", "no cups"},
		{`raise PotError(f"no {cups} in {self.pot(2):>3d}")`, "PotError", "no … in …"},
		{`raise PotError("no %s of %.2f" % (cups, x))`, "PotError", "no … of …"},
		{`raise PotError('no {}'.format(cups))`, "PotError", "no …"},
		{`raise PotError(why)`, "", ""},
		{`raise PotError(`, "", ""},
		{`assert cups, "no cups"`, "AssertionError", "no cups"},
		{`assert cups, f"no {cups}"`, "AssertionError", "no …"},
		{"pour(x)", "", ""},
	} {
		log := "Traceback (most recent call last):\n  File \"/x/a.py\", line 1, in f\n    " + c.code + "\n"
		exceptions, _ := read(t, "x.log", log)
		if len(exceptions) != 1 || exceptions[0].Type != c.typ || exceptions[0].Message != c.message {
			t.Errorf("%s: it is read as\n%s", c.code, outline(exceptions, ""))
		}
	}
}
