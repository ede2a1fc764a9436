package traceback

import "testing"

// TestShow finds the source line that was copied without its frame, and takes no line of output for one.
func TestShow(t *testing.T) {
	for _, test := range []struct{ name, before, code, file string }{
		{"code above the error", "epoch 3\n    kettle, lid = self.shelf.take(2)", "kettle, lid = self.shelf.take(2)", ""},
		{"at the beginning of the line", "cups[i, j.long()] = water[i]", "cups[i, j.long()] = water[i]", ""},
		{"names alone, set in", "    pot, lid = tea", "pot, lid = tea", ""},
		{"a raise", "    raise KeyError(name)", "raise KeyError(name)", ""},
		{"a cell without its head", "<ipython-input-7-ab12> in brew(pot)\n     94     print(pot)\n     95 \n---> 96     pot += water\n     97 \n     98     return pot\n", "pot += water", "<ipython-input-7-ab12>"},
		{"a cell without its place", "---> 12     return pot[lid]\n     13 \n", "return pot[lid]", ""},
		{"a cell that Python cannot parse", "  Cell In[4], line 1\n    git clone teapot\n        ^", "git clone teapot", "Cell In[4]"},
		{"a mark below a line of no place", "what is this\n    git clone teapot\n        ^", "", ""},
		{"output with a number", "loss = 2.31", "", ""},
		{"output with several", "lr = 0.1, momentum = 0.9", "", ""},
		{"a sentence", "for more see the manual", "", ""},
		{"a blank line between", "    pot = shelf.take(2)\n", "", ""},
		{"a bracket that is not closed", "    pot = shelf.take(2", "", ""},
		{"another program's line", "INFO:brew:pot = shelf.take(2)", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := &Exception{Type: "ValueError", Message: "no", Before: func() string { return test.before }}
			e.Show()
			file := ""
			if len(e.Frames) > 0 {
				file = e.Frames[0].File
			}
			if e.Code() != test.code || file != test.file {
				t.Errorf("code %q in %q, want %q in %q", e.Code(), file, test.code, test.file)
			}
		})
	}
}

// TestShowKeepsFrames leaves a traceback with frames as it is.
func TestShowKeepsFrames(t *testing.T) {
	e := &Exception{Type: "ValueError", Frames: []Frame{{File: "brew.py", Line: 3, Code: "pot()"}}, Before: func() string { return "    lid = shelf.take(2)" }}
	e.Show()
	if e.Code() != "pot()" {
		t.Errorf("code is %q", e.Code())
	}
}
