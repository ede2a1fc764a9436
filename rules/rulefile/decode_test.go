package rulefile

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

type example struct {
	Name    Text              `yaml:"name"`
	Count   int               `yaml:"count"`
	Words   []string          `yaml:"words"`
	Strict  bool              `yaml:"strict"`
	Numbers map[string]string `yaml:"numbers"`
	Later   *Node             `yaml:"later"`
}

func TestDecode(t *testing.T) {
	var got example
	err := Decode("x.yaml", []byte("name: 'a'\ncount: 3\nwords: one\nstrict: true\nnumbers: {a: 1}\n"), &got)
	if err != nil {
		t.Fatal(err)
	}
	want := example{Name: Text{"a", 1, 8}, Count: 3, Words: []string{"one"}, Strict: true, Numbers: map[string]string{"a": "1"}}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(example{}, "Later")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestMistakes: each is told with its place, and all of a file at once.
func TestMistakes(t *testing.T) {
	for content, want := range map[string]string{
		"nam: x\ncount: three\n":      "x.yaml:1:1: unknown key \"nam\", did you mean \"name\"?\nx.yaml:2:8: \"three\" is not a whole number",
		"name: a\nname: b\n":          "x.yaml:2:1: the key \"name\" stands here twice",
		"name: [a]\n":                 "x.yaml:1:7: a text is needed here; put quotes around an expression that YAML takes for something else",
		"words: &w [a]\n":             "x.yaml:1:8: anchors and aliases are not allowed in rules",
		"later: {a: &w [a], b: *w}\n": "x.yaml:1:12: anchors and aliases are not allowed in rules\nx.yaml:1:23: anchors and aliases are not allowed in rules",
		"name: a\n---\nname: b\n":     "x.yaml:2:1: a rule file holds one document, a second one begins here",
		"":                            "x.yaml:1:1: the file is empty",
		"name: [a\n":                  "x.yaml:2:1: did not find expected ',' or ']'; a text with { } [ ] : or # in it needs quotes",
		"name: a\nrest: [run {it}]\n": "x.yaml:2:1: did not find expected ',' or ']'; a text with { } [ ] : or # in it needs quotes",
	} {
		err := Decode("x.yaml", []byte(content), &example{})
		var problems Problems
		if !errors.As(err, &problems) || problems.Error() != want {
			t.Errorf("%q:\ngot  %v\nwant %s", content, err, want)
		}
	}
}

// TestNode reads a part that may be of any form.
func TestNode(t *testing.T) {
	d := &Decoder{File: "x.yaml"}
	got, root := Read[example](d, []byte("later:\n  - 5\n  - {a: [x, null], 'b': true}\n"))
	if len(d.Problems) > 0 || root.Line != 1 {
		t.Fatal(d.Problems)
	}
	items := got.Later.Items()
	if len(items) != 2 || !items[0].IsText() || !items[1].IsMapping() || len(items[0].Items()) != 1 {
		t.Fatalf("%d items", len(items))
	}
	var values []any
	for _, item := range items {
		values = append(values, d.Constant(item))
	}
	if diff := cmp.Diff([]any{5.0, map[string]any{"a": []any{"x", nil}, "b": true}}, values); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]Text{{"5", 2, 5}, {"a", 3, 6}, {"x", 3, 10}, {"null", 3, 13}, {"b", 3, 21}, {"true", 3, 25}}, got.Later.Texts()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, ok := d.Text(items[1], "a condition"); ok || !strings.HasPrefix(d.Problems.Error(), "x.yaml:3:5: a condition is needed here") {
		t.Error(d.Problems)
	}
}
