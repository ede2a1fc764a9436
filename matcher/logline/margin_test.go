package logline

import "testing"

func TestMargin(t *testing.T) {
	for text, want := range map[string]string{
		"> ValueError: x\n":                        "> ",
		"> a\n>\n> b\n":                            "> ",
		">> a\n>>  b\n":                            ">> ",
		"    ValueError: x\n":                      "    ",
		"      a\n\n    b":                         "    ",
		"    a\r\n    b\r\n":                       "    ",
		"  File \"x.py\", line 1, in f\n    g()\n": "",
		"> a\nb\n":                                 "",
		"ValueError: x\n    y\n":                   "",
		"":                                         "",
		"    \n":                                   "",
	} {
		if got := marginOf([]byte(text)); got != want {
			t.Errorf("%q has the margin %q, not %q", text, got, want)
		}
	}
}

func TestMarginIsTakenOff(t *testing.T) {
	for text, want := range map[string]string{"> a": "a", ">": "", ">   a": "  a", "a": "a", "": ""} {
		if got := withoutMargin(text, "> "); got != want {
			t.Errorf("%q leaves %q, not %q", text, got, want)
		}
	}
}
