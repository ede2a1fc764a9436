package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOutline(t *testing.T) {
	for name, c := range map[string]struct{ source, want string }{
		"a body":                        {"def f(a,\n      b=':'):\n    x = 1\n\n    return x\ny = 2\n", "def f(a,\n      b=':'):\n pass\ny = 2\n"},
		"a string that looks like code": {"class A:\n    def f(self):\n        '''\ndef g(): pass\n'''\n    x = 1\n", "class A:\n    def f(self):\n     pass\n    x = 1\n"},
		"what is set on self": {
			"class A:\n  def f(self):\n    self.a = self.b == 1\n    self.c, self.d = 1, 2\n    self.e: int = 3\n    self.register_buffer('g', None)\n  z = 0\n",
			"class A:\n  def f(self):\n   self.a = 0\n   self.c = 0\n   self.d = 0\n   self.e = 0\n   self.g = 0\n   pass\n  z = 0\n",
		},
		"what is taken out of kwargs": {
			"def f(a, **kw):\n    kw.pop('b', 1); kw.get(\"c\")\n    if 'd' in kw or 'e' not in kw or 'f' in other: pass\n    kw['g']\n",
			"def f(a, **kw):\n kw.pop('b')\n kw.pop('c')\n kw.pop('d')\n kw.pop('e')\n pass\n",
		},
		"on one line":       {"def f(): return {1: 2}\nx = 1\n", "def f(): return {1: 2}\nx = 1\n"},
		"a comment":         {"def f():  # why: \n\n  # not\n  return 1\n# end\nx = 1 # one\n", "def f():  # why: \n pass\nx = 1 # one\n"},
		"computed names":    {"def f():\n  globals()['x'] = 1\n", "def f():\n  globals()['x'] = 1\n"},
		"a __getattr__":     {"def __getattr__(name):\n  return 1\n", "def __getattr__(name):\n  return 1\n"},
		"lines that go on":  {"x = 1 + \\\n  2\nasync def f():\n  y = (\n1)\nz = '\\''\n", "x = 1 + \\\n  2\nasync def f():\n pass\nz = '\\''\n"},
		"no end":            {"def f():\n  '''open", "def f():\n pass\n"},
		"nothing but quote": {"'", "'"},
	} {
		if diff := cmp.Diff(c.want, string(outline([]byte(c.source)))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func FuzzOutline(f *testing.F) {
	f.Add("class A:\n  def f(self, **kw):\n    self.a, self.b = 1\n    kw.pop('x')\n")
	f.Fuzz(func(t *testing.T, source string) {
		if got := outline([]byte(source)); len(got) > 20*len(source)+20 {
			t.Errorf("an outline of %d bytes for %d", len(got), len(source))
		}
	})
}

// TestDeclarations asks Python what sources declare. Records of what they all have, such as __all__ itself, are left out.
func TestDeclarations(t *testing.T) {
	p, err := startParser(t.Context(), "python3")
	if err != nil {
		t.Skip("there is no Python here: ", err)
	}
	defer p.close()
	for name, c := range map[string]struct{ source, want string }{
		"imports":   {"import a.b, c.d as e\nfrom . import f\nfrom .g import h as i\nfrom j import *\n", "* j, i a a:, i e c.d:, i f pkg:f, i i pkg.g:h"},
		"functions": {"def f(a, /, b, *c, d=1, **e):\n    e.pop('x')\n", "f f a,/,b,*c,d=,**e,~x"},
		"classes": {
			"@dataclass\nclass A(B[int], c.D, metaclass=M):\n  x: int\n  y = 1\n  @property\n  def p(self): pass\n  def m(self): self.s = 1\n",
			"c A B,c.D,@dataclass, d A.x , m A.m self, p A.p property, p A.y , s A.s",
		},
		"types only":         {"if TYPE_CHECKING:\n  from a import b\nelse:\n  c = 1\n", "t b a:b, v c"},
		"either":             {"try:\n  from a import b\nexcept ImportError:\n  b = None\n", "i b a:b, v b"},
		"Python 2":           {"print 'x'\n", "? not read"},
		"deleted":            {"a = b = 1\ndel a\n", "v b"},
		"computed":           {"for n in names(): globals()[n] = 1\n", "? names made in a loop, v n"},
		"a loop over names":  {"for n in ['a', 'b']:\n  globals()[n] = 1\n", "v a, v b, v n"},
		"__all__":            {"__all__ = ['a'] + x.__all__\n__all__ += ['b']\n", "A pkg.x, a a, a b"},
		"a lazy structure":   {"_import_structure = {'m': ['A']}\n_import_structure['n'] = ['B']\nimport sys\nsys.modules[__name__] = _LazyModule(__name__, '', _import_structure)\n", "l A pkg.m:A, l B pkg.n:B"},
		"lazy_loader":        {"__getattr__, __dir__, __all__ = lazy.attach(__name__, submod_attrs={'m': ['A']})\n", "l A pkg.m:A, v __dir__, v __getattr__"},
		"a table of getattr": {"_T = {'a': 1}\ndef __getattr__(name):\n  if name in _T:\n    return _T[name]\n  raise AttributeError(name)\n", "f __getattr__ name, l a, v _T"},
		"refused names":      {"_T = {'a': 'use b'}\ndef __getattr__(name):\n  if name in _T:\n    raise AttributeError(_T[name])\n  raise AttributeError(name)\n", "f __getattr__ name, g a use b, v _T"},
		"any name":           {"def __getattr__(name):\n  return load(name)\n", "? __getattr__, f __getattr__ name"},
		"another's names":    {"def __getattr__(name):\n  from . import other\n  return getattr(other, name)\n", "D pkg.other, f __getattr__ name"},
		"a renamed argument": {"@deprecate_kwarg('old', new_name='new', version='5')\ndef f(new): pass\n", "f f new, r f old>new"},
		"one by its name":    {"@deprecated_arg(name='old', new_name='new', since='0.6')\ndef f(new): pass\n", "f f new, r f old>new"},
		"one in a dict":      {"@deprecate_kwarg({'old': 'new'}, removed_version='1')\ndef f(new): pass\n", "f f new, r f old>new"},
	} {
		records, err := p.declarations(place{module: "pkg", isPackage: true}, []byte(c.source))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range records {
			text := strings.Join(strings.Fields(string(byte(r.Kind))+" "+r.Name+" "+r.Arg), " ")
			if strings.HasPrefix(text, "? not read") {
				text = "? not read"
			}
			if !strings.Contains(text, "__all__") && !strings.Contains(text, "_import_structure") && text != "i sys sys:" {
				got = append(got, text)
			}
		}
		var want []string
		for text := range strings.SplitSeq(c.want, ", ") {
			want = append(want, strings.TrimSpace(text))
		}
		if diff := cmp.Diff(sorted(want), sorted(got)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}

func TestPlaceOf(t *testing.T) {
	roots := []string{"pkg", "-pkg.app"}
	for file, want := range map[string]place{
		"pkg/__init__.py":                    {module: "pkg", isPackage: true},
		"pkg/part.pyi":                       {module: "pkg.part", stub: true},
		"pkg/_C.cpython-312-x86_64-linux.so": {module: "pkg._C", native: true},
		"pkg/tests/test_a.py":                {module: "pkg.tests", skipped: true},
		"pkg/test.py":                        {module: "pkg.test"},
		"pkg/app/main.py":                    {module: "pkg.app", skipped: true},
		"other/a.py":                         {},
		"pkg/data.json":                      {},
		"pkg/not-a-name.py":                  {},
	} {
		if got := placeOf(file, roots); got != want {
			t.Errorf("%s is %+v, want %+v", file, got, want)
		}
	}
}
