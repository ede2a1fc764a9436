package kind

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sampled is a text as the reading of a log samples it.
func sampled(data []byte) Sample {
	return Sample{
		Head: data[:min(len(data), HeadBytes)], Tail: data[max(0, len(data)-128<<10):],
		Lines: bytes.Count(data, []byte{'\n'}), Whole: len(data) <= HeadBytes,
	}
}

// TestKinds: each text of testdata/kinds is of the kind that its folder is named after; logs and documents that quote one are in "log".
func TestKinds(t *testing.T) {
	folders := map[string]Kind{
		"commands": Commands, "commits": Commits, "config": Config, "conversation": Conversation, "diff": Diff, "document": Document,
		"found": Found, "listing": Listing, "log": Log, "source": Source, "survived": Log, "tests": Tests,
	}
	root := filepath.Join("..", "..", "testdata", "kinds")
	for folder, want := range folders {
		files, err := filepath.Glob(filepath.Join(root, folder, "*"))
		if err != nil || len(files) == 0 {
			t.Errorf("%s: no texts: %v", folder, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got := Of(sampled(data)); got.Kind != want && (want != Log || got.quoted == nil && got.until == 0) {
				t.Errorf("%s: %q, want %q", file, got.Kind, want)
			}
		}
	}
}

// TestBegins: a program that prints its source, its configuration or its options before it runs writes a log, however long these are.
func TestBegins(t *testing.T) {
	for _, file := range []string{"source/errors.py", "config/trainer.yaml", "config/pyproject.toml", "config/alerts.json", "document/usage.txt", "commands/history.txt"} {
		data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "kinds", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, times := range []int{1, 200} {
			run := strings.Repeat("[2026-03-01 10:00:00] step 1 of 9: loss 2.31\n", 50*times)
			text := append(bytes.Repeat(data, times), run...)
			if got := Of(sampled(text)).Kind; got != Log {
				t.Errorf("%s, %d times, before a run: %q", file, times, got)
			}
		}
	}
}

// TestFew: of one line or two nobody can tell what they are.
func TestFew(t *testing.T) {
	for _, text := range []string{"", "\n\n", "ChildFailedError:\n", "- RuntimeError: x\nkey:\n", "import torch\ndef f():\n"} {
		if got := Of(sampled([]byte(text))).Kind; got != Log {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// TestCovers: a report of tests that ends in a summary says nothing about what comes after it.
func TestCovers(t *testing.T) {
	text := "test_fit.py ..\n==== 2 passed in 0.03s ====\nTraceback (most recent call last):\nRuntimeError: x\n"
	got := Of(sampled([]byte(text)))
	if got.Kind != Tests || !got.Covers(2) || got.Covers(3) {
		t.Errorf("%+v", got)
	}
}

func FuzzOf(f *testing.F) {
	f.Add([]byte("# a\n\n```\nx\n```\n"), false)
	f.Add([]byte("a: |\n  b\n- \"\"\"\n`\n"), true)
	f.Fuzz(func(t *testing.T, data []byte, whole bool) {
		s := sampled(data)
		s.Whole = s.Whole && whole
		got := Of(s)
		for line := -1; line < 9; line++ {
			got.Covers(line)
			got.Quotes(line)
		}
	})
}
