package pyrepr

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseValues(t *testing.T) {
	for _, test := range []struct {
		in   string
		want map[string]any
	}{
		{`{}`, map[string]any{}},
		{`config={'a': 1, "b": -2.5, 'c': None, 'd': True, 'e': False}`,
			map[string]any{"a": 1, "b": -2.5, "c": nil, "d": true, "e": false}},
		{`{'w': (-1, 0), 'one': (16,), 'l': [1, [2]], 'n': {'x': {}}}`,
			map[string]any{"w": []any{-1, 0}, "one": []any{16}, "l": []any{1, []any{2}}, "n": map[string]any{"x": map[string]any{}}}},
		{`{'c': <class 'torch.Tensor'>, 'v': <Version('2.6.3')>, 'd': torch.bfloat16, 'e': <AttnMask.causal: 2>}`,
			map[string]any{"c": "torch.Tensor", "v": "2.6.3", "d": "torch.bfloat16", "e": "AttnMask.causal"}},
		{`{'o': <a.b.Params object at 0x7f00>, 'f': <function <lambda> at 0x1>}`,
			map[string]any{"o": "<a.b.Params object at 0x7f00>", "f": "<function <lambda> at 0x1>"}},
		{`{'t': tensor(5743, dtype=torch.int32), 's': torch.Size([4, 8]), 'p': PosixPath('/a')}`,
			map[string]any{"t": 5743, "s": []any{4, 8}, "p": "/a"}},
		{"{'r': margin=0, format=E4M3, q=Qparams(\na=True,\nb=0.0\n), dpa=False, 'next': 1}",
			map[string]any{"r": map[string]any{"margin": 0, "format": "E4M3", "dpa": false,
				"q": map[string]any{"type": "Qparams", "a": true, "b": 0.0}}, "next": 1}},
		{`{'r': margin=0, format=E4M3,}`, map[string]any{"r": map[string]any{"margin": 0, "format": "E4M3"}}},
		{`{'l': [kind=A, n=1, kind=B, n=2]}`, map[string]any{"l": []any{map[string]any{"kind": "A", "n": 1}, map[string]any{"kind": "B", "n": 2}}}},
		{`{'s': 'it\'s, {odd}: "x"', 'b': b'raw', 'u': "don't"}`, map[string]any{"s": `it's, {odd}: "x"`, "b": "raw", "u": "don't"}},
		{`{'x': 1 if y else 2, 'z': a, b c, 'k': 3}`, map[string]any{"x": "1 if y else 2", "z": "a, b c", "k": 3}},
		{`{0: 'a', (1): 2, E.x: 3}`, map[string]any{"0": "a", "(1)": 2, "E.x": 3}},
		{`{'inf': inf, 'nan': 'nan', 'big': 123456789012345678901234567890}`, nil},
	} {
		entries, err := Parse(test.in)
		if err != nil {
			t.Errorf("Parse(%s): %v", test.in, err)
			continue
		}
		if test.want == nil {
			continue
		}
		if diff := cmp.Diff(test.want, dictMap(entries)); diff != "" {
			t.Errorf("Parse(%s) (-want +got):\n%s", test.in, diff)
		}
	}
}

func TestParseKeepsOrderAndText(t *testing.T) {
	entries, err := Parse(`Running with config={'b': (1, 2), 'a': x=1, y=2}`)
	if err != nil {
		t.Fatal(err)
	}
	want := []Entry{{"b", "(1, 2)", []any{1, 2}}, {"a", "x=1, y=2", map[string]any{"x": 1, "y": 2}}}
	if diff := cmp.Diff(want, entries); diff != "" {
		t.Error(diff)
	}
}

func TestParseErrors(t *testing.T) {
	for in, want := range map[string]error{
		"":                                       ErrNotDict,
		"no brace":                               ErrNotDict,
		"{1, 2}":                                 ErrNotDict,
		"{'a': Q(\n":                             ErrUnfinished,
		"{'a': 'open":                            ErrUnfinished,
		"{'a': 1,":                               ErrUnfinished,
		strings.Repeat("{'a': ", 99):             ErrNotDict,
		"{'a': " + strings.Repeat("[", 99) + "1": ErrNotDict,
	} {
		if _, err := Parse(in); !errors.Is(err, want) {
			t.Errorf("Parse(%.40q): got %v, want %v", in, err, want)
		}
	}
}

func TestDictLines(t *testing.T) {
	var d DictLines
	lines := []string{"Running with config={'recipe': q=Qparams(", "power_2_scale=True,", "amax=0.0", "), dpa=False, 'n': 1}"}
	for i, line := range lines {
		entries, err := d.Add(line)
		if last := i == len(lines)-1; !last {
			if !errors.Is(err, ErrUnfinished) {
				t.Fatalf("line %d: got %v", i, err)
			}
			continue
		}
		want := map[string]any{"n": 1, "recipe": map[string]any{"dpa": false, "q": map[string]any{"type": "Qparams", "power_2_scale": true, "amax": 0.0}}}
		if diff := cmp.Diff(want, dictMap(entries)); err != nil || diff != "" {
			t.Errorf("%v %s", err, diff)
		}
	}
	var endless DictLines
	err := error(ErrUnfinished)
	n := 0
	for ; errors.Is(err, ErrUnfinished); n++ {
		_, err = endless.Add("{'a': (")
	}
	if n != 200 || !errors.Is(err, ErrNotDict) {
		t.Errorf("gave up after %d lines with %v", n, err)
	}
}

// TestLimits: what is at a limit is read, and what is one beyond is not.
func TestLimits(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	value := func(text string) any {
		entries, err := Parse(text)
		if err != nil || len(entries) == 0 {
			return err
		}
		return entries[0].Value
	}
	class := func(name string) string { return "<class '" + name + "'>" }
	deep := func(n int) string { return "{'a': " + strings.Repeat("[", n) + strings.Repeat("]", n) + "}" }
	long := func(n int) string { return "text {'a': '" + x(n-len("{'a': ''}")) + "'}" }
	for _, test := range []struct {
		name, text string
		want       any
	}{
		{"512 bytes in angles", "{'a': " + class(x(502)) + "}", x(502)},
		{"513 bytes in angles", "{'a': " + class(x(503)) + "}", class(x(503))},
		{"a key of 255 bytes", "{" + x(255) + ": 1}", 1},
		{"a key of 256 bytes", "{" + x(256) + ": 1}", ErrNotDict},
		{"64 KiB", long(64 << 10), x(64<<10 - len("{'a': ''}"))},
		{"a byte more", long(64<<10 + 1), ErrUnfinished},
	} {
		if got := value(test.text); got != test.want {
			t.Errorf("%s: got %.40v, want %.40v", test.name, got, test.want)
		}
	}
	if _, err := Parse(deep(63)); err != nil {
		t.Errorf("64 brackets: %v", err)
	}
	if _, err := Parse(deep(64)); !errors.Is(err, ErrNotDict) {
		t.Errorf("65 brackets: %v", err)
	}
	for size, want := range map[int]error{64<<10 - 1: ErrUnfinished, 64 << 10: ErrNotDict} {
		var d DictLines
		if _, err := d.Add("{" + x(size-1)); !errors.Is(err, want) {
			t.Errorf("an open dict of %d bytes: %v, want %v", size, err, want)
		}
	}
}

// TestParseConfigs reads configurations as releases 1.9 to 2.19 of TransformerEngine print them, and compares what it finds
// with the values they were made from.
func TestParseConfigs(t *testing.T) {
	file, err := os.Open("../../testdata/configs/transformer_engine.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows := 0
	for s := bufio.NewScanner(file); s.Scan(); rows++ {
		var row struct {
			ID, Config    string
			Facts, Recipe map[string]any
		}
		if err := json.Unmarshal(s.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		var d DictLines
		var entries []Entry
		for _, line := range strings.Split(row.Config, "\n") {
			entries, err = d.Add(line)
		}
		if err != nil {
			t.Errorf("%s: %v\n%s", row.ID, err, row.Config)
			continue
		}
		got := dictMap(entries)
		for name, want := range row.Facts {
			checkFact(t, row.ID, name, want, got[name])
		}
		if row.Recipe == nil {
			continue
		}
		meta, _ := got["fp8_meta"].(map[string]any)
		recipe, ok := meta["recipe"].(map[string]any)
		if !ok {
			t.Errorf("%s: recipe is %v", row.ID, meta["recipe"])
			continue
		}
		for _, name := range []string{"fp8_dpa", "fp8_mha"} {
			if v, printed := recipe[name]; printed {
				checkFact(t, row.ID, name, row.Recipe[name], v)
			}
		}
		if typ, printed := recipe["recipe_type"]; printed {
			checkFact(t, row.ID, "type", row.Recipe["type"], typ)
		}
	}
	if rows < 30 {
		t.Errorf("only %d rows", rows)
	}
}

// checkFact compares a JSON value with a parsed one.
func checkFact(t *testing.T, id, name string, want, got any) {
	t.Helper()
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var plain any
	if err := json.Unmarshal(text, &plain); err != nil {
		t.Fatal(err)
	}
	if s, ok := plain.(string); ok && name == "qkv_type" {
		plain = s
		if w, ok := want.(string); ok && strings.HasSuffix(s, "."+w) {
			return
		}
	}
	if diff := cmp.Diff(want, plain); diff != "" {
		t.Errorf("%s: %s (-want +got):\n%s", id, name, diff)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"{'a': [x=1, y=(2,), x=3], 'b': <c 'd'>}", "{'r': q=Q(\na=True,\n), b, 'n': tensor([1., 2.], dtype=x)}", "{{{[((<<'\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		entries, err := Parse(s)
		if err != nil && entries != nil {
			t.Error("entries with an error")
		}
		for _, e := range entries {
			if !strings.Contains(s, e.Key) && !strings.Contains(s, `\`) {
				t.Errorf("key %q is not in the text", e.Key)
			}
		}
		var d DictLines
		for _, line := range strings.Split(s, "\n") {
			if _, err := d.Add(line); !errors.Is(err, ErrUnfinished) {
				break
			}
		}
	})
}
