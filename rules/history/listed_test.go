package history

import (
	"slices"
	"testing"
)

// TestListed compares the list of packages with the tables that are there.
func TestListed(t *testing.T) {
	var listed []string
	for _, d := range Listed() {
		listed = append(listed, d.Name)
		if !slices.Contains(Covered(), d.Name) {
			t.Errorf("%s is listed and has no table; make it: go run ./cmd/history %s", d.Name, d.Name)
		}
	}
	for _, name := range Covered() {
		if !slices.Contains(listed, name) {
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
