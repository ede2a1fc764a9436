package diagnosis

import "testing"

func TestClosed(t *testing.T) {
	for _, test := range []struct{ text, value, want string }{
		{"got (4, 128) there", "(4", "(4, 128)"},
		{"got torch.Size([2, 16]), no", "torch.Size([2", "torch.Size([2, 16])"},
		{"size(0) = 48", "size(0", "size(0)"},
		{"got 4, and (5)", "4", "4"},
		{"got (4, without an end", "(4", "(4"},
		{"got (4,\n5)", "(4", "(4"},
		{"closed ) before", "closed )", "closed )"},
		{"anything", "not in it (", "not in it ("},
		{"anything", "", ""},
	} {
		if got := closed(test.text, test.value); got != test.want {
			t.Errorf("%q of %q: %q instead of %q", test.value, test.text, got, test.want)
		}
	}
}

func TestWithoutSentence(t *testing.T) {
	for _, test := range []struct{ text, quoted, want string }{
		{"It ended (at x): no pot. Look again.", "no pot", "Look again."},
		{"It began. ValueError: a. b is no pot. Look again.", "a. b is no pot", "It began. Look again."},
		{"ValueError: no pot.", "no pot", ""},
		{"It ended.", "no pot", "It ended."},
		{"It ended.", "", "It ended."},
	} {
		if got := withoutSentence(test.text, test.quoted); got != test.want {
			t.Errorf("%q without %q: %q instead of %q", test.text, test.quoted, got, test.want)
		}
	}
}
