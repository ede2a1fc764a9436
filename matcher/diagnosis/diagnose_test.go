package diagnosis

import "testing"

// TestStandsFirst: a fix that others stood before does not begin as if they were there.
func TestStandsFirst(t *testing.T) {
	for do, want := range map[string]string{"Or set it.": "Set it.", "Else, take the other.": "Take the other.", "Order them.": "Order them.", "Or équal.": "Équal.", "": ""} {
		if got := standsFirst(do); got != want {
			t.Errorf("%q: %q", do, got)
		}
	}
}
