package endtoend

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// seeded are secrets as logs leak them. None is real.
func seeded() []string {
	return []string{
		"hf_" + strings.Repeat("aBcDeFgHiJ", 3) + "kLmN",
		"ghp_" + strings.Repeat("0a1B2c", 6),
		"github_pat_" + strings.Repeat("0a1B2c3D4e", 2) + "ab_" + strings.Repeat("0a1B2c3D4e", 5) + "f6G7h8I9j",
		"xoxb-" + "210987654321-3210987654321-ZyXwVuTsRqPoNmLkJiHgFeDc",
		"AKIA" + "IOSFODNN7QRSTUVW",
		"0123456789abcdef0123456789abcdef01234567", // of Weights & Biases, after its name
		"s3cr3tP4ssw0rd", // in a URL
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
	}
}

// leaky is a log with the secrets, in the lines that a report quotes and in others.
func leaky() string {
	s := seeded()
	secretLines := "HF_TOKEN=" + s[0] + " GITHUB_TOKEN=" + s[1] + "\npip install git+https://" + s[2] + "@github.com/o/r\nslack " + s[3] + "\nAWS_ACCESS_KEY_ID=" + s[4] +
		"\nWANDB_API_KEY=" + s[5] + "\nhttps://admin:" + s[6] + "@registry.example.org/simple\nAuthorization: Bearer " + s[7] + "\n"
	trace := "Traceback (most recent call last):\n  File \"/home/me/train.py\", line 3, in <module>\n    main()\n"
	return secretLines + trace + "RuntimeError: token " + s[0] + " " + s[1] + " " + s[3] + " AWS_ACCESS_KEY_ID=" + s[4] + " WANDB_API_KEY=" + s[5] +
		" https://admin:" + s[6] + "@registry.example.org/ Authorization: Bearer " + s[7] + " @octocat closes #1 <!channel>\n"
}

// Secrets of a log are in no byte that leaves, and in no line of our own log.
func TestSecretsStay(t *testing.T) {
	g, s := newGitHub(t), newSlack(t)
	data := t.TempDir()
	settings := append(append(g.asApp(), s.settings()...), "TRIAGE_PUBLIC_URL=https://triage.example")
	p := start(t, data, settings...)
	g.aim(p)
	g.open(1, "ann", "```\n"+leaky()+"```\n")
	asked := g.say(1, "ann", "NONE", "/triage")
	g.deliver("issue_comment", guid(), g.payload(1, "created", asked))
	_, _, at, _ := s.slash(p, leaky())
	s.interact(p, map[string]any{"type": "message_action", "trigger_id": guid(), "user": map[string]any{"id": "U1"}, "channel": map[string]any{"id": "C1"},
		"message": map[string]any{"ts": "1699.1", "text": leaky()}})
	eventually(t, "answers", p, func() bool { return len(g.ours(1)) == 1 && len(s.in(at)) == 1 && len(s.in("C1")) == 1 })
	settled(t, p)
	response, err := http.Post(p.address+"/v1/diagnose", "text/plain", strings.NewReader(leaky()))
	if err != nil {
		t.Fatal(err)
	}
	answered, _ := io.ReadAll(response.Body)
	response.Body.Close()
	_, metrics := p.get("/metrics")
	_, page := p.get("/reports/" + valueOf(t, s.in(at)[0].Blocks, "triage_share"))
	g.mu.Lock()
	toGitHub := g.received.String()
	g.mu.Unlock()
	s.mu.Lock()
	toSlack := s.received.String()
	s.mu.Unlock()
	own := append(seeded(), botToken, signingSecret, webhookSecret)
	for place, text := range map[string]string{"GitHub": toGitHub, "Slack": strings.ReplaceAll(toSlack, "token="+botToken, ""), "our log": p.logged(),
		"/v1/diagnose": string(answered), "/metrics": metrics, "/reports": page} {
		for _, secret := range own {
			if strings.Contains(text, secret) {
				t.Errorf("%s is told %s…", place, secret[:6])
			}
		}
	}
	if !strings.Contains(g.ours(1)[0].Body, "redacted") {
		t.Errorf("nothing was quoted, so nothing was tested:\n%s", g.ours(1)[0].Body)
	}
}

func TestEmptySecretsAreRefused(t *testing.T) {
	for _, setting := range []string{"GITHUB_WEBHOOK_SECRET=", "SLACK_SIGNING_SECRET= ", "TRIAGE_ADMIN_TOKEN="} {
		p := launch(t, t.TempDir(), setting)
		p.died()
		if code := p.cmd.ProcessState.ExitCode(); code != 2 || !strings.Contains(p.logged(), strings.TrimSuffix(strings.TrimSpace(setting), "=")) {
			t.Errorf("%q: exit status %d, %s", setting, code, p.logged())
		}
	}
}

func TestOneFolderOneProcess(t *testing.T) {
	data := t.TempDir()
	start(t, data)
	p := launch(t, data)
	p.died()
	if !strings.Contains(p.logged(), "in use") {
		t.Errorf("a second process over the same folder: %s", p.logged())
	}
}

func TestDiagnoseOverHTTP(t *testing.T) {
	p := start(t, t.TempDir())
	log, signature := failingLog(t)
	ask := func(query, accept, body string) (int, string, string) {
		r, err := http.NewRequest(http.MethodPost, p.address+"/v1/diagnose"+query, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", accept)
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, _ := io.ReadAll(response.Body)
		return response.StatusCode, string(text), response.Header.Get("Link")
	}
	code, text, link := ask("?fact=transformer_engine=1.12.0", "application/json", log)
	if code != 200 || !strings.Contains(text, `"schema": "triage.report/v1"`) && !strings.Contains(text, `"schema":"triage.report/v1"`) || !strings.Contains(text, signature) || !strings.Contains(text, "1.12.0") {
		t.Errorf("JSON: %d %s", code, text)
	}
	if code, page := p.get(strings.Trim(strings.Split(link, ";")[0], "<>")); code != 200 || !strings.Contains(page, signature) {
		t.Errorf("the report at %s: %d", link, code)
	}
	if _, text, _ := ask("", "text/markdown", log); !strings.Contains(text, "###") {
		t.Errorf("Markdown: %s", text)
	}
	if code, text, _ := ask("?fact=nonsense=1", "", log); code != 400 || !strings.Contains(text, "nonsense") {
		t.Errorf("an unknown fact: %d %s", code, text)
	}
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		if code, _ := p.get(path); code != 200 {
			t.Errorf("%s: %d", path, code)
		}
	}
	entries, err := filepath.Glob(filepath.Join(os.TempDir(), "fetched*"))
	if err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v %v", entries, err)
	}
}
