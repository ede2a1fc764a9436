package traceback

import "testing"

// TestHidden: a file of the user's that a package gets for a module is found, and one that the user's own code imports is not.
func TestHidden(t *testing.T) {
	const own, pdb, ray = "/home/u/code.py", "/opt/conda/lib/python3.11/pdb.py", "/opt/venv/lib/python3.11/site-packages/ray/util/rpdb.py"
	for _, c := range []struct {
		frames []Frame
		module string
	}{
		{[]Frame{{File: own}, {File: ray, Code: "from pdb import Pdb"}, {File: pdb, Code: "import os.path, code as c"}, {File: own}}, "code"},
		{[]Frame{{File: ray, Code: "from queue import Empty"}, {File: `C:\job\queue\__init__.py`}}, "queue"},
		{[]Frame{{File: "/home/u/main.py", Code: "import code"}, {File: own}}, ""},
		{[]Frame{{File: ray, Code: "from .code import run"}, {File: own}}, ""},
		{[]Frame{{File: ray, Code: "run(code)"}, {File: own}}, ""},
		{nil, ""},
	} {
		module, file := (&Exception{Frames: c.frames}).Hidden()
		if module != c.module || (file == "") != (module == "") {
			t.Errorf("%v hides %q by %q, want %q", c.frames, module, file, c.module)
		}
	}
}
