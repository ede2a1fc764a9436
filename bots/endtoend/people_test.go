package endtoend

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// services is how services, and the libraries that speak to them, say what went wrong.
var services = regexp.MustCompile(`file_not_found|missing_scope|channel_not_found|fatal_error|invalid header|gzip:|flate:|EOF|dial tcp|lookup |Not Found|api\.github|status \d|\[\]`)

// What cannot be read, and a fact that nobody knows, is said in words: which, why, and what to do. What the services say is in the log.
func TestSlackSaysInWordsWhatItCannotRead(t *testing.T) {
	t.Parallel()
	s, g := newSlack(t), newGitHub(t)
	log, _ := failingLog(t)
	s.files["F1"] = "\x1f\x8b\x08\x00 this is no gzip at all, and goes on for a while"
	s.files["F2"] = log
	p := start(t, t.TempDir(), append(s.settings(), "GITHUB_API_URL="+g.http.URL, "GITHUB_TOKEN="+plainToken)...)
	for name, c := range map[string]struct {
		text   string
		fault  string // of files.info
		want   []string
		logged string
	}{
		"no such file":     {text: "https://acme.slack.com/files/U2/F404/train.log", want: []string{"F404/train.log", "no such file any more", "Paste or attach"}, logged: "file_not_found"},
		"no permission":    {text: "https://acme.slack.com/files/U2/F3/train.log", fault: "missing_scope", want: []string{"F3/train.log", "files:read", "Paste the log"}, logged: "missing_scope"},
		"Slack in trouble": {text: "https://acme.slack.com/files/U2/F2/train.log", fault: "fatal_error", want: []string{"Slack has trouble just now", "Try again"}, logged: "fatal_error"},
		"a damaged file":   {text: "https://acme.slack.com/files/U2/F1/train.log", want: []string{"train.log", "damaged", "plain text"}},
		"no such issue":    {text: "https://github.com/o/r/issues/404", want: []string{"issues/404", "private, or not there", "/triage"}, logged: "Not Found"},
		"another host":     {text: "https://evil.example/x.log", want: []string{"evil.example/x.log", "not a host that logs are fetched from", "Paste the log"}},
		"an unknown fact":  {text: "torhc=2.6.0 zzz=1 https://acme.slack.com/files/U2/F2/train.log", want: []string{"torhc", "Did you mean", "zzz"}},
		"a nonsense fact":  {text: "nonsense=1 " + log, want: []string{"nonsense", "such as"}},
		"a wrong value":    {text: "world_size=many " + log, want: []string{"world_size", "not a number"}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.fault != "" {
				s.fail("^POST /api/files.info$", false, func(w http.ResponseWriter) { said(w, c.fault, nil) })
			}
			_, _, at, _ := s.slash(p, c.text)
			eventually(t, "an answer", p, func() bool { return len(s.in(at)) == 1 })
			m := s.in(at)[0]
			text := m.Text + string(m.Blocks)
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("%q is missing in\n%s", want, text)
				}
			}
			if bad := services.FindString(m.Text); bad != "" {
				t.Errorf("%q is shown to people: %s", bad, m.Text)
			}
			eventually(t, "what the service said, in the log", p, func() bool { return strings.Contains(p.logged(), c.logged) })
		})
	}
}

// A limit of Slack's on reading a file puts the answer off; nobody is told of it.
func TestSlackFileLimitIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := newSlack(t)
	log, signature := failingLog(t)
	s.files["F1"] = log
	p := start(t, t.TempDir(), s.settings()...)
	s.fail("^POST /api/files.info$", false, func(w http.ResponseWriter) { w.Header().Set("Retry-After", "1"); w.WriteHeader(429) })
	_, _, at, _ := s.slash(p, "https://acme.slack.com/files/U2/F1/train.log")
	eventually(t, "an answer", p, func() bool { return len(s.in(at)) == 1 })
	if text := string(s.in(at)[0].Blocks); !strings.Contains(text, signature) {
		t.Errorf("it says %s", text)
	}
}

// An attachment that cannot be read is named in the comment, with why and what to do.
func TestGitHubSaysInWordsWhatItCannotRead(t *testing.T) {
	t.Parallel()
	g := newGitHub(t)
	g.jobLog = "\x1f\x8b\x08\x00 this is no gzip at all, and goes on for a while"
	p := start(t, t.TempDir(), g.asApp()...)
	g.aim(p)
	g.open(1, "ann", "The log is [here]("+g.logs.URL+"/logs.gz).")
	g.deliver("issues", guid(), g.payload(1, "opened", nil))
	settled(t, p)
	if n := len(g.ours(1)); n != 0 {
		t.Fatalf("%d comments unasked", n)
	}
	g.ask(p, 1, "ann", "NONE", "/triage torhc=2.6.0")
	ours := g.ours(1)
	if len(ours) != 1 {
		t.Fatalf("%d comments", len(ours))
	}
	for _, want := range []string{"`logs.gz`", "damaged", "plain text", "torhc", "Did you mean"} {
		if !strings.Contains(ours[0].Body, want) {
			t.Errorf("%q is missing in\n%s", want, ours[0].Body)
		}
	}
	if bad := services.FindString(strings.ReplaceAll(ours[0].Body, "[]", "")); bad != "" {
		t.Errorf("%q is shown to people:\n%s", bad, ours[0].Body)
	}
	g.open(2, "ann", fmt.Sprintf("%s\nand https://github.com/user-attachments/files/1/run.log?x", body(t)))
	g.deliver("issues", guid(), g.payload(2, "opened", nil))
	eventually(t, "a comment", p, func() bool { return len(g.ours(2)) == 1 })
	if text := g.ours(2)[0].Body; !strings.Contains(text, "`run.log`") || services.MatchString(text) {
		t.Errorf("%s", text)
	}
}
