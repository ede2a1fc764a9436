package logline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// child is what a program printed.
var child = []string{
	"loading the model", "step 1 loss 2.31", "", `  indented "quoted" text`, TracebackHeader + ":", `  File "/home/user/train.py", line 88, in <module>`, "    main()",
	`  File "/home/user/train.py", line 41, in main`, "    y = f(x)", "FileNotFoundError: [Errno 2] No such file or directory: '/data/x.bin'",
}

// invented are wrappers that no list has.
var invented = map[string]func(i int, line string) string{
	"a stream":       func(i int, l string) string { return fmt.Sprintf("10:00:%02d trainer/worker-3 stdout> %s", i, l) },
	"a table":        func(_ int, l string) string { return "| node07 | rank 3 | " + l },
	"a closed table": func(_ int, l string) string { return "| node07 | rank 3 | " + l + " |" },
	"a node":         func(_ int, l string) string { return "node07:gpu3> " + l },
	"braces":         func(_ int, l string) string { return "{rank=3} " + l },
	"logfmt": func(i int, l string) string {
		return fmt.Sprintf(`time="2026-11-20T10:00:%02dZ" level=info msg=%q`, i, l)
	},
	"XML": func(i int, l string) string { return fmt.Sprintf(`<line n="%d">%s</line>`, i, l) },
	"CSV": func(i int, l string) string {
		return fmt.Sprintf(`2026-11-20 10:00:%02d,node7,"%s"`, i, strings.ReplaceAll(l, `"`, `""`))
	},
	"tabs":          func(i int, l string) string { return fmt.Sprintf("2026-11-20 10:00:%02d\tnode7\tstderr\t%s", i, l) },
	"an epoch":      func(i int, l string) string { return fmt.Sprintf("1763632800.%03d E %s", i, l) },
	"supervisor":    func(i int, l string) string { return fmt.Sprintf("10:00:%02d,123 DEBG? 'train' output: %s", i, l) },
	"arrows":        func(i int, l string) string { return fmt.Sprintf("worker-%d » %s", i%3, l) },
	"logging, INFO": func(i int, l string) string { return fmt.Sprintf("2026-11-20 10:00:%02d,123 - INFO - %s", i, l) },
	"INFO":          func(_ int, l string) string { return "[INFO] " + l },
	"INFO:root":     func(_ int, l string) string { return "INFO:root:" + l },
	"DeepSpeed": func(i int, l string) string {
		return fmt.Sprintf("[2026-11-20 10:00:%02d,123] [INFO] [runner.py:590:main] %s", i, l)
	},
	"JSON": func(_ int, l string) string {
		return inJSON(map[string]any{"jsonPayload": map[string]any{"message": l}})
	},
	"a stack": func(i int, l string) string {
		return "[pod/job-worker-3/pytorch] " + inJSON(map[string]any{"log": fmt.Sprintf("2026-11-20 10:00:%02d - launcher - INFO - [rank3]: %s\n", i, l), "stream": "stderr"})
	},
}

func inJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// cleaned are the texts of all lines of a log.
func cleaned(log string) []Line {
	var lines []Line
	form := Sniff("x", []byte(log))
	for n, raw := range strings.Split(log, "\n") {
		form.Clean(n+1, []byte(raw), func(l Line) error {
			lines = append(lines, l)
			return nil
		})
	}
	return lines
}

func bodies(lines []Line) []string {
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[i] = l.Body()
	}
	return texts
}

// TestLearnedWrappers: what stands before all lines of a child is peeled, and nothing of the child is.
func TestLearnedWrappers(t *testing.T) {
	for name, wrap := range invented {
		var log []string
		for i, line := range child {
			log = append(log, wrap(i, line))
		}
		lines := cleaned(strings.Join(log, "\n"))
		if got := bodies(lines); !slices.Equal(got, child) {
			t.Errorf("%s: got\n%q", name, got)
		}
		for _, l := range lines {
			if l.Level != "" {
				t.Errorf("%s: the level is %q", name, l.Level)
				break
			}
		}
		if last := lines[len(lines)-1]; strings.Contains(log[0], "rank") && last.Rank != 3 {
			t.Errorf("%s: the rank is %d", name, last.Rank)
		}
	}
}

// TestUnwrapped: of each line its text is left, and a source without learned wrappers is as it was.
func TestUnwrapped(t *testing.T) {
	plain := strings.Join(child, "\n") + "\n"
	if got := string(Sniff("x", []byte(plain)).Unwrapped([]byte(plain))); got != plain {
		t.Errorf("got %q", got)
	}
	var log strings.Builder
	for i, line := range child {
		log.WriteString(invented["logfmt"](i, line) + "\n")
	}
	if got := string(Sniff("x", []byte(log.String())).Unwrapped([]byte(log.String()))); got != plain {
		t.Errorf("got %q", got)
	}
}

// TestSharedHeader: an error without a traceback is the child's when nearly all lines have the same header.
func TestSharedHeader(t *testing.T) {
	const failed = "FileNotFoundError: no such file: 'x.bin'"
	for name, wrap := range invented {
		var log []string
		for i := range 12 {
			log = append(log, wrap(i, fmt.Sprintf("step %d loss %d", i, 12-i)))
		}
		lines := cleaned(strings.Join(append(log, wrap(12, failed)), "\n"))
		if got := lines[12]; got.Body() != failed || got.Level != "" {
			t.Errorf("%s: got %q %q", name, got.Level, got.Body())
		}
	}
}

// TestConstantHeader: the header of a logger that all lines have is peeled as far as all have it, also where a word of the program looks like
// a part of it, and where lines are empty.
func TestConstantHeader(t *testing.T) {
	const header = "2026-11-20 10:00:00.123 | INFO     | __main__:main:42 - "
	texts := []string{"error: expected pattern", "", " --> m.rs:1:17", "error: aborting"}
	for _, header := range []string{header, "2026-11-20 10:00:00,123 - INFO - ", "[INFO] ", "INFO:root:"} {
		if got := bodies(cleaned(header + strings.Join(texts, "\n"+header))); !slices.Equal(got, texts) {
			t.Errorf("%q: got %q", header, got)
		}
	}
}

// TestNoWrapper: what only looks like one is left as it is.
func TestNoWrapper(t *testing.T) {
	for name, log := range map[string]string{
		"a sentence":              "training failed: RuntimeError: x",
		"an INFO record in a log": "INFO:root:starting\nINFO:data:reading\nDEBUG:net:open\nINFO:net:ValueError: bad answer, tried again\nINFO:root:done\nWARNING:root:slow\nINFO:a:b\nINFO:c:d\nDEBUG:e:f",
		"a warning, each line":    "W1120 14:41:02.1 75 a.py:9] " + strings.Join(child[4:], "\nW1120 14:41:02.1 75 a.py:9] "),
		"a group":                 "  + Exception Group Traceback (most recent call last):\n  |   File \"a.py\", line 1, in f\n  |   File \"a.py\", line 2, in g",
		"a diff":                  "+Traceback (most recent call last):\n+  File \"a.py\", line 1, in f\n+  File \"a.py\", line 2, in g",
		"a logger's own":          "INFO x\n2026-11-20 10:00:00,123 - INFO - Traceback (most recent call last):\n" + strings.Join(child[5:], "\n"),
		"ordinary lines":          strings.Join(child, "\n"),
	} {
		if got := Sniff("x", []byte(log)).learned; len(got) > 0 {
			t.Errorf("%s: %q is learned as a wrapper", name, got[0].key)
		}
	}
}

// TestRecordsInJSON: text, level, rank, host and time of a record under their usual names.
func TestRecordsInJSON(t *testing.T) {
	traceback := strings.Join(child[4:], "\n")
	for raw, want := range map[string][]string{
		inJSON(map[string]any{"event": traceback, "level": "info"}):                       child[4:],
		inJSON(map[string]any{"msg": "failed", "exc_info": traceback}):                    append([]string{"failed"}, child[4:]...),
		`{"level":"error","msg":"no pod","error":"image is missing"}`:                     {"no pod: image is missing"},
		`{"level":"error","msg":"no pod: denied","err":"denied"}`:                         {"no pod: denied"},
		`{"msg":"done","error":null}`:                                                     {"done"},
		inJSON(map[string]any{"textPayload": "a\n\nb\n"}):                                 {"a", "", "b"},
		inJSON(map[string]any{"message": "1%\r2%"}):                                       {"1%", "2%"},
		`[pod/a-1/b] {"line":"[rank2]: x"}`:                                               {"x"},
		`{"cells":[{"outputs":[{"text":["a\n","b\n"]},{"traceback":["E1","E2"]}]}]}`:      {"a", "b", "", "E1", "E2"},
		`{"loss": 2.5, "step": 3}`:                                                        {`{"loss": 2.5, "step": 3}`},
		`{"message":"cut`:                                                                 {`{"message":"cut`},
		`{"message":` + strings.Repeat(`{"message":`, 50) + `1` + strings.Repeat("}", 51): nil,
	} {
		if got := bodies(cleaned(raw)); want != nil && !slices.Equal(got, want) {
			t.Errorf("%s: got %q", raw, got)
		}
	}
	l := one(t, `{"message":"x","rank":3,"hostname":"n7","time":"2026-11-20T10:00:00Z"}`)
	if l.Rank != 3 || l.Time.Hour() != 10 {
		t.Errorf("got rank %d at %v", l.Rank, l.Time)
	}
	if l := cleaned(`{"msg":"a","level":"info"}` + "\n" + `{"msg":"b","level":"error"}`); l[0].Level != Info || l[1].Level != Error {
		t.Errorf("levels that differ: %q %q", l[0].Level, l[1].Level)
	}
}
