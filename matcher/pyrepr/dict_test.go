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

func TestParseDictValues(t *testing.T) {
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
		entries, err := ParseDict(test.in)
		if err != nil {
			t.Errorf("ParseDict(%s): %v", test.in, err)
			continue
		}
		if test.want == nil {
			continue
		}
		if diff := cmp.Diff(test.want, dictMap(entries)); diff != "" {
			t.Errorf("ParseDict(%s) (-want +got):\n%s", test.in, diff)
		}
	}
}

func TestParseDictKeepsOrderAndText(t *testing.T) {
	entries, err := ParseDict(`Running with config={'b': (1, 2), 'a': x=1, y=2}`)
	if err != nil {
		t.Fatal(err)
	}
	want := []DictEntry{{"b", "(1, 2)", []any{1, 2}}, {"a", "x=1, y=2", map[string]any{"x": 1, "y": 2}}}
	if diff := cmp.Diff(want, entries); diff != "" {
		t.Error(diff)
	}
}

func TestParseDictErrors(t *testing.T) {
	for in, want := range map[string]error{
		"":                                       ErrDict,
		"no brace":                               ErrDict,
		"{1, 2}":                                 ErrDict,
		"{'a': Q(\n":                             ErrDictUnfinished,
		"{'a': 'open":                            ErrDictUnfinished,
		"{'a': 1,":                               ErrDictUnfinished,
		strings.Repeat("{'a': ", 99):             ErrDict,
		"{'a': " + strings.Repeat("[", 99) + "1": ErrDict,
	} {
		if _, err := ParseDict(in); !errors.Is(err, want) {
			t.Errorf("ParseDict(%.40q): got %v, want %v", in, err, want)
		}
	}
}

func TestDictLines(t *testing.T) {
	var d DictLines
	lines := []string{"Running with config={'recipe': q=Qparams(", "power_2_scale=True,", "amax=0.0", "), dpa=False, 'n': 1}"}
	for i, line := range lines {
		entries, err := d.Add(line)
		if last := i == len(lines)-1; !last {
			if !errors.Is(err, ErrDictUnfinished) {
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
	err := error(ErrDictUnfinished)
	n := 0
	for ; errors.Is(err, ErrDictUnfinished); n++ {
		_, err = endless.Add("{'a': (")
	}
	if n != MaxDictLines || !errors.Is(err, ErrDict) {
		t.Errorf("gave up after %d lines with %v", n, err)
	}
}

// TestParseDictConfigs reads configurations as releases 1.9 to 2.19 of TransformerEngine print them, and compares what it finds
// with the values they were made from.
func TestParseDictConfigs(t *testing.T) {
	file, err := os.Open("../testdata/configs/transformer_engine.jsonl")
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
		var entries []DictEntry
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

func FuzzParseDict(f *testing.F) {
	for _, s := range []string{"{'a': [x=1, y=(2,), x=3], 'b': <c 'd'>}", "{'r': q=Q(\na=True,\n), b, 'n': tensor([1., 2.], dtype=x)}", "{{{[((<<'\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		entries, err := ParseDict(s)
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
			if _, err := d.Add(line); !errors.Is(err, ErrDictUnfinished) {
				break
			}
		}
	})
}
