package history

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestThreads asks what public threads tell: see the head of the file.
func TestThreads(t *testing.T) {
	file, err := os.Open(filepath.Join("..", "..", "testdata", "history", "threads.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) != 4 {
			t.Fatalf("%q has not four fields", lines.Text())
		}
		name, err := ParseName(fields[1])
		if err != nil {
			t.Fatal(err)
		}
		p, err := Open(name.Dotted)
		if err != nil {
			t.Error(err)
			continue
		}
		want := Absent
		if fields[3] == "true" {
			want = Present
		}
		if got := p.At(name, fields[2]); got != want {
			t.Errorf("%s in %s is %v, and %s tells otherwise", name, fields[2], got, fields[0])
		}
	}
}
