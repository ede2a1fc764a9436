package rules

import "testing"

func TestShippedBaseLoads(t *testing.T) {
	if _, err := Load(); err != nil {
		t.Fatal(err)
	}
}
