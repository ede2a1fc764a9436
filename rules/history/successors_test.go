package history

import (
	"regexp"
	"strings"
	"testing"
)

// TestSuccessorsAreBorneOut asks the tables about each row of successors.txt: that some release has the old name and the newest is not known
// to have it, and that the newest has what is to be written in its place.
func TestSuccessorsAreBorneOut(t *testing.T) {
	dotted := regexp.MustCompile(`(?:from ([A-Za-z_][\w.]*) import |import )?\b([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)`)
	for line := range strings.Lines(successorsText) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		old, code, ok := strings.Cut(line, " -> ")
		if !ok {
			t.Errorf("%s: has no ->", line)
			continue
		}
		if had, has := state(t, old); !had || has == Present {
			t.Errorf("%s: some release has it: %t, the newest: %s", old, had, has)
		}
		code, _, _ = strings.Cut(code, "   #")
		for _, m := range dotted.FindAllStringSubmatch(code, -1) {
			name := m[2]
			if m[1] != "" {
				name = m[1] + "." + m[2]
			}
			root, _, deep := strings.Cut(name, ".")
			if !deep || Distribution(root) == "" || !isRoot(root) {
				continue
			}
			if _, has := state(t, name); has == Absent {
				t.Errorf("%s: the newest release does not have %s", line, name)
			}
		}
	}
}

// isRoot tells whether a word is a package, and not only how its distribution is called.
func isRoot(word string) bool {
	for _, d := range Listed() {
		if d.Name == word && len(d.Roots) == 0 {
			return true
		}
		for _, root := range d.Roots {
			if root == word {
				return true
			}
		}
	}
	return false
}

func state(t *testing.T, text string) (had bool, newest Presence) {
	t.Helper()
	name, err := ParseName(text)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Open(name.Dotted)
	if err != nil {
		t.Errorf("%s: %v", text, err)
		return false, Unknown
	}
	return p.lastWith(name) >= 0, p.at(name, len(p.Releases())-1)
}
