package traceback

import "testing"

// TestRoot: the folder that has to be on Python's path is read from where the user's own code lies.
func TestRoot(t *testing.T) {
	for _, c := range []struct{ file, message, want string }{
		{"/home/u/project/train/run.py", "No module named 'train'", "/home/u/project"},
		{"/home/u/scripts/rl/train.py", "No module named 'scripts.rl'", "/home/u"},
		{"/home/u/scripts/train.py", "No module named 'scripts.rl'", ""},
		{`D:\work\train\run.py`, "No module named 'train'", `D:\work`},
		{"train/run.py", "No module named 'train'", "."},
		{"/train/run.py", "No module named 'train'", ""},
		{"/home/u/training/train.py", "No module named 'train'", ""},
		{"/opt/lib/python3.10/site-packages/train/run.py", "No module named 'train'", ""},
		{"/home/u/Tea-Pot/tools/run.py", "No module named 'tea_pot'", "/home/u/Tea-Pot"},
		{"/home/u/Infinity/tools/run.py", "No module named 'infinity.models'", "/home/u/Infinity"},
		{"/home/u/Infinity.py", "No module named 'infinity'", ""},
		{"/home/u/train/run.py", "No module train", ""},
	} {
		e := Exception{Type: "ModuleNotFoundError", Message: c.message, Frames: []Frame{{File: c.file}}}
		if got := e.Root(); got != c.want {
			t.Errorf("%s in %s: %q instead of %q", c.message, c.file, got, c.want)
		}
	}
}
