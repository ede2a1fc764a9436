package history

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gpu-triage/triage/rules/history/table"
)

// demo is a package with three releases. A line of the source says what a module declares: the releases that have it, kind, name, arg.
const demo = `
demo
  012 i Old demo.old:Old
  0 v gone_constant -
  12 g gone_constant use_demo.new_instead
  012 * - demo.stars
  12 l lazy demo.part:work
  012 t typed demo.part:work
demo.old
  01 c Old Base
  01 m Old.__init__ self,size,depth=,**kwargs,~hidden
  012 c Base dict
  012 m Base.walk self,node
  01 i Base demo.part:Base
  0 f moving a
demo.part
  012 c Base -
  012 m Base.__init__ self,node
  012 s Base.state -
  12 f moving a,b=
  12 f work x,/,y,*,z=
  12 r work why>y
  012 c Config Root,@dataclass
  012 d Config.rate =
  012 c Root object,@dataclass
  2 d Root.extra -
demo.stars
  012 a listed -
  012 v listed -
  012 v unlisted -
  012 * - elsewhere
demo.native
  012 ? - native
  012 y add -
made
  012 ? - names_made_in_a_loop
  12 f python -
  2 f late -
  12 T - demo.native
demo.hook
  012 D - demo.part
`

func demoPackage(t testing.TB) *Package {
	t.Helper()
	date := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	releases := []Release{{Version: "1.0", Date: date}, {Version: "1.1", Date: date.AddDate(0, 1, 0)}, {Version: "2.0", Date: date.AddDate(0, 2, 0)}}
	var modules []table.Module
	for line := range strings.Lines(strings.TrimSpace(demo)) {
		words := strings.Fields(strings.ReplaceAll(line, " -", " \x00"))
		for i := range words {
			words[i] = strings.ReplaceAll(strings.ReplaceAll(words[i], "\x00", ""), "names_made_in_a_loop", "names made in a loop")
		}
		if len(words) == 1 {
			modules = append(modules, table.Module{Name: words[0], In: table.Set{{From: 0, To: 2}}})
			continue
		}
		var in []int
		for _, digit := range words[0] {
			in = append(in, int(digit-'0'))
		}
		m := &modules[len(modules)-1]
		m.Entries = append(m.Entries, table.Entry{
			Record: table.Record{Kind: table.Kind(words[1][0]), Name: words[2], Arg: words[3]}, In: table.SetOf(in),
		})
	}
	encoded, err := table.Encode("demo", []string{"demo"}, releases, modules, table.Compress)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Decode(encoded)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestAt tells for each name what the three releases have: p present, a absent, u unknown.
func TestAt(t *testing.T) {
	p := demoPackage(t)
	for name, want := range map[string]string{
		"demo":                         "ppp",
		"demo.part":                    "ppp",
		"demo.nothing":                 "aaa",
		"demo.stars.nothing":           "uuu", // a module elsewhere is starred
		"demo.listed":                  "ppp",
		"demo.unlisted":                "aaa",
		"demo.stars.unlisted":          "ppp",
		"demo.gone_constant":           "paa",
		"demo.lazy":                    "app",
		"demo.typed":                   "aaa",
		"demo.old.Old":                 "ppa",
		"demo.old.moving":              "paa",
		"demo.old.Old.walk":            "ppa",
		"demo.old.Old.run":             "aaa",
		"demo.old.Old.keys":            "ppa", // a dict has it
		"demo.part.Base.state":         "ppp",
		"demo.part.Base.__repr__":      "ppp",
		"demo.part.Base.other":         "aaa",
		"demo.part.moving(a=)":         "app",
		"demo.part.moving(c=)":         "aaa",
		"demo.part.work(x=)":           "aaa", // by position only
		"demo.part.work(y=)":           "app",
		"demo.part.work(z=)":           "app",
		"demo.part.work(why=)":         "app", // under its old name
		"demo.old.Old(size=)":          "ppa",
		"demo.old.Old(hidden=)":        "ppa", // taken out of **kwargs
		"demo.old.Old(other=)":         "uua", // perhaps in **kwargs
		"demo.old.Old.__init__(size=)": "ppa",
		"demo.part.Config(rate=)":      "ppp",
		"demo.part.Config(extra=)":     "aap",
		"demo.part.Config(other=)":     "aaa",
		"demo.native.add":              "ppp",
		"demo.native.sub":              "uuu",
		"made.python":                  "upp",
		"made.late":                    "uap", // 1.1 has a stub of what comes from C
		"made.add":                     "upp",
		"made.other":                   "uuu",
		"demo.hook.Base":               "ppp",
		"demo.hook.nothing":            "aaa",
		"demo.none.at.all":             "aaa",
		"demo.part.none.at.all":        "aaa",
	} {
		parsed, err := ParseName(name)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, r := range p.Releases() {
			got += p.At(parsed, r.Version).String()[:1]
		}
		if got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if p.Damaged() != nil {
		t.Error(p.Damaged())
	}
}

func TestVersions(t *testing.T) {
	p := demoPackage(t)
	for version, want := range map[string]Presence{
		"1.0": Absent, "1.0.0": Absent, "1.1+cu124": Present, "1.5": Present, "1.0.1": Unknown, "0.9": Unknown, "2.1": Unknown, "two": Unknown,
	} {
		if got := p.At(Name{Dotted: "demo.part.work"}, version); got != want {
			t.Errorf("in %s it is %v, want %v", version, got, want)
		}
	}
}

func TestSuccessor(t *testing.T) {
	p := demoPackage(t)
	for text, want := range map[string]Successor{
		"demo.old.moving":        {Moved: []string{"demo.part.moving"}},
		"demo.gone_constant":     {Said: "use_demo.new_instead"},
		"demo.part.work(why=)":   {Renamed: "y"},
		"demo.part.work(other=)": {},
	} {
		name, err := ParseName(text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, p.Successor(name, 2)); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

func TestAsking(t *testing.T) {
	p := demoPackage(t)
	for _, c := range []struct{ module, name, want string }{
		{"", "elsewhere", "ppp"}, {"demo.stars", "elsewhere", "ppp"}, {"demo", "elsewhere", "aaa"}, {"demo.old", "demo.part.Base", "ppa"},
		{"", "nothing", "aaa"}, {"none", "elsewhere", "aaa"},
	} {
		got := ""
		for _, r := range p.Asking(c.module, c.name) {
			got += strings.Repeat(r.Presence.String()[:1], r.To-r.From+1)
		}
		if got != c.want {
			t.Errorf("%q asks for %s: %s, want %s", c.module, c.name, got, c.want)
		}
	}
}

func TestParseName(t *testing.T) {
	for text, want := range map[string]Name{
		"a":                       {"a", ""},
		"scikit-learn":            {"scikit-learn", ""},
		"a.B.c(d=)":               {"a.B.c", "d"},
		" a.b(c) ":                {"a.b", "c"},
		"":                        {},
		"a..b":                    {},
		"a.b(":                    {},
		"a b":                     {},
		strings.Repeat("a", 5000): {},
	} {
		got, err := ParseName(text)
		if got != want || (err == nil) != (want != Name{}) {
			t.Errorf("%.20q is read as %+v, %v", text, got, err)
		}
	}
}

func TestBatch(t *testing.T) {
	var out strings.Builder
	in := `{"name": "nobody.knows", "version": "1", "id": 7}` + "\n\nnot JSON\n" + `{"name": "a b"}` + "\n"
	if err := Batch(strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 3 {
		t.Fatalf("three questions have these answers: %q", lines)
	}
	for i, want := range []string{`"id":7,"present":null,"why":"package nobody is not covered"`, `"present":null,"error"`, `"present":null,"error"`} {
		if !strings.Contains(lines[i], want) {
			t.Errorf("answer %d is %s", i, lines[i])
		}
	}
}

// TestShipped reads every table that is shipped, whole.
func TestShipped(t *testing.T) {
	if len(Covered()) < 4 {
		t.Fatalf("only %q are covered", Covered())
	}
	for _, name := range Covered() {
		t.Run(name, func(t *testing.T) {
			p, err := Open(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, module := range p.table.ModuleNames() {
				if _, err := p.table.Module(module); err != nil {
					t.Fatal(module, err)
				}
			}
			newest := p.Releases()[len(p.Releases())-1]
			root := Name{Dotted: p.table.Roots[0]}
			if got := p.At(root, newest.Version); got != Present {
				t.Errorf("%s is %v in %s, the newest release", root, got, newest.Version)
			}
			if Distribution(p.table.Roots[0]) != name {
				t.Errorf("%s is not found by the name that is imported, %s", name, root)
			}
		})
	}
}

// TestEmpty asks for names in releases whose archives lack the package itself: nobody knows what they have.
func TestEmpty(t *testing.T) {
	for name, version := range map[string]string{
		"transformer_engine.pytorch": "1.8.0", // an archive that only asks for other packages
		"transformer_engine":         "1.8.0",
		"ray.tune.run":               "2.0.0",
	} {
		p, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.At(Name{Dotted: name}, version); got != Unknown {
			t.Errorf("%s in %s is %v, and its archive does not tell", name, version, got)
		}
	}
}

func ExamplePackage_Ranges() {
	p, err := Open("huggingface_hub")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range p.Ranges(Name{Dotted: "huggingface_hub.cached_download"})[:1] {
		fmt.Println(r.Presence, "from", r.First.Version, "to", r.Last.Version)
	}
	// Output: present from 0.0.1 to 0.25.2
}

// TestPythonIsToldByLines reads the table of Python itself: 3.8 stands for 3.8.10.
func TestPythonIsToldByLines(t *testing.T) {
	p, err := Open(Python)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, version string
		want          Presence
	}{
		{"typing.Literal", "3.7.16", Absent},
		{"typing.Literal", "3.8.10", Present},
		{"typing.Literal", "3.8", Present},
		{"tomllib", "3.10.4", Absent},
		{"tomllib", "3.11.0rc1", Present},
		{"distutils", "3.12.1+conda", Absent},
		{"builtins.str.removeprefix", "3.9.1", Present},
		{"typing.Literal", "4.0.1", Unknown},
	} {
		name, err := ParseName(c.name)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.At(name, c.version); got != c.want {
			t.Errorf("%s in %s is %v, want %v", c.name, c.version, got, c.want)
		}
	}
}
