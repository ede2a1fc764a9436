package main

import (
	"bytes"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gpu-triage/triage/matcher/example"
	"github.com/gpu-triage/triage/rules/signature"

	"github.com/google/go-cmp/cmp"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/rules"
)

var update = flag.Bool("update", false, "write what the program prints into the documents")

// consoles are blocks that show a command and what it prints.
var consoles = regexp.MustCompile("(?s)```console\n\\$ ([^\n]*)\n(.*?)```")

// What the documents show is what the program does.
func TestDocumentsShowWhatIsPrinted(t *testing.T) {
	t.Chdir("../..")
	shown := 0
	for _, name := range []string{"README.md", "CONTRIBUTING.md"} {
		document, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		now := consoles.ReplaceAllFunc(document, func(block []byte) []byte {
			shown++
			m := consoles.FindSubmatch(block)
			command, want := string(m[1]), string(m[2])
			got := printed(t, command)
			if diff := cmp.Diff(want, got); diff != "" && !*update {
				t.Errorf("%s: %s (-shown +printed):\n%s", name, command, diff)
			}
			return []byte("```console\n$ " + command + "\n" + got + "```")
		})
		if *update {
			if err := os.WriteFile(name, now, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if shown == 0 {
		t.Error("no document shows a command")
	}
}

// printed runs a command line of a document, without a shell.
func printed(t *testing.T, command string) string {
	t.Helper()
	command = strings.Replace(command, "go run ./cmd/triage", "triage", 1)
	words := strings.Fields(command)
	if words[0] != "triage" {
		t.Fatalf("%s: not a command of triage", command)
	}
	for i := range words { // as a shell takes the quotes away
		words[i] = strings.Trim(words[i], "'")
	}
	if words[1] != "history" { // which knows nothing of this machine
		words = append(words, "--live", "off")
	}
	var out, errs bytes.Buffer
	run(t.Context(), words[1:], streams{in: strings.NewReader(""), out: &out, err: &errs, env: func(string) string { return "" }})
	if errs.Len() > 0 {
		t.Errorf("%s: %s", command, errs.String())
	}
	return out.String()
}

// The signature that CONTRIBUTING.md explains loads without a mistake, and its examples are answered as they say.
func TestContributingShowsASignature(t *testing.T) {
	document, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)```yaml\nid: ([a-z-]+)(.*?)```").FindSubmatch(document)
	if m == nil {
		t.Fatal("no signature in CONTRIBUTING.md")
	}
	file := fstest.MapFS{"mine/" + string(m[1]) + ".yaml": {Data: append([]byte("id: "+string(m[1])), m[2]...)}}
	base, err := loadStrictly(rules.Shipped(), file)
	if err != nil {
		t.Fatal(err)
	}
	shown := []*signature.Signature{base.Signature(string(m[1]))}
	examples, err := example.Load(base, shown, nil)
	if err != nil {
		t.Fatal(err)
	}
	engine := matcher.New(base)
	for _, one := range examples {
		for _, mistake := range example.Try(t.Context(), engine, one) {
			t.Errorf("%v: %s", one, mistake)
		}
	}
	for _, lack := range example.Uncovered(shown, examples) {
		t.Error(lack)
	}
}
