package rules

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

// overriding is a signature file with that line and conditions.
func overriding(id, overrides string, match ...string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte(fmt.Sprintf(
		"id: %s\ntitle: x\n%s\nkeywords: [shard rows]\nmatch: ['%s']\ncause: x\nfixes: [{do: x}]\nreferences: [x]\n",
		id, overrides, strings.Join(match, "', '")))}
}

func TestOverridesThroughOthers(t *testing.T) {
	condition := `text contains "shard"`
	b, err := Load(Shipped(), fstest.MapFS{
		"a.yaml": overriding("a", "overrides: [b]", condition),
		"b.yaml": overriding("b", "overrides: [c, cuda-oom]", condition),
		"c.yaml": overriding("c", "", condition),
	})
	if err != nil {
		t.Fatal(err)
	}
	for pair, want := range map[[2]string]bool{
		{"a", "b"}: true, {"a", "c"}: true, {"a", "cuda-oom"}: true, {"b", "c"}: true,
		{"b", "a"}: false, {"c", "a"}: false, {"a", "a"}: false, {"cuda-oom", "a"}: false,
	} {
		if got := b.Overrides(pair[0], pair[1]); got != want {
			t.Errorf("%s overrides %s: %v, want %v", pair[0], pair[1], got, want)
		}
	}
}

// TestCircle: the mistake is reported once, in a file that the user wrote, also where the circle goes through a shipped signature.
func TestCircle(t *testing.T) {
	condition := `text contains "shard"`
	for name, c := range map[string]struct {
		load func(...fs.FS) (*Base, error)
		mine fstest.MapFS
		want string
	}{
		"three": {Load, fstest.MapFS{
			"b.yaml": overriding("b", "overrides: [cuda-oom, c]", condition),
			"c.yaml": overriding("c", "overrides: [d]", condition),
			"d.yaml": overriding("d", "overrides:\n  - b", condition),
		}, "d.yaml:4:5: overrides: these signatures override each other in a circle: b > c > d > b; take out the one that is wrong"},
		"through a shipped one": {Open, fstest.MapFS{
			"python-exception.yaml": overriding("python-exception", "overrides: [python-value-error]", condition),
		}, "python-exception.yaml:3:13: overrides: these signatures override each other in a circle: python-exception > python-value-error > python-exception; take out the one that is wrong"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.load(Shipped(), c.mine)
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

// TestAsks: neither the number of list items nor denials change how much a signature asks for.
func TestAsks(t *testing.T) {
	for want, matches := range map[int][][]string{
		2: {{`text contains "a"`}, {`text contains "a" or text contains "b" and text contains "c"`}},
		3: {
			{`text contains "a" and text contains "b"`},
			{`text contains "a"`, `text contains "b"`},
			{`text contains "a" and not (text contains "c") and text contains "b"`},
			{`text contains "a"`, `text contains "b"`, `not any(error.frames, .line > 3)`, `none(error.frames, .line > 3)`},
		},
	} {
		for _, match := range matches {
			b, err := Load(Shipped(), fstest.MapFS{"a.yaml": overriding("a", "", match...)})
			if err != nil {
				t.Fatal(err)
			}
			if got := b.Signature("a").Asks(); got != want {
				t.Errorf("%q asks for %d, want %d", match, got, want)
			}
		}
	}
}
