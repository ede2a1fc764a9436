package history

import "testing"

// TestInSubmodules finds a class below the top of its package, and none by the name of nothing.
func TestInSubmodules(t *testing.T) {
	for name, want := range map[string]string{
		"OneHotEncoder": "sklearn.preprocessing.OneHotEncoder",
		"check_array":   "sklearn.utils.check_array",
		"Upsample":      "torch.nn.Upsample", // from torch.nn.modules, of which torch.nn imports all
		"BrewKettle":    "",
	} {
		got := ""
		if all := InSubmodules(name); len(all) > 0 {
			got = all[0]
		}
		if got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// TestSubmodulesAreCovered holds the list to modules that the tables have.
func TestSubmodulesAreCovered(t *testing.T) {
	for _, row := range rows(submodulesText) {
		p, err := Open(row[0])
		if err != nil {
			t.Errorf("%s: %v", row[0], err)
			continue
		}
		if len(p.reachable(row[0])) == 0 {
			t.Errorf("%s is no module of %s", row[0], p.Name())
		}
	}
}
