package logline

import (
	"slices"
	"strings"
	"testing"
)

// TestCommonHeader: what stands before every line is peeled, also where no traceback proves it, and what a program says itself stays.
func TestCommonHeader(t *testing.T) {
	short := []string{"step 1", "NCCL WARN Duplicate GPU detected", "waiting for the other ranks"}
	for name, header := range map[string]string{
		"a stream":       "stderr: ",
		"a node":         "ta-01ABC: ",
		"log4j":          "10:00:00.123 [main] INFO  o.a.s.Executor - ",
		"Spark":          "24/11/20 10:00:00 INFO PythonRunner: ",
		"Ruby's logger":  "I, [2026-11-20T10:00:00.123 #123]  INFO -- : ",
		"a job's stream": "2026-11-20T10:00:00 [train] stderr > ",
	} {
		t.Run(name, func(t *testing.T) {
			if got := texts(header, short); !slices.Equal(got, short) {
				t.Errorf("%q was not peeled: %q", header, got)
			}
		})
	}
	for name, test := range map[string]struct {
		header string
		lines  []string
	}{
		"two lines prove nothing":           {"stderr: ", short[:2]},
		"a scheduler":                       {"srun: ", short},
		"a driver, behind a clock":          {"2026-11-20 10:00:00 node07 NVRM: ", short},
		"the name of a number":              {"step: ", []string{"1", "2", "3"}},
		"the name of two numbers":           {"Epoch(train) ", []string{"[1][ 1/90]", "[1][ 2/90]", "[1][ 3/90]"}},
		"the keys of a dict":                {"{'loss': ", []string{"nan, 'epoch': 1}", "nan, 'epoch': 2}", "nan, 'epoch': 3}"}},
		"the edge of a table":               {"| ", short},
		"a sentence":                        {"we could not load: ", short},
		"an exception":                      {"RuntimeError: ", short},
		"a compiler":                        {"a.c:1:1: error: ", short},
		"the place in a file":               {"a.c:1:1: ", short},
		"a progress bar":                    {" 12%|# | ", short},
		"NCCL's own, which names a process": {"node07:311:402 [3] ", short},
	} {
		t.Run(name, func(t *testing.T) {
			for _, text := range texts(test.header, test.lines) {
				if !strings.Contains(text, strings.Fields(test.header)[0]) {
					t.Errorf("%q was peeled: %q is left", test.header, text)
				}
			}
		})
	}
}

// texts are lines behind a header, as they are read.
func texts(header string, lines []string) []string {
	var log strings.Builder
	for _, line := range lines {
		log.WriteString(header + line + "\n")
	}
	return bodies(cleaned(strings.TrimSuffix(log.String(), "\n")))
}
