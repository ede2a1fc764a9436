package reading_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher/matchertest"
)

// TestShortKeywords: a keyword of fewer than 8 bytes is looked for in exceptions and in the last lines, and nowhere else.
func TestShortKeywords(t *testing.T) {
	if testing.Short() {
		t.Skip("TestReadEverything reads such logs")
	}
	engine := matchertest.Story(t)
	many := filler(rand.New(rand.NewPCG(1, 1)), 6000)
	frames := "Traceback (most recent call last):\n  File \"main.py\", line 3, in f\n    raise OSError('Killed')\n"
	for name, c := range map[string]struct {
		log  string
		line int // of the evidence, 0 when nothing is found
	}{
		"last line":                      {many + "Killed\n", 6001},
		"last line, not ended":           {many + "Killed", 6001},
		"only line":                      {"Killed", 1},
		"within the last lines":          {many + "Killed\n" + strings.Repeat("bye\n", 31), 6001},
		"before the last lines":          {many + "Killed\n" + strings.Repeat("bye\n", 32), 0},
		"among the first lines":          {"Killed\n" + many, 0},
		"an exception":                   {many + frames + "OSError: Killed\n" + many, 6004},
		"in a line that is in traceback": {many + frames + "ValueError: bad\n", 6004},
		"survived":                       {many + "Killed\n" + step + strings.Repeat("bye\n", 3), 0},
		"after progress":                 {many + step + "Killed\n", 6002},
		"known to be harmless":           {many + "libfoo: Killed\n", 0},
		"on a line that is read anyway":  {many + "ERROR: Killed, Frontend error\n", 6001},
		"a bar before it":                {many + "1%\r2%\rKilled\r\n", 6001},
	} {
		t.Run(name, func(t *testing.T) {
			judged(t, engine, []byte(c.log))
			reading := engine.Begin()
			if err := reading.Read(context.Background(), "a.log", strings.NewReader(c.log)); err != nil {
				t.Fatal(err)
			}
			d := reading.Report().Diagnoses
			switch {
			case c.line == 0 && len(d) > 0 && d[0].ID == "killed":
				t.Errorf("found in line %d", d[0].Evidence[0].Line)
			case c.line > 0 && (len(d) == 0 || d[0].Evidence[0].Line != c.line):
				t.Errorf("not found in line %d: %v", c.line, d)
			case name == "in a line that is in traceback" && d[0].ID == "killed":
				t.Error("found in a line of a traceback")
			}
		})
	}
}

// TestShortKeywordsWhileLogGrows: when a log is silent, what stands last in it is its end until more comes.
func TestShortKeywordsWhileLogGrows(t *testing.T) {
	engine := matchertest.Story(t)
	reading := engine.Begin()
	tail := reading.Tail("a.log")
	add := func(text string, want int) {
		t.Helper()
		if _, err := tail.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		tail.Settle()
		tail.Settle()
		d := reading.Report().Diagnoses
		if len(d) != want {
			t.Fatalf("%d diagnoses after %.20q", len(d), text)
		}
		if want > 0 && (d[0].ID != "killed" || d[0].Count != 1) {
			t.Errorf("%s, %d times, after %.20q", d[0].ID, d[0].Count, text)
		}
	}
	many := filler(rand.New(rand.NewPCG(2, 2)), 6000)
	add(many, 0)
	add("Killed", 0) // may go on
	add("\n", 1)
	add("bye\n", 1)
	add(step, 0) // it was another program
	tail.Close()
	if d := reading.Report().Diagnoses; len(d) != 0 {
		t.Errorf("%s is diagnosed at the end", d[0].ID)
	}
}
