package traceback

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher/logline"
)

const (
	header = "Traceback (most recent call last):\n"
	place  = "  File \"a.py\", line 1, in f\n"
)

// lines are n lines of a format that takes a number.
func lines(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i+1)
	}
	return b.String()
}

func chainLen(e *Exception) int {
	n := 0
	for ; e != nil; e = e.Earlier {
		n++
	}
	return n
}

// TestLimits: what is at a limit is read as what it is, and what is one beyond is not.
func TestLimits(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	const (
		other  = "somebody else %d\n"
		indent = "  indented %d\n"
	)
	type result struct {
		exceptions []*Exception
		loose      []string
	}
	frames := func(r result) int { return len(r.exceptions[0].Frames) }
	messageLines := func(r result) int { return strings.Count(r.exceptions[0].Message, "\n") + 1 }
	count := func(r result) int { return len(r.exceptions) }
	loose := func(r result) int { return len(r.loose) }
	first := func(r result) int { return chainLen(r.exceptions[0]) }
	within := func(r result) int { return len(r.exceptions[0].Within) }
	code := func(r result) int { return len(r.exceptions[0].Frames[0].Code) }
	notebookHead := "KeyError" + strings.Repeat(" ", 20) + header
	for _, test := range []struct {
		name string
		log  func(n int) string
		get  func(result) int
		at   int // the limit
		want int // there
		more int // one beyond
	}{
		{"frames", func(n int) string { return header + lines(n, "  File \"a.py\", line %d, in f\n") + "KeyError: 1\n" }, frames, 300, 300, 300},
		{"the 76th frame", func(n int) string { return header + lines(n, "  File \"a.py\", line %d, in f\n") + "KeyError: 1\n" },
			func(r result) int { return r.exceptions[0].Frames[75].Line }, 300, 76, 77},
		{"lines of others between frames", func(n int) string { return header + place + lines(n, other) + place + "KeyError: 1\n" }, frames, 100, 2, 1},
		{"lines of IPython's traceback", func(n int) string { return notebookHead + lines(n, other) + "KeyError: 1\n" }, loose, 400, 0, 2},
		{"lines without a header", func(n int) string { return strings.Repeat(place, n-1) + "KeyError: 1\n" }, loose, 600, 0, 600},
		{"bytes without a header", func(n int) string {
			log := place + strings.Repeat("    "+x(59_996)+"\n", 4)
			rest := n - (len(log) - strings.Count(log, "\n")) - len("KeyError: 1")
			return log + "    " + x(rest-4) + "\nKeyError: 1\n"
		}, loose, 256 << 10, 0, 6},
		{"bytes of code", func(n int) string { return header + place + "    " + x(n) + "\nKeyError: 1\n" }, code, 1000, 1000, 1000},
		{"exceptions in a chain", func(n int) string {
			return strings.Repeat(header+place+"KeyError: 1\n\nDuring handling of the above exception, another exception occurred:\n\n", n-1) + header + place + "KeyError: 1\n"
		}, first, 65, 65, 65},
		{"exceptions relayed in one message", func(n int) string {
			return "x.RemoteTraceback: \n\"\"\"\n" + strings.Repeat(header+place+"KeyError: 1\n", n) + "\"\"\"\n"
		}, within, 64, 63, 63},
		{"empty lines between frames", func(n int) string { return header + place + strings.Repeat("\n", n) + place + "KeyError: 1\n" }, frames, 2, 2, 1},
		{"empty lines in an indented message", func(n int) string { return "KeyError: 1\n  a\n" + strings.Repeat("\n", n) + "  b\n" }, messageLines, 16, 19, 2},
		{"bytes of a line with a frame", func(n int) string { return header + "  File \"" + x(n-17) + "\", line 1\n" + "KeyError: 1\n" }, frames, 8 << 10, 1, 0},
		{"lines of a message", func(n int) string { return "KeyError: 1\n" + lines(n-1, indent) }, messageLines, 800, 800, 800},
		{"lines of a message that are not indented", func(n int) string { return "KeyError: 1\n" + lines(n, other) }, messageLines, 60, 61, 61},
		{"tracebacks relayed in each other's messages", func(n int) string { return strings.Repeat(header+place+"ValueError: x:\n", n) }, first, 8, 8, 8},
		{"tracebacks that another one interrupted", func(n int) string { return strings.Repeat(header+place, n) }, count, 16, 16, 16},
		{"lines of an exception group", func(n int) string {
			return "+ Exception Group " + header + "| ExceptionGroup: x\n" + lines(n-1, "|   text %d\n")
		}, loose, 20_000, 0, 1},
		{"members of an exception group", func(n int) string {
			return "+ Exception Group " + header + "| ExceptionGroup: x\n+-+--- 1 ---\n" + lines(n, "  | KeyError: %d\n  +--- 2 ---\n")
		}, within, 256, 255, 255},
		{"exception groups in each other", func(n int) string {
			log := "+ Exception Group " + header + "| ExceptionGroup: x\n"
			for i := 1; i < n; i++ {
				m := strings.Repeat("  ", i)
				log += m[2:] + "+-+--- 1 ---\n" + m + "| ExceptionGroup: x\n"
			}
			return log
		}, first, 12, 12, 12},
		{"bytes of a header", func(n int) string {
			return "Traceback of " + strings.Repeat(" ", n-len("Traceback of ")) + "(most recent call last):\n" + place + "KeyError: 1\n"
		}, loose, 80, 0, 1},
		{"bytes of a type", func(n int) string { return header + place + x(n-6) + ".Error: 1\n" }, loose, 200, 0, 1},
		{"bytes of what a type has in parentheses", func(n int) string { return header + place + "a.Error(" + x(n-2) + "): 1\n" }, loose, 100, 0, 1},
		{"characters of a ruler", func(n int) string { return "a.ChildFailedError:\n" + strings.Repeat("=", n) + "\n\n\n  x\n" }, loose, 19, 1, 0},
		{"characters of mpirun's ruler", func(n int) string { return "KeyError: 1\n" + strings.Repeat("-", n) + "\n" }, loose, 39, 0, 1},
	} {
		for n, want := range map[int]int{test.at: test.want, test.at + 1: test.more} {
			var r result
			r.exceptions, r.loose = read(t, "x", test.log(n))
			if len(r.exceptions) == 0 {
				t.Errorf("%d %s: no exception", n, test.name)
			} else if got := test.get(r); got != want {
				t.Errorf("%d %s: got %d, want %d", n, test.name, got, want)
			}
		}
	}
}

// TestPatience: how many lines of others a writer may be silent for, alone or with others that have a traceback open.
func TestPatience(t *testing.T) {
	for _, test := range []struct {
		name, begin string
		writers     int // with an open traceback, who print by turns
		silence     int // number of the next line less that of the last
	}{
		{"frames", header, 1, 208}, {"frames of two", header, 2, 216}, {"a message", "KeyError: 1:\n", 1, 20}, {"messages of two", "KeyError: 1:\n", 2, 28},
	} {
		for silence, want := range map[int]bool{test.silence: true, test.silence + 1: false} {
			a := NewAssembler(func(*Exception, logline.Line) {}, nil)
			for w := range test.writers {
				a.Feed(logline.Line{Number: 1, Writer: fmt.Sprint(w), Text: strings.TrimSpace(test.begin)})
			}
			a.Expire(1 + silence)
			if a.Has(logline.Line{Writer: "0"}) != want || a.Busy() != want {
				t.Errorf("%s: open after %d lines: %v", test.name, silence, !want)
			}
		}
	}
}

// TestLongMessage keeps the first and the last of a message that is too long.
func TestLongMessage(t *testing.T) {
	for _, test := range []struct{ lines, size, kept int }{{800, 1, 800}, {801, 1, 800}, {4, 4 << 10, 4}, {5, 4 << 10, 4}, {4, 4<<10 + 1, 2}} {
		var m message
		for range test.lines {
			m.add(logline.Line{}, strings.Repeat("x", test.size))
		}
		if m.lines() != test.kept {
			t.Errorf("of %d lines of %d bytes %d are kept, want %d", test.lines, test.size, m.lines(), test.kept)
		}
	}
}

// TestBefore: what a writer printed before a traceback is asked for at its first line, once for all that it relays.
func TestBefore(t *testing.T) {
	var asked []int
	var got []string
	a := NewAssembler(func(e *Exception, _ logline.Line) {
		if e != nil {
			got = append(got, e.Type+" "+e.Before())
		}
	}, func(l logline.Line) func() string {
		asked = append(asked, l.Number)
		return func() string { return fmt.Sprint("before ", l.Number) }
	})
	for i, text := range strings.Split("x\n"+header+place+"KeyError: 1:\nOriginal "+header+place+"ValueError: 2\n\n\n\ny", "\n") {
		a.Feed(logline.Line{Number: i + 1, Text: text})
	}
	a.Close()
	if fmt.Sprint(asked, got) != "[2] [KeyError before 2]" {
		t.Errorf("asked at %v, got %q", asked, got)
	}
}

// TestAssemblerIsBounded feeds it more of everything than it may hold back.
func TestAssemblerIsBounded(t *testing.T) {
	const n = 5000
	many := func(format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for name, log := range map[string]string{
		"frames":   "Traceback (most recent call last):\n" + many("  File \"a.py\", line %d, in f\n") + "KeyError: 1\n",
		"headless": many("  File \"a.py\", line %d, in f\n"),
		"message":  "KeyError: 1\n" + many("  line %d\n"),
		"chain":    many("KeyError: %d\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n"),
		"relayed":  many("KeyError: %d:\nOriginal Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n"),
		"group":    "+ Exception Group Traceback (most recent call last):\n| ExceptionGroup: x\n+-+--- 1 ---\n" + many("  | KeyError: %d\n  +--- 2 ---\n"),
		"stalled":  many("Traceback (most recent call last):\n  File \"a.py\", line %d, in f\n"),
	} {
		exceptions, _ := read(t, name, log)
		chain := 0
		for _, e := range exceptions {
			if len(e.Frames) > maxFrames || len(e.Lines) > 2*maxMessageLines || len(e.Message) > 3*maxMessageBytes || len(e.Within) > maxGroupMembers {
				t.Errorf("%s: %d frames, %d lines, %d bytes, %d members", name, len(e.Frames), len(e.Lines), len(e.Message), len(e.Within))
			}
			for ; e != nil; e = e.Earlier {
				chain++
			}
		}
		if chain > 2*maxChain {
			t.Errorf("%s: %d exceptions in chains", name, chain)
		}
	}
	a := NewAssembler(func(*Exception, logline.Line) {}, nil)
	for i := range 2000 {
		a.Feed(logline.Line{Number: i + 1, Writer: fmt.Sprint(i), Text: logline.TracebackHeader + ":"})
	}
	if len(a.open) != 1024 || len(a.order) != 1024 {
		t.Errorf("%d writers", len(a.open))
	}
}
