package history

import "testing"

func TestAllows(t *testing.T) {
	for _, c := range []struct {
		specifier, version string
		want               bool
	}{
		{"", "1.0", true},
		{">=4.40,<5", "4.49.0", true},
		{">=4.40,<5", "5.0.0", false},
		{">=4.40,!=4.48.*,<5", "4.48.1", false},
		{">=4.40,!=4.48.*,<5", "4.49.1", true},
		{"==4.36.2", "4.36.2", true},
		{"==4.36.2", "4.36.3", false},
		{"==4.*", "4.36.3", true},
		{"~=2.1", "2.9", true},
		{"~=2.1", "3.0", false},
		{"~=2.1.3", "2.2.0", false},
		{"~=2.1.3", "2.1.9", true},
		{">1.0", "1.0", false},
		{"<=1.0", "1.0", true},
		{"nonsense", "1.0", true},
		{">=nonsense", "1.0", true},
	} {
		if got := Allows(c.specifier, c.version); got != c.want {
			t.Errorf("%q takes %s: %v, want %v", c.specifier, c.version, got, c.want)
		}
	}
}

func TestCutRequirement(t *testing.T) {
	for requirement, want := range map[string][2]string{
		"numpy":                     {"numpy", ""},
		"numpy>=1.17":               {"numpy", ">=1.17"},
		"torch (>=1.10,!=2.0)":      {"torch", ">=1.10,!=2.0"},
		"transformers[torch] ~=4.1": {"transformers", "~=4.1"},
	} {
		if name, specifier := cutRequirement(requirement); name != want[0] || specifier != want[1] {
			t.Errorf("%q is %q and %q, not %q", requirement, name, specifier, want)
		}
	}
}
