package githubbot

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplit(t *testing.T) {
	for name, c := range map[string]struct{ body, code string }{
		"fence":           {"a\n```\nx\ny\n```\nb\n", "\n\nx\ny\n\n\n"},
		"language":        {"```python-traceback\nx\n```", "\nx\n\n"},
		"tildes":          {"~~~\n```\n~~~\nb", "\n```\n\n\n"},
		"longer":          {"````\n```\n````", "\n```\n\n"},
		"unclosed":        {"```\nx\ny", "\nx\ny\n"},
		"inline":          {"use ```x``` here\nb", "\n\n"},
		"windows":         {"```\r\nx\r\n```\r\n", "\nx\n\n"},
		"quoted":          {"> ```\n> x\n> ```\n", "\n\n\n"},
		"in a list":       {"- ```\n  x\n  ```\n", "\n  x\n\n"},
		"not closed by a": {"```\n``` x\ny\n```", "\n``` x\ny\n\n"},
	} {
		code, prose := split(c.body)
		if diff := cmp.Diff(c.code, code); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if strings.Count(code, "\n") != strings.Count(prose, "\n") {
			t.Errorf("%s: the parts have different line numbers", name)
		}
	}
}

func TestCommand(t *testing.T) {
	for body, want := range map[string]map[string]string{
		"/triage":                             {},
		"hello\n/triage a=1 b=\"x y\"\r\nbye": {"a": "1", "b": "x y"},
		"/triage please a=1 thanks":           {"a": "1"},
		"/triage env.NVTE_FLASH_ATTN=0":       {"env.NVTE_FLASH_ATTN": "0"},
		"/triaged":                            nil,
		"say /triage":                         nil,
		"> /triage":                           nil,
		"```\n/triage\n```":                   nil,
	} {
		said, asked := commandIn(body)
		facts := said.facts
		if asked != (want != nil) {
			t.Errorf("%q: asked is %v", body, asked)
			continue
		}
		if len(want) != len(facts) {
			t.Errorf("%q: facts %v", body, facts)
		}
		for name, value := range want {
			if facts[name] != value {
				t.Errorf("%q: %s is %q", body, name, facts[name])
			}
		}
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("a\n```\nx\n```\n/triage a=1")
	f.Add("~~~~\n```\n")
	f.Fuzz(func(t *testing.T, body string) {
		code, prose := split(body)
		if strings.Count(code, "\n") != strings.Count(prose, "\n") {
			t.Error("the parts have different line numbers")
		}
		commandIn(body)
		links(body)
	})
}

func FuzzLooks(f *testing.F) {
	f.Add("issues", `{"action":"opened","issue":{"number":1,"body":"x","user":{"login":"a"}},"repository":{"full_name":"o/r"}}`)
	f.Add("workflow_run", `{"action":"completed","workflow_run":{"conclusion":"failure","head_sha":"x"},"repository":{"full_name":"o/r"}}`)
	f.Fuzz(func(t *testing.T, kind, payload string) {
		var e event
		if json.Unmarshal([]byte(payload), &e) != nil {
			return
		}
		looks, ignored := e.visits(kind)
		if (len(looks) == 0) == (ignored == "") {
			t.Errorf("%d looks, ignored for %q", len(looks), ignored)
		}
		for _, l := range looks {
			if owner, repo := ownerOf(l.Repository); owner == "" || repo == "" {
				t.Errorf("a look at %q", l.Repository)
			}
		}
	})
}
