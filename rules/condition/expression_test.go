package condition

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/rules/rulefile"
)

// scopeForTests has one name of each type, and nobody in it.
func scopeForTests(t testing.TB) *Scope {
	s := NewScope()
	for name, typ := range map[string]Type{
		"sm": Number, "heads": Number, "torch": VersionType, "layout": String, "training": Bool, "window": List, "recipe": Object,
	} {
		if err := s.Declare(name, Shape{Type: typ}); err != nil {
			t.Fatal(err)
		}
	}
	text := Shape{Type: String}
	frame := Shape{Type: Object, Members: map[string]Shape{"file": text}}
	for name, shape := range map[string]Shape{
		"text": text, "line": text, "before": text,
		"error": {Type: Object, Members: map[string]Shape{"type": text, "name": text, "message": text, "frames": {Type: List, Items: &frame}}},
	} {
		if err := s.Declare(name, shape); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func define(t testing.TB, s *Scope, name, source string) {
	t.Helper()
	e, err := s.compile(source)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Define(name, e); err != nil {
		t.Fatal(err)
	}
}

func version(t testing.TB, text string) Value {
	v, err := ParseVersion(text)
	if err != nil {
		t.Fatal(err)
	}
	return VersionValue(v)
}

func TestEval(t *testing.T) {
	for _, c := range []struct {
		source string
		facts  map[string]Value
		want   string // true, false, unknown, or the value
	}{
		{"sm >= 90", map[string]Value{"sm": NumberValue(90)}, "true"},
		{"sm >= 90", nil, "unknown"},
		{"sm >= 90", map[string]Value{"sm": Nil}, "false"},
		{"not (sm >= 90)", nil, "unknown"},
		{"sm >= 90 and training", map[string]Value{"training": BoolValue(false)}, "false"},
		{"sm >= 90 or training", map[string]Value{"training": BoolValue(true)}, "true"},
		{"sm >= 90 or training", map[string]Value{"training": BoolValue(false)}, "unknown"},
		{`torch < "2.6"`, map[string]Value{"torch": version(t, "2.6.0a0+ecf3bae40a.nv25.01")}, "true"},
		{`release(torch) < "2.6"`, map[string]Value{"torch": version(t, "2.6.0a0+ecf3bae40a.nv25.01")}, "false"},
		{`version(layout) > version("2025.3.8")`, map[string]Value{"layout": StringValue("2025.3.10")}, "true"},
		{`version(layout) > "2.9"`, map[string]Value{"layout": StringValue("2.10")}, "true"},
		{`moved(layout, "[32, 1, 3, 3, 16]")`, map[string]Value{"layout": StringValue("[1, 3, 3, 16, 32]")}, "4"},
		{`moved(layout, "[7, 64]")`, map[string]Value{"layout": StringValue("[64, 9]")}, "0"},
		{`doubled("/a/b/b/c")`, nil, "b"},
		{`doubled("C:\\\\pot\\\\pot\\\\lid")`, nil, "pot"},
		{`doubled("b/a/b")`, nil, ""},
		{`moved(layout, "[7, 64]")`, map[string]Value{"layout": StringValue("[64, 7, 7]")}, "0"},
		{`version(layout) != nil`, map[string]Value{"layout": StringValue("bshd")}, "false"},
		{`torch > "2.8.3"`, map[string]Value{"torch": version(t, "2.8.3+cu13")}, "true"},
		{`torch in ["2.5.0", "2.5.1"]`, map[string]Value{"torch": version(t, "2.5")}, "true"},
		{`torch == nil`, map[string]Value{"torch": Nil}, "true"},
		{`torch == nil`, nil, "unknown"},
		{`layout startsWith "thd" ? heads : 0`, map[string]Value{"layout": StringValue("bshd")}, "0"},
		{`training ? 1 : 1`, nil, "1"},
		{`window[0] == -1 and window[1] == 0`, map[string]Value{"window": ListValue(NumberValue(-1), NumberValue(0))}, "true"},
		{`window[7] == nil`, map[string]Value{"window": ListValue()}, "true"},
		{`recipe.kind.name == "x"`, map[string]Value{"recipe": Nil}, "false"},
		{`env.NVTE_FLASH_ATTN == "0"`, nil, "unknown"},
		{`heads % 8 == 0`, map[string]Value{"heads": NumberValue(64)}, "true"},
		{`heads / 0 == nil`, map[string]Value{"heads": NumberValue(64)}, "true"},
		{`bytes("20.00 GiB") > bytes("512 MiB")`, nil, "true"},
		{`any(window, # == 4)`, map[string]Value{"window": ListValue(NumberValue(3), NumberValue(4))}, "true"},
		{`none(window, # == 4)`, map[string]Value{"window": ListValue()}, "true"},
		{`all(window, # < sm)`, map[string]Value{"window": ListValue(NumberValue(3))}, "unknown"},
	} {
		s := scopeForTests(t)
		e, err := s.compile(c.source)
		if err != nil {
			t.Errorf("%s: %v", c.source, err)
			continue
		}
		situation := s.NewSituation()
		for name, v := range c.facts {
			situation.Set(name, v)
		}
		if got := e.Eval(situation).String(); got != c.want {
			t.Errorf("%s with %v is %s, want %s", c.source, c.facts, got, c.want)
		}
	}
}

func TestUnknowns(t *testing.T) {
	s := scopeForTests(t)
	define(t, s, "ready", `training and heads > 4`)
	e, err := s.compile(`sm > 80 and ready and torch > "2.0"`)
	if err != nil {
		t.Fatal(err)
	}
	situation := s.NewSituation()
	situation.Set("heads", NumberValue(8))
	situation.Set("torch", version(t, "2.5.0"))
	if got := strings.Join(e.Unknowns(situation), " "); got != "sm training" {
		t.Errorf("unknown are %q, want sm and training", got)
	}
}

// TestRefused has what must not load: what has the wrong type, and what would loop or fill the memory in a general evaluator.
func TestRefused(t *testing.T) {
	for source, want := range map[string]string{
		`sm_arch < 90`:                              "1:1: unknown name sm_arch",
		`sm < "2.6"`:                                "cannot be compared",
		`torch < 2.6`:                               "quoted version",
		`torch < "2.x"`:                             "not a version",
		`sm`:                                        "must be true or false",
		`sm and training`:                           "true or false is needed",
		`layout matches "(("`:                       "missing closing",
		`layout matches layout`:                     "constant",
		`error.typ == "x"`:                          "did you mean type",
		`reduce(1..40, #acc + #acc, "x") == ""`:     "no function reduce",
		`any(window, any(window, # == 1))`:          "inside another",
		`layout + layout == ""`:                     "needs numbers",
		`repeat(layout, 1000000000) == ""`:          "no function repeat",
		`len(1..100000000) > 1`:                     "not allowed",
		`let a = sm; a == 1`:                        "not allowed",
		`{"a": 1} == nil`:                           "not allowed",
		`map(window, # * 2) == nil`:                 "no function map",
		`now() == nil`:                              "no function now",
		strings.Repeat("(", 5000):                   "bytes",
		strings.Repeat("training and ", 300) + "sm": "parts",
		`window[sm] == 1`:                           "constant index",
		`sm in 5`:                                   "needs a list",
		`seen(layout)`:                              "constant",
		`layout startsWith 5`:                       "text is needed",
		`training > false`:                          "no order",
		`sm in ["a"]`:                               "never in a list",
		`unknown()`:                                 "no function unknown",
		`"a`:                                        "1:",
	} {
		_, err := scopeForTests(t).compileCondition(source)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: got %v, want an error with %q", source, err, want)
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, seed := range []string{`sm >= 90 and torch < "2.6"`, `any(window, # == 4)`, `error.frames[0].file matches "x"`, `seen("a+") ? 1 : nil`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		s := scopeForTests(t)
		e, err := s.compile(source)
		if err != nil {
			return
		}
		situation := s.NewSituation()
		e.Eval(situation)
		e.Unknowns(situation)
		situation.Set("window", ListValue(NumberValue(1), StringValue("x")))
		situation.Set("sm", NumberValue(90))
		e.Eval(situation)
	})
}

// TestRequires: what a condition says of the text of an event must follow from it, so that nothing else has to be looked at.
func TestRequires(t *testing.T) {
	scope := scopeForTests(t)
	for condition, want := range map[string]string{
		"text matches `CUDA \\d+`":                    `CUDA \d+`,
		`error.name == "KeyError"`:                    `KeyError`,
		`error.name in ["KeyError", "a.b"]`:           `KeyError|a\.b`,
		`text contains "what(): "`:                    `what\(\): `,
		`line startsWith "RuntimeError"`:              `RuntimeError`,
		`error.name != "KeyError"`:                    "",
		`not (text contains "CUDA")`:                  "",
		`text contains "CUDA" or error.type == "x.y"`: "",
		`error.name in ["KeyError", nil]`:             "",
		`before contains "CUDA"`:                      "", // not in the text
		`text contains error.name`:                    "",
	} {
		e, err := scope.compileCondition(condition)
		if err != nil {
			t.Fatal(condition, err)
		}
		got := ""
		if p := e.Requires(); p != nil {
			got = p.String()
		}
		if got != want {
			t.Errorf("%s requires %q, want %q", condition, got, want)
		}
	}
}

// TestDefineChoice: which expression a name stands for is asked anew when the context has changed, and only that one counts.
func TestDefineChoice(t *testing.T) {
	scope := scopeForTests(t)
	var alternatives []*Expression
	for _, source := range []string{"heads > 4", "training"} {
		e, err := scope.compile(source)
		if err != nil {
			t.Fatal(err)
		}
		alternatives = append(alternatives, e)
	}
	if err := scope.DefineChoice("ready", alternatives, func(s *Situation) int { return s.Context.(int) }); err != nil {
		t.Fatal(err)
	}
	e, err := scope.compileCondition("ready or sm > 80")
	if err != nil {
		t.Fatal(err)
	}
	s := scope.NewSituation()
	s.Context = 0
	s.Set("heads", NumberValue(8))
	if got := e.Eval(s).String(); got != "true" {
		t.Errorf("with heads %s", got)
	}
	s.Context = 1
	s.Recompute()
	if got := strings.Join(e.Unknowns(s), " "); got != "training sm" {
		t.Errorf("unknown are %q", got)
	}
	s.Context = -1
	s.Recompute()
	if got := strings.Join(e.Unknowns(s), " "); got != "sm" {
		t.Errorf("without an alternative %q are unknown", got)
	}
	if got := strings.Join(e.Names(), " "); got != "heads training sm" {
		t.Errorf("it reads %q", got)
	}
}

// TestCompute: a computed value has a name only while it is bound, hangs on what its function needs, and must not need itself.
func TestCompute(t *testing.T) {
	scope := scopeForTests(t)
	heads, err := scope.compile("heads > 4")
	if err != nil {
		t.Fatal(err)
	}
	many := &Computed{Value: heads.Eval, Needs: []*Expression{heads}}
	scope.Bind("many", scope.Compute("many heads", Bool, many))
	e, err := scope.compileCondition("many and training")
	if err != nil {
		t.Fatal(err)
	}
	scope.Unbind("many")
	if _, err := scope.compile("many"); err == nil {
		t.Error("a name that was taken back can be written")
	}
	s := scope.NewSituation()
	if got := strings.Join(e.Unknowns(s), " "); got != "heads training" {
		t.Errorf("unknown are %q", got)
	}
	s.Set("heads", NumberValue(2))
	if got := e.Eval(s).String(); got != "false" {
		t.Errorf("with two heads it is %s", got)
	}
	if got := scope.Circular(); len(got) > 0 {
		t.Errorf("%q need themselves", got)
	}
	many.Needs = append(many.Needs, e)
	if got := strings.Join(scope.Circular(), " "); got != "many heads" {
		t.Errorf("%q need themselves", got)
	}
}

// TestComparisons finds what stands beside a name, also where the name stands for an expression.
func TestComparisons(t *testing.T) {
	scope := scopeForTests(t)
	define(t, scope, "wide", "heads / 2")
	e, err := scope.compile(`wide % 8 == 0 and layout in ["thd", "sbhd"] and torch >= "2.6"`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range e.Comparisons() {
		got = append(got, fmt.Sprint(c.Operator, c.Names, c.Numbers, c.Texts))
	}
	slices.Sort(got)
	want := []string{"%[heads] [8] []", "==[heads] [8 0] []", "in[layout] [] [thd sbhd]", ">=[torch] [] [2.6]"}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestRead notes a mistake where it stands in the file.
func TestRead(t *testing.T) {
	d := &rulefile.Decoder{File: "x.yaml"}
	if e := scopeForTests(t).ReadCondition(d, rulefile.Text{Value: "training and\nsm_arch > 4", Line: 7, Column: 9}); e != nil {
		t.Error("a mistake was compiled")
	}
	if got := d.Problems.Error(); !strings.HasPrefix(got, "x.yaml:8:1: unknown name sm_arch") {
		t.Error(got)
	}
}
