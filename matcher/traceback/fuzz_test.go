package traceback

import (
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/logline/loglinetest"
)

func FuzzAssembler(f *testing.F) {
	f.Add("Traceback (most recent call last):\n  File \"a\", line 1, in f\nKeyError: 1\n\nDuring handling of the above exception, another exception occurred:\n")
	f.Add("  + Exception Group Traceback (most recent call last):\n  | E: x\n  +-+---- 1 ----\n    | TypeError: x\n")
	f.Add("[rank0]: X: ['Traceback (most recent call last):\\n', 'KeyError']\nRuntimeError: a:\nOriginal Traceback (most recent call last):\n  File \"\"")
	f.Add("~ Traceback (most recent call last):\n~   File \"a\", line 1, in f\n~\n~ KeyError: 1\n")
	f.Add("╭ Traceback (most recent call last) ╮\n│ a.py:1 in f │\n╰\nE: x\nKeyError   Traceback (most recent call last)\n")
	f.Fuzz(func(t *testing.T, log string) {
		lines, taken := 0, 0
		a := NewAssembler(func(e *Exception, _ logline.Line) {
			if e == nil {
				taken++
			}
			for n := 0; e != nil; e, n = e.Earlier, n+1 {
				if n > len(log) {
					t.Fatal("the chain has no end")
				}
				if len(e.Frames) > maxFrames {
					t.Fatalf("%d frames", len(e.Frames))
				}
			}
		}, nil)
		if _, err := loglinetest.ReadLines(strings.NewReader(log), "f", func(l logline.Line) error { lines++; a.Feed(l); return nil }); err != nil {
			t.Fatal(err)
		}
		a.Close()
		if taken > lines || len(a.open)+len(a.order) > 0 {
			t.Fatalf("%d of %d lines, %d left open", taken, lines, len(a.open))
		}
	})
}

// vocabulary are the lines that mean something to the assembler.
var vocabulary = []string{
	"", " ", "text", "step 1: loss 2", "Traceback (most recent call last):", "  Traceback (most recent call last):", "~1 Traceback (most recent call last):",
	"~2   File \"a.py\", line 1, in f", "~3", "~4 KeyError: 1", "  File \"a.py\", line 1, in f", "    File \"a.py\", line 1, in f", "    code()", "    ^^^^",
	"  [Previous line repeated 9 more times]", "KeyError: 'x'", "KeyError", "  ValueError: x", "x.y.ZError:", "RayTaskError(KeyError): ray::f()", "RuntimeErrorRuntimeError: : x",
	"The above exception was the direct cause of the following exception:", "During handling of the above exception, another exception occurred:",
	"Original Traceback (most recent call last):", "-- Process 1 terminated with the following error:", `"""`, "Exception ignored in: x", "Fatal Python error: Aborted",
	"Current thread 0x1 (most recent call first):", "Thread 0x2 (most recent call first):", "  File \"a.py\", line 1 in f", "terminate called after throwing an instance of 'A'", "  what():  x",
	"Exception raised from f at x.cpp:1 (most recent call first):", "frame #0: f + 0x1", "====================", "--------------------", "  time      : x", "  rank      : 1 (local_rank: 1)",
	"  traceback : Traceback (most recent call last):", "Root Cause (first observed failure):", "[0]:", "  + Exception Group Traceback (most recent call last):", "  | ExceptionGroup: x (1 sub-exception)",
	"  +-+---------------- 1 ----------------", "    | TypeError: x", "    +---------------- 2 ----------------", "    +------------------------------------", "╭──── Traceback (most recent call last) ────╮",
	"│ /w/a.py:1 in f │", "│ ❱ 1 │ code │", "╰────╯", "KeyError                              Traceback (most recent call last)", "Cell In[1], line 2", "----> 2 f()", "E       KeyError: x", "E       more",
	"['Traceback (most recent call last):\\n', '  File \"a.py\", line 1, in f\\n', 'KeyError: 1\\n']", "W1120 14:41:01.988000 2175 a.py:1] Traceback (most recent call last):",
	"W1120 14:41:01.988000 2175 a.py:1]   File \"a.py\", line 1, in f", "W1120 14:41:01.988000 2175 a.py:1] KeyError: 1", "[rank1]: Traceback (most recent call last):", "[rank1]:   File \"a.py\", line 1, in f", "[rank1]: KeyError: 1", "[rank1]: ",
	"  File \"a.py\", line 3", "SyntaxError: x", "{'loss': 1}", " 10%|#  | 1/2", "Killed",
}

// FuzzAssemblerLines puts meaningful lines in any order.
func FuzzAssemblerLines(f *testing.F) {
	f.Add([]byte{4, 10, 12, 15, 0, 21, 0, 4, 10, 16})
	f.Add([]byte{42, 43, 44, 4, 10, 45, 46, 45, 47, 2})
	f.Add([]byte{61, 4, 62, 10, 63, 15, 64, 65})
	f.Fuzz(func(t *testing.T, choice []byte) {
		var log strings.Builder
		for _, c := range choice {
			log.WriteString(vocabulary[int(c)%len(vocabulary)] + "\n")
		}
		shown := map[int]bool{}
		a := NewAssembler(func(e *Exception, l logline.Line) {
			if e == nil {
				if l.Number < 1 || shown[l.Number] {
					t.Fatalf("line %d %q is handed on twice:\n%s", l.Number, l.Text, log.String())
				}
				shown[l.Number] = true
			}
			for n := 0; e != nil; e, n = e.Earlier, n+1 {
				if n > 2*len(choice)+2 {
					t.Fatalf("the chain has no end:\n%s", log.String())
				}
				if e.Type == "" && len(e.Frames) == 0 || e.Line.Number < 1 || e.Line.Number > len(choice) || len(e.Lines) > 0 && e.Last().Number < e.Line.Number {
					t.Fatalf("%+v:\n%s", e, log.String())
				}
			}
		}, nil)
		if _, err := loglinetest.ReadLines(strings.NewReader(log.String()), "f", func(l logline.Line) error { a.Feed(l); return nil }); err != nil {
			t.Fatal(err)
		}
		a.Close()
		if len(a.open)+len(a.order) > 0 {
			t.Fatalf("%d left open", len(a.open))
		}
	})
}
