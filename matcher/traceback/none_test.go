package traceback

import "testing"

func TestNone(t *testing.T) {
	for _, c := range []struct{ code, message, want string }{
		{`raise ValueError(f"bad arguments: {kind}, {self.head_type}")`, "bad arguments: Kind.self, None", "self.head_type"},
		{`raise ValueError(f'no such optimizer: {args.optimizer!r}')`, "no such optimizer: None", "args.optimizer"},
		{`assert name in NAMES, f"{name} is not one of {NAMES}"`, "None is not one of ['a']", "name"},
		{`raise ValueError(f"bad arguments: {kind}")`, "bad arguments: self", ""},
		{`raise ValueError(f"None of {names} is there")`, "None of [1] is there", ""},
		{`raise ValueError("bad arguments: None")`, "bad arguments: None", ""},
		{`raise ValueError(f"bad {a} and {b}" + more)`, "bad x and None, and more", ""},
	} {
		e := Exception{Type: "ValueError", Message: c.message, Frames: []Frame{{File: "a.py", Line: 1, Code: c.code}}}
		if got := e.None(); got != c.want {
			t.Errorf("%s with %q: %q is None, not %q", c.code, c.message, got, c.want)
		}
	}
}
