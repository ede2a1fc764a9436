package facts_test

import (
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/rules"
)

// foundOut is what the author of a post has found out, as "name=value; name=value".
func foundOut(t *testing.T, base *rules.Base, post string) map[string]string {
	t.Helper()
	form := logline.Sniff("post.md", []byte(post))
	values := make(map[string]string)
	for _, told := range facts.FoundOut(base.Vocabulary, form.Sentences([]byte(post))) {
		values[told.Name] = strings.Trim(told.Value.String(), "()")
	}
	return values
}

// TestFoundOutExamples asks the forms of sentences about their own examples.
func TestFoundOutExamples(t *testing.T) {
	base, err := rules.Open()
	if err != nil {
		t.Fatal(err)
	}
	for _, form := range base.Vocabulary.FoundOut().Sentences {
		values := foundOut(t, base, form.Example+"\nI have a problem.\n")
		if form.Tells["changed_package"] == "" && form.Tells["works_release"] != "" {
			delete(values, "changed_package") // it is told by the title
		}
		if len(values) != len(form.Tells) {
			t.Errorf("%q tells %v, not %v", form.Example, values, form.Tells)
		}
		for name, want := range form.Tells {
			if values[name] != strings.Trim(want, "()") {
				t.Errorf("%q: %s is %q, not %q", form.Example, name, values[name], want)
			}
		}
	}
}
