package pattern_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/pattern"
)

// TestMatches compares what words tell of a text with what the expression itself says, for all expressions that are shipped and for
// awkward ones, on the lines of all examples.
func TestMatches(t *testing.T) {
	skipShort(t)
	base, err := rules.Load()
	if err != nil {
		t.Fatal(err)
	}
	patterns := map[string]*pattern.Pattern{}
	for _, source := range []string{"", "a|", "(a|b?)c", "(?:x*|NCCL)", "(CUDA|HIP) out", "^CUDA", "CUDA$", `\bCUDA|Error\b`, "[A-C]UDA", "[^A]UDA", "(?i)cuda", "(?i)kill|deepspeed|oss", "(?i:kill)ed", "CUDA(?i:error)",
		"(ab){2,3}", "(?:CU|)DA", "Err.r", "(?s)Error.*line|File", "[A-Z][A-Z][A-Z]", `\d+ MiB|GiB`, "\ufffd", "(?:Traceback|Error)(?: in|: )", "(a?|CUDA)(e|rror.*)"} {
		p, err := pattern.New(source)
		if err != nil {
			t.Fatal(err)
		}
		patterns[source] = p
	}
	for _, s := range base.Signatures() {
		for _, e := range s.Match {
			if p := e.Requires(); p != nil {
				patterns[p.String()] = p
			}
		}
	}
	texts := testLines(t, base)
	tried := 0
	for _, p := range patterns {
		for _, text := range texts {
			want := p.Regexp().MatchString(text)
			if got := p.Matches(text); got != want {
				t.Fatalf("%q in %q: %v, want %v", p, text, got, want)
			}
			if possible := p.Possible(text); want && !possible {
				t.Fatalf("%q in %q: not possible", p, text)
			} else if possible && !want {
				tried++
			}
		}
	}
	if all := len(patterns) * len(texts); tried > all/20 {
		t.Errorf("of %d texts that do not match words leave %d", all, tried)
	}
}

// skipShort leaves out a test that takes long in one goroutine, of which the race detector, with -short, would tell nothing.
func skipShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("long, and in one goroutine")
	}
}

// linesOf is how many lines of all examples are tried with all expressions.
const linesOf = 12_000

// testLines are lines of the examples and of the logs of testdata, evenly over all.
func testLines(t *testing.T, base *rules.Base) []string {
	t.Helper()
	files, err := filepath.Glob("../../testdata/logs/*/*.log")
	if err != nil || len(files) == 0 {
		t.Fatal("no test logs", err)
	}
	examples, err := base.Examples(base.Signatures())
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	take := func(log string) {
		all := strings.Split(strings.ToValidUTF8(log, "\ufffd"), "\n")
		for i := 0; i < len(all); i += 1 + len(all)/8 {
			lines = append(lines, all[i])
		}
	}
	for _, example := range examples {
		take(example.Log)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		take(string(content))
	}
	few := lines[:0]
	for i := range linesOf {
		few = append(few, lines[i*len(lines)/linesOf])
	}
	return append(few, "", "\ufffd", "\u212aILLed", "loſs", strings.Join(few[:5], "\n"))
}
