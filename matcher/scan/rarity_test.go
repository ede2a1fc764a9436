package scan

import (
	"bytes"
	"flag"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher/scan/corpus"
)

var write = flag.Bool("write", false, "count the grams of the sample logs and write grams.txt")

// TestGrams checks the list of common grams: whole grams, each once, the commonest first.
func TestGrams(t *testing.T) {
	if *write {
		if err := os.WriteFile("grams.txt", []byte(countGrams(sampleLogs(t))), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	list, err := os.ReadFile("grams.txt")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[uint32]bool{}
	for i, line := range strings.Split(strings.TrimRight(string(list), "\n"), "\n") {
		if len(line)%gramBytes != 0 || i >= rareLevel {
			t.Errorf("grams.txt:%d: %d bytes, level %d", i+1, len(line), i)
			continue
		}
		for ; line != ""; line = line[gramBytes:] {
			g := foldedGram(line)
			if seen[g] {
				t.Errorf("grams.txt:%d: %q stands twice", i+1, line[:gramBytes])
			}
			seen[g] = true
		}
	}
	order := []string{"iteration", "throughput", "UserWarning", "CUDA out of memory"}
	for i := range order[1:] {
		common, rare := Literal{Text: order[i]}, Literal{Text: order[i+1]}
		if common.Share() <= rare.Share() {
			t.Errorf("%q (%.1e) must be commoner than %q (%.1e)", common.Text, common.Share(), rare.Text, rare.Share())
		}
	}
}

// sampleLogs is a generated log and the logs of the repository.
func sampleLogs(t *testing.T) []byte {
	var log bytes.Buffer
	if err := corpus.Write(&log, 30_000_000, corpus.Ordinary, 99); err != nil {
		t.Fatal(err)
	}
	add := func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if _, examples, found := bytes.Cut(data, []byte("\nexamples:\n")); found {
			data = examples
		} else if filepath.Ext(path) == ".yaml" {
			return nil
		}
		for range 4 { // they are few and small beside the generated log, but real
			log.Write(data)
		}
		return err
	}
	for _, folder := range []string{"../../testdata/logs", "../../rules/failures"} {
		if err := filepath.WalkDir(folder, add); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	return log.Bytes()
}

func countGrams(log []byte) string {
	counts := map[uint32]int{}
	for line := range bytes.Lines(log) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		for i := 0; i+gramBytes <= len(line); i++ {
			counts[foldedGram(string(line[i:i+gramBytes]))]++
		}
	}
	var levels [rareLevel][]string
	for g, n := range counts {
		text := []byte{byte(g), byte(g >> 8), byte(g >> 16), byte(g >> 24)}
		for i, c := range text {
			if c == 0x7f {
				text[i] = '_'
			}
		}
		printable := !slices.ContainsFunc(text, func(c byte) bool { return c < ' ' || c > '~' })
		if level := int(-math.Log2(float64(n) / float64(len(log)))); level < 17 && printable {
			levels[level] = append(levels[level], string(text))
		}
	}
	var out strings.Builder
	for _, grams := range levels {
		slices.Sort(grams)
		out.WriteString(strings.Join(grams, "") + "\n")
	}
	return strings.TrimRight(out.String(), "\n") + "\n"
}
