package traceback_test

import (
	"testing"

	"github.com/gpu-triage/triage/matcher/traceback"
)

func TestCall(t *testing.T) {
	for _, c := range []struct{ message, code, want string }{
		{"__init__() got an unexpected keyword argument 'tokenizer'", "trainer = Trainer(model=make(m), tokenizer=tok)", "Trainer"},
		{"__init__() missing 1 required positional argument: 'width'", "self.stack = nn.Stack(", "nn.Stack"},
		{"load() got an unexpected keyword argument 'weights_only'", "state = torch.load(path(x), weights_only=True)", "torch.load"},
		{"Trainer.__init__() got an unexpected keyword argument 'tokenizer'", "return Trainer(**kwargs)", "Trainer"},
		{"__init__() got an unexpected keyword argument 'a'", "x = A(B(1), a=2)", ""},
		{"__init__() got an unexpected keyword argument 'a'", "super().__init__(**kwargs)", "__init__"},
		{"forward() takes 2 positional arguments but 3 were given", "return self.model(x, y)", "self.model"},
		{"unsupported operand type(s) for +: 'int' and 'str'", "y = A(1)", ""},
		{"load() got an unexpected keyword argument 'a'", "x = other(", ""},
	} {
		e := traceback.Exception{Type: "TypeError", Message: c.message, Frames: []traceback.Frame{{File: "a.py", Code: c.code}}}
		if got := e.Call(); got != c.want {
			t.Errorf("%s in %q calls %q, not %q", c.message, c.code, got, c.want)
		}
	}
}
