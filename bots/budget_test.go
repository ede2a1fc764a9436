package bots

import (
	"errors"
	"strings"
	"testing"
)

// Who goes over the budget makes way for the others at once.
func TestBudgetFailsAsFewAsItMust(t *testing.T) {
	budget := NewBudget(100)
	read := func(bytes int) error {
		_, err := budget.Reader(strings.NewReader(strings.Repeat("x", bytes))).Read(make([]byte, bytes))
		return err
	}
	if err := read(60); err != nil {
		t.Fatal(err)
	}
	if err := read(60); !errors.Is(err, ErrBusy) {
		t.Errorf("over the budget: %v", err)
	}
	if err := read(40); err != nil {
		t.Errorf("what still fits: %v", err)
	}
}
