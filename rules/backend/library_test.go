package backend

import (
	"os"
	"testing"

	"github.com/gpu-triage/triage/rules/fact"
	"github.com/gpu-triage/triage/rules/rulefile"
)

// shipped is the folder of the knowledge base that comes with the program.
var shipped = os.DirFS("..")

func vocabulary(t testing.TB) *fact.Vocabulary {
	t.Helper()
	d := &rulefile.Decoder{}
	v, err := fact.Read(d, shipped, nil)
	if err != nil || len(d.Problems) > 0 {
		t.Fatal(err, d.Problems)
	}
	return v
}

// library is one of the shipped libraries.
func library(t testing.TB, name string) *Library {
	t.Helper()
	l, err := LoadLibrary(vocabulary(t), name, shipped)
	if err != nil {
		t.Fatal(err)
	}
	if l == nil {
		t.Fatalf("there is no library %s", name)
	}
	return l
}

// skipShort leaves out a test that takes long in one goroutine, of which the race detector, with -short, would tell nothing.
func skipShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("long, and in one goroutine")
	}
}
