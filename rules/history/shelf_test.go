package history

import (
	"strings"
	"testing"
)

// TestShelved finds a class below the top of its package, and none by the name of a module or of nothing.
func TestShelved(t *testing.T) {
	for name, want := range map[string]string{
		"OneHotEncoder": "sklearn.preprocessing.OneHotEncoder",
		"check_array":   "sklearn.utils.check_array",
		"BrewKettle":    "",
	} {
		got := ""
		if all := Shelved(name); len(all) > 0 {
			got = all[0]
		}
		if got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// TestShelvesAreCovered holds shelves to modules that the tables have.
func TestShelvesAreCovered(t *testing.T) {
	for line := range strings.Lines(shelvesText) {
		module := strings.TrimSpace(line)
		if module == "" || strings.HasPrefix(module, "#") {
			continue
		}
		p, err := Open(module)
		if err != nil {
			t.Errorf("%s: %v", module, err)
			continue
		}
		if m, err := p.table.Module(module); err != nil || m == nil {
			t.Errorf("%s is no module of %s", module, p.Name())
		}
	}
}
