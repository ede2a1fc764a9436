package wrapper

import (
	"strings"
	"testing"
)

func TestShipped(t *testing.T) {
	if err := CheckShipped(); err != nil {
		t.Error(err)
	}
	table := Shipped()
	if len(table.Marks) == 0 || len(table.Records) == 0 {
		t.Fatal("the list is empty")
	}
	for _, f := range append(table.Marks, table.Records...) {
		if !f.Possible(f.Example) {
			t.Errorf("%s: the first look refuses %q", f.Tool, f.Example)
		}
	}
}

// TestMistakes: each is told with its place.
func TestMistakes(t *testing.T) {
	const row = "marks:\n  - tool: a\n    source: b\n    example: '%'\n    form: "
	for content, want := range map[string]string{
		row + "'[('":                             "w.yaml:5:12",
		row + "x":                                "the form does not fit this example",
		row + "'%?'":                             "fits an empty line",
		row + "'%'\n    frist: x":                "frist",
		"marks:\n  - tool: a\n    form: x":       "needs a source",
		"records:\n  - tool: a\n    source: [x]": "w.yaml:3",
	} {
		if err := Check("w.yaml", []byte(content)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", content, err, want)
		}
	}
}

// TestLook: the first look knows the bytes and the literal that an expression asks for.
func TestLook(t *testing.T) {
	l := lookOf(`\[(?P<rank>\d+)\]<std(?:out|err)>: ?`)
	if l.literal != "]<std" || !l.begins("[3") || l.begins("[x") || l.begins("3]") || l.begins("[") {
		t.Errorf("got %q", l.literal)
	}
	if l := lookOf(`a?b`); !l.begins("ab") || !l.begins("bx") || l.begins("cb") {
		t.Error("optional bytes")
	}
}
