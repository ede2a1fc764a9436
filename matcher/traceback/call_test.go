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
		{"forward() got an unexpected keyword argument 'n'", "loss = self.step(model, n)", ""},
		{"forward() got an unexpected keyword argument 'n'", "loss = self.model(x, n=n)", "self.model"},
		{"unsupported operand type(s) for +: 'int' and 'str'", "y = A(1)", ""},
		{"load() got an unexpected keyword argument 'a'", "x = other(", ""},
		{"__init__() got an unexpected keyword argument 'dtype'", "with autocast(dtype=self.precision):", "autocast"},
		{"__init__() got an unexpected keyword argument 'dtype'", "with open_all(parts(x), dtype=d):", ""},
	} {
		e := traceback.Exception{Type: "TypeError", Message: c.message, Frames: []traceback.Frame{{File: "a.py", Code: c.code}}}
		if got := e.Call(); got != c.want {
			t.Errorf("%s in %q calls %q, not %q", c.message, c.code, got, c.want)
		}
	}
}

// TestAtCall: a decorator that only hands on what it was called with made no mistake; who called it did.
func TestAtCall(t *testing.T) {
	const message = "__init__() got an unexpected keyword argument 'a'"
	own := traceback.Frame{File: "train.py", Code: "trainer = pl.Trainer(a=1)"}
	for _, c := range []struct{ message, code, owner, through string }{
		{message, "return fn(self, **kwargs)", "", "lightning"},
		{message, "return func(*args, **kwargs)", "", "lightning"},
		{message, "out = await self._call(*args)", "", "lightning"},
		{message, "return fn(self, a=1, **kwargs)", "lightning", ""},
		{message, "return fn(self)", "lightning", ""},
		{"unsupported operand type(s)", "return fn(self, **kwargs)", "lightning", ""},
	} {
		inner := traceback.Frame{File: "/opt/venv/lib/python3.8/site-packages/lightning/argparse.py", Code: c.code}
		e := traceback.Exception{Type: "TypeError", Message: c.message, Frames: []traceback.Frame{own, inner}}
		if at, through := e.AtCall(); at.Owner() != c.owner || through != c.through {
			t.Errorf("%s in %q is a call of %q through %q", c.message, c.code, at.Owner(), through)
		}
	}
}
