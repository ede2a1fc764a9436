package catalogue

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/signature"
)

// apart are the look-alikes of a failure: what its near misses are, what must not be said of its examples, and what it overrides or is
// overridden by.
func apart(base *rules.Base, s *signature.Signature, examples []signature.Example) []Alike {
	shows := make(map[string]string)
	var ids []string
	var harmless []Alike
	for _, e := range examples {
		if e.Answer.ID == s.ID {
			ids = append(ids, e.Not...)
			continue
		}
		if e.Answer.ID == "" {
			harmless = append(harmless, Alike{Title: "Nothing failed where a log says this", Shows: showing(e, s)})
			continue
		}
		ids = append(ids, e.Answer.ID)
		shows[e.Answer.ID] = cmp.Or(shows[e.Answer.ID], showing(e, s))
	}
	ids = append(ids, s.Overrides...)
	for _, e := range base.Entries {
		if slices.Contains(e.Overrides, s.ID) {
			ids = append(ids, e.ID)
		}
	}
	alike := []Alike{}
	for i, id := range ids {
		other := base.Signature(id)
		if id == s.ID || other == nil || slices.Contains(ids[:i], id) || len(alike) == maxAlike {
			continue
		}
		alike = append(alike, Alike{ID: id, Title: other.Title, Shows: shows[id], Order: order(base, s.ID, id)})
	}
	return append(alike, harmless[:min(len(harmless), 3)]...)
}

// order tells which of two failures is the answer where both fit.
func order(base *rules.Base, id, other string) string {
	switch {
	case base.Overrides(other, id):
		return "Where both fit, that is the answer."
	case base.Overrides(id, other):
		return "Where both fit, this is the answer."
	}
	return ""
}

// showing is the line of a near miss that could be taken for the failure: the one that shows what it is, or has the failure's words.
func showing(e signature.Example, s *signature.Signature) string {
	lines := strings.Split(strings.TrimRight(e.Log, "\n"), "\n")
	if e.Line > 0 && e.Line <= len(lines) {
		return strings.TrimSpace(lines[e.Line-1])
	}
	has := func(line string) bool {
		return slices.ContainsFunc(slices.Concat(s.Keywords, s.Last), func(word string) bool { return strings.Contains(line, word) })
	}
	if i := slices.IndexFunc(lines, has); i >= 0 {
		return strings.TrimSpace(lines[i])
	}
	return strings.TrimSpace(lines[len(lines)-1])
}

// needsOf are the facts that confirm a failure, and those that are worth asking for.
func needsOf(s *signature.Signature, base *rules.Base) []Need {
	needs := []Need{}
	add := func(name, is string) {
		info, known := base.Vocabulary.Fact(name)
		if !known || slices.ContainsFunc(needs, func(n Need) bool { return n.Name == name && (n.Is == is || is == "") }) {
			return
		}
		needs = append(needs, Need{Name: name, About: info.About, Is: is, How: info.Ask})
	}
	for _, c := range s.Confirm {
		if name, is := inWords(c); name != "" {
			add(name, is)
			continue
		}
		for _, name := range c.Names() {
			add(name, "")
		}
	}
	for _, name := range s.Ask {
		add(name, "")
	}
	return needs
}

// than are the words of comparisons with a version or a number.
var than = map[string]string{"<": "older than %s", "<=": "%s or older", ">": "newer than %s", ">=": "%s or newer", "==": "%s", "!=": "not %s"}

// inWords is a condition that is one comparison of a name with a value, as words about that name; "" for any other.
func inWords(c *condition.Expression) (name, is string) {
	fields := strings.Fields(c.Source())
	if len(fields) != 3 || than[fields[1]] == "" || !slices.Equal(c.Names(), fields[:1]) {
		return "", ""
	}
	words, value := than[fields[1]], strings.Trim(fields[2], `"'`)
	if !strings.HasPrefix(fields[2], `"`) { // a number is no release
		words = strings.NewReplacer("older", "less", "newer", "more").Replace(words)
	}
	switch {
	case value == "nil" && fields[1] == "!=":
		return fields[0], "known and there"
	case value == "nil":
		value = "absent"
	}
	return fields[0], fmt.Sprintf(words, value)
}
