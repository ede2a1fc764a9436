package history

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
)

// TestListed compares the list of packages with the tables that are there.
func TestListed(t *testing.T) {
	var made []string
	entries, err := fs.ReadDir(shipped, "data")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		made = append(made, strings.TrimSuffix(e.Name(), ".history"))
	}
	for _, name := range Covered() {
		if !slices.Contains(made, name) {
			t.Errorf("%s is listed and has no table; make it: go run ./cmd/history %s", name, name)
		}
	}
	for _, name := range made {
		if !slices.Contains(Covered(), name) {
			t.Errorf("%s has a table and no line in packages.txt", name)
		}
	}
}

// TestApart looks a bare name up in the packages that it can mean alone: ms-swift has a class TrainingArguments, too.
func TestApart(t *testing.T) {
	if got := Offering("TrainingArguments"); !slices.Equal(got, []string{"transformers"}) {
		t.Errorf("TrainingArguments is offered by %q", got)
	}
	if got := Distribution("swift.trainers"); got != "ms-swift" {
		t.Errorf("swift.trainers is of %q", got)
	}
}
