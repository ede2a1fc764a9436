package repair_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gpu-triage/triage/matcher/repair"
)

// printed is what programs print: with frames, a long message, a table and a ruler.
const printed = `starting to train with the settings of /home/user/projects/vision/configs/experiment-17/base.yaml on 8 GPUs of the node
[rank0]: Traceback (most recent call last):
[rank0]:   File "/home/user/projects/vision/lib/python3.11/site-packages/accelerate/utils/operations.py", line 819, in forward
[rank0]:     return model_forward(*args, **kwargs)
[rank0]: RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu! (when checking it)
+-----------------------------------------------------------------------------------------+
| a table                                                                                 |
==========================================================================================
the end of a log, which is long enough that it has to be folded once more, and it ends in the middle of nowhere
`

// repaired is a text without what is wrong with it, and the lines that were repaired as they stood in it.
func repaired(t *testing.T, text string) (whole string, originals map[int][]string) {
	t.Helper()
	originals = make(map[int][]string)
	damage := repair.Of([]byte(text))
	r := damage.Reader(iotest.OneByteReader(strings.NewReader(text)), func(number int, lines []string) {
		originals[number] = append([]string(nil), lines...)
	})
	all, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if r.Bytes() != int64(len(text)) {
		t.Errorf("%d bytes were read of %d", r.Bytes(), len(text))
	}
	var kept []string
	for line := range strings.Lines(string(all)) {
		if !repair.IsGap([]byte(strings.TrimRight(line, "\r\n"))) {
			kept = append(kept, line)
		}
	}
	if got, want := strings.Count(string(all), "\n"), strings.Count(text, "\n"); got != want {
		t.Errorf("there are %d lines, and %d in the source: numbers would change", got, want)
	}
	return strings.Join(kept, ""), originals
}

// cut cuts lines at a width.
func cut(text string, width int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		for len(strings.TrimRight(line, "\n")) > width {
			b.WriteString(line[:width] + "\n")
			line = line[width:]
		}
		b.WriteString(line)
	}
	return b.String()
}

// fold folds lines between words, with or without the space at the end.
func fold(text string, width int, space string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		for len(strings.TrimRight(line, "\n")) > width {
			at := strings.LastIndexByte(line[:width], ' ')
			if strings.TrimSpace(line[:at+1]) == "" || strings.HasSuffix(line[:at], "File") {
				break // a word that is too long
			}
			b.WriteString(line[:at] + space + "\n")
			line = line[at+1:]
		}
		b.WriteString(line)
	}
	return b.String()
}

func TestWhole(t *testing.T) {
	if damage := repair.Of([]byte(printed)); !damage.None() {
		t.Errorf("something is wrong with a log that is whole: %+v", damage)
	}
}

func TestCut(t *testing.T) {
	for _, width := range []int{95, 97, 100, 110} {
		if got, _ := repaired(t, cut(printed, width)); got != printed {
			t.Errorf("cut at %d:\n%s", width, got)
		}
	}
}

func TestFolded(t *testing.T) {
	for _, width := range []int{125, 120} {
		text := fold(strings.ReplaceAll(printed, "819", "819, below many others that are called like it"), width, " ")
		if got, _ := repaired(t, text); got != strings.ReplaceAll(printed, "819", "819, below many others that are called like it") {
			t.Errorf("folded at %d:\n%s", width, got)
		}
	}
}

// TestMargin: a quotation may have been folded before it was quoted.
func TestMargin(t *testing.T) {
	for _, margin := range []string{"> ", "    ", ">     "} {
		text := margin + strings.ReplaceAll(strings.TrimSuffix(cut(printed, 100), "\n"), "\n", "\n"+margin) + "\n"
		if got, _ := repaired(t, text); got != printed {
			t.Errorf("behind %q:\n%s", margin, got)
		}
	}
	frames := "  File \"a.py\", line 3, in f\n    g()\n  File \"b.py\", line 5, in g\n    h()\n"
	if damage := repair.Of([]byte(frames)); !damage.None() {
		t.Errorf("frames are set in without a margin: %+v", damage)
	}
}

func TestCharacters(t *testing.T) {
	const want = "TypeError: f() got an unexpected keyword argument 'x' -- see \"a\" < b & c?d=1&lt=2\nmore\n"
	for name, text := range map[string]string{
		"HTML":       strings.NewReplacer("& ", "&amp; ", "<", "&lt;", "'", "&#x27;", `"`, "&quot;").Replace(want),
		"HTML twice": strings.NewReplacer("& ", "&amp;amp; ", "<", "&amp;lt;", "'", "&#39;", `"`, "&quot;").Replace(want),
		"typeset":    strings.NewReplacer(" 'x' ", " ‘x’ ", `"a"`, "“a”", "--", "—", "keyword argument", "keyword\u00a0argument").Replace(want),
	} {
		got, originals := repaired(t, text)
		if got != want {
			t.Errorf("%s: %q", name, got)
		}
		if first, _, _ := strings.Cut(text, "\n"); len(originals[1]) != 1 || originals[1][0] != first {
			t.Errorf("%s: the line in the source is %q", name, originals[1])
		}
	}
}

// TestUnmarked: a page that knows Markdown takes the underscores of __init__ for bold letters.
func TestUnmarked(t *testing.T) {
	const want = "TypeError: Args.__init__() got an unexpected keyword argument 'x'\nTypeError: __init__() missing 1 required positional argument: 'y'\n"
	for _, shown := range []string{"init", "**init**"} {
		if got, _ := repaired(t, strings.ReplaceAll(want, "__init__", shown)); got != want {
			t.Errorf("%s: %q", shown, got)
		}
	}
	for _, whole := range []string{want, "wandb.init() did not answer\n", "reinit() got an unexpected end\n"} {
		if damage := repair.Of([]byte(whole)); !damage.None() {
			t.Errorf("nothing is missing in %q: %+v", whole, damage)
		}
	}
}

// TestOriginals: a line keeps its number, and what it is in the source.
func TestOriginals(t *testing.T) {
	text := cut(printed, 100)
	_, originals := repaired(t, text)
	lines := strings.Split(text, "\n")
	for number, pieces := range originals {
		for i, piece := range pieces {
			if lines[number+i-1] != piece {
				t.Errorf("line %d is %q, not %q", number+i, lines[number+i-1], piece)
			}
		}
	}
	if len(originals) != 4 {
		t.Errorf("%d lines were folded, not 4: %v", len(originals), originals)
	}
}

// TestLooksFolded: what is as long as the longest line by chance, or made so.
func TestLooksFolded(t *testing.T) {
	row := "|   0  NVIDIA H100 80GB HBM3          On  |   00000000:19:00.0 Off |                    0 |\n"
	for name, text := range map[string]string{
		"a table":          row + row + row + "no processes\n",
		"a ruler":          strings.Repeat("=", 80) + "\nnothing\n" + strings.Repeat("=", 80) + "\nat all\n",
		"a list":           strings.Repeat("/opt/venv/lib/python3.11/site-packages/torch/distributed/elastic/multiprocessing.py\n", 4),
		"a bar":            "Epoch 1: 12%|#####     | 12/100 [00:01<00:08, 10.2it/s, loss=2.3, some more of what it is like to\nEpoch 1: 13%|#####\n",
		"a program":        strings.Repeat("x", 78) + "y.\nsrun: error: node1: task 0: Exited with exit code 1\n",
		"a copy":           "labels.json" + strings.Repeat(" ", 93) + "100%  392KB   1.3MB/s   00:00\nsudo: nvidia-docker: command not found\n",
		"a compiler":       "ERROR: /w/BUILD:5:11: Compiling a.cc failed: (Exit 1): gcc failed: error executing command\na.cc:3:10: fatal error: foo.h: No such file or directory\n",
		"leaders":          "trim trailing whitespace" + strings.Repeat(".", 49) + "Passed\nblack" + strings.Repeat(".", 68) + "Failed\nreformatted a.py\n",
		"another sentence": strings.Repeat("word ", 15) + "last.\nA new sentence begins here\n",
	} {
		if got, _ := repaired(t, text); got != text {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

// TestLongLine: a line that is too long is passed on as it is, whatever comes before and after it.
func TestLongLine(t *testing.T) {
	long := strings.Repeat("z", 1<<20)
	text := cut(printed, 100) + long + "\n" + cut(printed, 100)
	if got, _ := repaired(t, text); got != printed+long+"\n"+printed {
		t.Error("a long line changes what is around it")
	}
}

func FuzzReader(f *testing.F) {
	for _, text := range []string{printed, cut(printed, 80), fold(printed, 100, " "), "> a\n> b\r\n&lt;\n", "‘a’\x1f\n\x1f\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		damage := repair.Of(text)
		all, err := io.ReadAll(damage.Reader(bytes.NewReader(text), func(int, []string) {}))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := bytes.Count(all, []byte{'\n'}), bytes.Count(text, []byte{'\n'}); got != want {
			t.Fatalf("%d lines became %d: %+v", want, got, damage)
		}
	})
}

func BenchmarkOf(b *testing.B) {
	var text strings.Builder
	for i := range 600 {
		fmt.Fprintf(&text, "[rank%d]: 2026-11-20 10:00:%02d step %d loss 2.31 tokens per second 17512 and so on, as steps do\n", i%8, i%60, i)
	}
	head := []byte(text.String())
	b.SetBytes(int64(len(head)))
	for b.Loop() {
		repair.Of(head)
	}
}

// TestEscapes: an editor of Markdown put a backslash before what it would take for marks, and behind lines that end.
func TestEscapes(t *testing.T) {
	const escaped = "it gives\n\nTraceback (most recent call last):\\\nFile \"D:\\\\a\\\\b.py\", line 7, in \\<module\\>\\\nf(\\*x)\nKeyError: 'a\\_b'\n"
	const want = "it gives\n\nTraceback (most recent call last):\nFile \"D:\\a\\b.py\", line 7, in <module>\nf(*x)\nKeyError: 'a_b'\n"
	if got, _ := repaired(t, escaped); got != want {
		t.Errorf("read as %q, want %q", got, want)
	}
	if got, _ := repaired(t, "C:\\_x\\(y)\n"); got != "C:\\_x\\(y)\n" {
		t.Errorf("a path that nobody escaped is read as %q", got)
	}
}

// TestBlocks: code that is set in and a quotation lose their margin between sentences; what a program sets in itself keeps it.
func TestBlocks(t *testing.T) {
	for text, want := range map[string]string{
		"see here:\n\n    Traceback\n      File\n    Error\n\nwhy?\n":            "see here:\n\nTraceback\n  File\nError\n\nwhy?\n",
		"see here:\n\n> a pot\n>\n> is cold\n\nwhy?\n":                           "see here:\n\na pot\n\nis cold\n\nwhy?\n",
		"it says:\n> a pot\n> is cold\nwhy?\n":                                   "it says:\na pot\nis cold\nwhy?\n",
		"type it in\n> a pot\n> is cold\n":                                       "type it in\n> a pot\n> is cold\n",
		"see here:\n\n    x\n  y\nz\n":                                           "see here:\n\n    x\n  y\nz\n",
		"ValueError: in the code: Error: \n\n    pot.py\n    lid\n\nend\n":       "ValueError: in the code: Error: \n\n    pot.py\n    lid\n\nend\n",
		"a list\n    of pots\nand more\n":                                        "a list\n    of pots\nand more\n",
		"run it\n\n> make\n\nend\n":                                              "run it\n\n> make\n\nend\n",
		"pip says\n  what is\n\n      of a build\n\n  and on\n":                  "pip says\n  what is\n\n      of a build\n\n  and on\n",
		"first\n\n    code\n\nthen\n\n        deeper\n            down\n\nend\n": "first\n\ncode\n\nthen\n\ndeeper\n    down\n\nend\n",
	} {
		if got, _ := repaired(t, text); got != want {
			t.Errorf("%q is read as %q, want %q", text, got, want)
		}
	}
}
