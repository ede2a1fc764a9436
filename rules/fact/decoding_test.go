package fact

import "testing"

func TestDecode(t *testing.T) {
	for _, c := range []struct{ spelling, text, want string }{
		{"packed", "8907", "8.9.7"},
		{"packed", "90201", "9.2.1"},
		{"packed", "22809", "2.28.9"},
		{"packed", "12", ""},
		{"cuda", "12040", "12.4"},
		{"tuple", "(8, 9)", "8.9"},
		{"digits", "310", "3.10"},
		{"digits", "38", "3.8"},
		{"digits", "3", ""},
		{"no such spelling", "1", ""},
	} {
		got, err := Decode(c.spelling, c.text)
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s %q is %q, %v; want %q", c.spelling, c.text, got, err, c.want)
		}
	}
}
