package rootline_test

import (
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/rootline"
	"github.com/gpu-triage/triage/rules"
)

func finder(t *testing.T) func(log string) *rootline.Finding {
	t.Helper()
	base, err := rules.Open()
	if err != nil {
		t.Fatal(err)
	}
	f := rootline.New(base.Tools)
	return func(log string) *rootline.Finding {
		return f.Find(rootline.Tail{Form: logline.Sniff("job.log", []byte(log)), First: 1, Data: []byte(log)})
	}
}

const (
	failedStep  = "##[group]Run make\nmake\n##[endgroup]\nb.c:12:9: error: 'limit' undeclared\nmake: *** [Makefile:4: b.o] Error 1\n##[error]Process completed with exit code 2.\n"
	failedLint  = "##[group]Run lint\nlint\n##[endgroup]\ngcc: error: gone.c: No such file or directory\n##[error]Process completed with exit code 1.\n"
	failedShell = "##[group]Run cat report.xml\ncat report.xml\n##[endgroup]\ncat: report.xml: No such file or directory\n##[error]Process completed with exit code 1.\n"
	goodStep    = "##[group]Run prepare\nerror: this is the script's own text\n##[endgroup]\nready\n"
	otherLines  = "[1/9] Building CXX object a.o\n"
)

func TestRootLine(t *testing.T) {
	find := finder(t)
	for name, c := range map[string]struct{ log, want string }{
		"the first error of a build, not its last word": {failedStep, "b.c:12:9: error: 'limit' undeclared"},
		"a step that is allowed to fail comes before":   {failedLint + failedStep, "b.c:12:9: error: 'limit' undeclared"},
		"what cleans up after a failure fails too":      {failedStep + failedShell, "b.c:12:9: error: 'limit' undeclared"},
		"the text of a step's script is no output":      {goodStep + failedStep, "b.c:12:9: error: 'limit' undeclared"},
		"an error that a script goes on after":          {"##[group]Run x\n##[endgroup]\na.c:1:1: error: 'x' undeclared\n" + strings.Repeat(otherLines, 200) + "b.c:2:2: error: 'y' undeclared\n##[error]Process completed with exit code 1.\n", "b.c:2:2: error: 'y' undeclared"},
		"an install that may fail before a test":        {"E: Unable to locate package x\nE       assert 3 == 4\n=== 1 failed, 2 passed in 0.11s ===\n", "E       assert 3 == 4"},
		"what the CI system stopped":                    {"##[group]Run train\n##[endgroup]\nerror: retrying\n##[error]The operation was canceled.\n", "The operation was canceled."},
		"what only the CI system calls an error":        {"##[group]Run setup\n##[endgroup]\nInstalled versions\n##[error]Version 9.9 was not found in the local cache\n##[error]Process completed with exit code 1.\n", "Version 9.9 was not found in the local cache"},
		"a program that nobody knows":                   {"##[group]Run check\n##[endgroup]\nchecking\nVersion mismatch: 3 and 4\n##[error]Process completed with exit code 3.\n", "Version mismatch: 3 and 4"},
		"a test that prints errors and passes":          {"[ RUN      ] A.b\nerror: expected\n[       OK ] A.b (0 ms)\n[ RUN      ] A.c\nt.cpp:4: Failure\nExpected: x\n[  FAILED  ] A.c (0 ms)\n 1 FAILED TEST\n", "t.cpp:4: Failure"},
		"colours":                                       {"\x1b[1m\x1b[31merror[E0425]\x1b[0m: cannot find value `x`\nerror: could not compile `t`\n", "error[E0425]: cannot find value `x`"},
		"an error without anybody's last word":          {"gcc -c a.c\na.c:1:1: error: unknown type name 'foo'\n", "a.c:1:1: error: unknown type name 'foo'"},
		"a build that went well":                        {"a.c:1:1: error: unknown type name 'foo'\n" + strings.Repeat(otherLines, 300), ""},
		"a job that went well":                          {goodStep + "make: *** [x] Error 1\nJob succeeded\n", ""},
		"steps without a word of failure":               {goodStep + "E: Unable to locate package x\nnone\n" + goodStep, ""},
		"tests that passed":                             {"error: expected\n=== 12 passed in 0.31s ===\n", ""},
		"a Python error that nobody says was the end":   {"ValueError: bad shard\n", ""},
		"an error that make ignores":                    {"rm: cannot remove 'x': No such file or directory\nmake: [Makefile:3: clean] Error 1 (ignored)\n" + strings.Repeat(otherLines, 9), ""},
		"the last of a few lines":                       {"starting\nError: setting up devices: no such device\n  see the manual\n", "Error: setting up devices: no such device"},
		"a generic word that a program goes on after":   {"Error: setting up devices: no such device\nstep 1\n", ""},
		"a generic word at the end of a long log":       {strings.Repeat(otherLines, 60) + "Error: telemetry is off\n", ""},
		"a generic word that its logger calls harmless": {"INFO: cannot import the optional module\n", ""},
		"what a logger calls an error, at the end":      {"starting\n2026-03-01 10:00:00,123 - tool - ERROR - Cannot read the blob\n", "Cannot read the blob"},
		"likewise, with blanks in the brackets":         {"starting\n[ ERROR ] The blob went sour\n", "The blob went sour"},
		"likewise, in logrus' records":                  {"time=\"2026-03-01T10:00:00Z\" level=info msg=\"starting\"\ntime=\"2026-03-01T10:00:01Z\" level=fatal msg=\"cannot read the blob\"\n", "cannot read the blob"},
		"likewise, in those of Kubernetes":              {"I0301 10:00:00.000000       1 main.go:3] starting\nE0301 10:00:01.000000       1 main.go:9] cannot read the blob\n", "cannot read the blob"},
		"what a library of C++ calls one":               {"I0301 10:00:00.000000    17 pot.cc:3] starting\nE0301 10:00:01.000000    17 pot.cc:9] cannot read the blob\n", ""},
		"what it relays of another logger":              {"2023-04-11 21:56:33 | ERROR | stderr | INFO:     Uvicorn running\n", ""},
		"what a logger calls an error, with more after": {"[ERROR] Cannot read the blob\nstep 1\n", ""},
		"nothing": {"", ""},
	} {
		got := ""
		if found := find(c.log); found != nil {
			got = found.Line.Body()
		}
		if got != c.want {
			t.Errorf("%s: the root line is %q, not %q", name, got, c.want)
		}
	}
}

func TestShows(t *testing.T) {
	found := finder(t)("CMake Error at CMakeLists.txt:3 (find_package):\n  By not providing \"FindTorch.cmake\"\n\n  more\n-- Configuring incomplete, errors occurred!\n")
	if found == nil || found.Tool != "CMake" || !strings.Contains(found.Text, "FindTorch") {
		t.Fatalf("what belongs to the error is not shown: %+v", found)
	}
	last := found.Shows[len(found.Shows)-1]
	if last.Text != "-- Configuring incomplete, errors occurred!" || last.Number != 5 {
		t.Errorf("the last word is %d: %q", last.Number, last.Text)
	}
}

// A log of nothing but errors takes no longer than others, and tells the first of them.
func TestBounds(t *testing.T) {
	log := strings.Repeat("a.c:1:1: error: 'x' undeclared\n", 100_000) + "make: *** [a.o] Error 1\n"
	if found := finder(t)(log); found != nil && found.Line.Number != 1 {
		t.Errorf("line %d of a log in which each is an error", found.Line.Number)
	}
}
