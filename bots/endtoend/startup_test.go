package endtoend

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestWrongSettings: the start ends at once, and says which setting is wrong and what to do.
func TestWrongSettings(t *testing.T) {
	t.Parallel()
	s, g := newSlack(t), newGitHub(t)
	key := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(key, []byte("no key"), 0o600); err != nil {
		t.Fatal(err)
	}
	slack, github := s.settings(), g.asApp()
	for _, c := range []struct {
		about    string
		settings []string
		says     []string
	}{
		{"an address without a scheme", []string{"TRIAGE_PUBLIC_URL=triage.corp.net"}, []string{"TRIAGE_PUBLIC_URL", "https://triage.corp.net"}},
		{"an address with another", []string{"PROMETHEUS_URL=prometheus:9090"}, []string{"PROMETHEUS_URL", "https://"}},
		{"the README's address", []string{"TRIAGE_PUBLIC_URL=https://triage.example.org"}, []string{"TRIAGE_PUBLIC_URL", "example"}},
		{"the README's token", []string{"TRIAGE_ADMIN_TOKEN=what `openssl rand -hex 32` prints"}, []string{"TRIAGE_ADMIN_TOKEN", "example"}},
		{"the README's other token", []string{"TRIAGE_DIAGNOSE_TOKEN=another one"}, []string{"TRIAGE_DIAGNOSE_TOKEN", "example"}},
		{"a token in quotes", []string{`TRIAGE_ADMIN_TOKEN="0123456789abcdef"`}, []string{"TRIAGE_ADMIN_TOKEN", "quotes"}},
		{"garbage", append(slack, "SLACK_BOT_TOKEN=garbage"), []string{"SLACK_BOT_TOKEN", "xoxb-"}},
		{"the flag's example", append(slack, "SLACK_BOT_TOKEN=xoxb-..."), []string{"SLACK_BOT_TOKEN", "copy it again"}},
		{"the other token", append(slack, "SLACK_BOT_TOKEN="+socketToken), []string{"SLACK_BOT_TOKEN", "app-level", "xoxb-"}},
		{"a token as signing secret", append(slack, "SLACK_SIGNING_SECRET="+botToken), []string{"SLACK_SIGNING_SECRET", "Basic Information"}},
		{"a token that Slack does not know", append(slack, "SLACK_BOT_TOKEN="+botToken+"1"), []string{"SLACK_BOT_TOKEN", "does not know this token", "OAuth & Permissions"}},
		{"an app-level token that Slack does not know", append(slack, "SLACK_APP_TOKEN="+socketToken+"1"), []string{"SLACK_APP_TOKEN", "connections:write"}},
		{"half of what workspaces need", append(slack, "SLACK_CLIENT_ID=1.2"), []string{"SLACK_CLIENT_SECRET and TRIAGE_SECRET_KEY and TRIAGE_PUBLIC_URL"}},
		{"a short key", []string{"TRIAGE_SECRET_KEY=short"}, []string{"TRIAGE_SECRET_KEY", "openssl rand -hex 32"}},
		{"a client id for the App's", append(github, "GITHUB_APP_ID=Iv1.0123456789abcdef"), []string{"GITHUB_APP_ID", "client ID"}},
		{"another App's id", append(github, "GITHUB_APP_ID=4712"), []string{"GITHUB_APP_ID 4712", "do not belong together"}},
		{"a key that is none", append(github, "GITHUB_APP_PRIVATE_KEY_FILE="+key), []string{"GITHUB_APP_PRIVATE_KEY_FILE", "download"}},
		{"a key for a file", append(github, "GITHUB_APP_PRIVATE_KEY_FILE=-----BEGIN RSA PRIVATE KEY-----"), []string{"GITHUB_APP_PRIVATE_KEY_FILE", "path"}},
		{"a token that GitHub does not know", append(g.withToken(), "GITHUB_TOKEN=ghp_ffffffffffffffffffffffffffffffffffff"), []string{"GITHUB_TOKEN", "does not know this token"}},
	} {
		t.Run(c.about, func(t *testing.T) {
			t.Parallel()
			p := launch(t, t.TempDir(), c.settings...)
			p.died()
			if p.cmd.ProcessState.ExitCode() <= 0 {
				t.Errorf("it ended with %v", p.cmd.ProcessState)
			}
			for _, words := range c.says {
				if !strings.Contains(p.logged(), words) {
					t.Errorf("%q is not in\n%s", words, p.logged())
				}
			}
		})
	}
}

// TestStartsWithWhatIsDown: a service that does not answer, or only with trouble, is told and does not keep the server from its work.
func TestStartsWithWhatIsDown(t *testing.T) {
	t.Parallel()
	down := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { hijack(w) })) // a port that is closed would be another test's soon
	t.Cleanup(down.Close)
	trouble := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "Bad Gateway", http.StatusBadGateway) }))
	t.Cleanup(trouble.Close)
	g := newGitHub(t)
	for _, at := range []string{down.URL, trouble.URL} {
		p := start(t, t.TempDir(), append(g.asApp(), "SLACK_SIGNING_SECRET="+signingSecret, "SLACK_BOT_TOKEN="+botToken, "SLACK_API_URL="+at+"/api/", "GITHUB_API_URL="+at)...)
		for _, words := range []string{"SLACK_BOT_TOKEN was not checked", "the App was not checked"} {
			if !strings.Contains(p.logged(), words) {
				t.Errorf("%q is not in\n%s", words, p.logged())
			}
		}
	}
}

// TestMissingPermissions: what will not work is told at the start, with what to do; and a clock that is wrong.
func TestMissingPermissions(t *testing.T) {
	t.Parallel()
	s, g := newSlack(t), newGitHub(t)
	s.scopes = "commands,chat:write,files:write,app_mentions:read,im:history,channels:history,channels:read,groups:history"
	g.fail("^GET /app$", false, func(w http.ResponseWriter) {
		w.Header().Set("Date", time.Now().Add(-10*time.Minute).UTC().Format(http.TimeFormat))
		fmt.Fprint(w, `{"slug":"x","permissions":{"metadata":"read","issues":"read","contents":"read","actions":"read"},"events":["issues","workflow_run"],"html_url":"https://github.com/apps/x"}`)
	})
	p := start(t, t.TempDir(), append(s.settings(), g.asApp()...)...)
	for _, words := range []string{"lacks the scopes files:read, groups:read", "Reinstall", "event issue_comment, issues: write, ", "pull_requests: write", "https://github.com/apps/x",
		"clock is 10m", "ahead of GitHub"} {
		if !strings.Contains(p.logged(), words) {
			t.Errorf("%q is not in\n%s", words, p.logged())
		}
	}
}
