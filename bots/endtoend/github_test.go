package endtoend

import (
	"archive/zip"
	"bytes"
	"crypto/hmac"
	"crypto/sha1"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// body is an issue with a log, some prose around it, and things in the log that must not come alive.
func body(t testing.TB) string {
	log, _ := failingLog(t)
	return "Training dies.\n\n```\n" + log + "```\nAny idea?\n"
}

func TestAnswersIssueOnceAndEditsInPlace(t *testing.T) {
	g := newGitHub(t)
	p := start(t, t.TempDir(), g.asApp()...)
	g.aim(p)
	_, signature := failingLog(t)
	g.open(1, "ann", body(t))
	opened := g.payload(1, "opened", nil)
	id := guid()
	for range 5 { // the same delivery five times
		if code := g.deliver("issues", id, opened); code != http.StatusOK {
			t.Fatalf("a delivery was answered with %d", code)
		}
	}
	eventually(t, "a comment", p, func() bool { return len(g.ours(1)) == 1 })
	settled(t, p)
	ours := g.ours(1)
	if len(ours) != 1 || ours[0].edits != 0 {
		t.Fatalf("%d comments, %d edits; one comment, no edit expected", len(ours), ours[0].edits)
	}
	if !strings.Contains(ours[0].Body, signature) {
		t.Errorf("the comment does not name %s:\n%s", signature, ours[0].Body)
	}
	// An edit that takes the log away changes the same comment.
	g.open(1, "ann", "Solved, thanks.")
	g.deliver("issues", guid(), g.payload(1, "edited", nil))
	eventually(t, "an edit", p, func() bool { return strings.Contains(g.ours(1)[0].Body, "has changed") })
	// The older delivery again, late: what counts is what the issue says now.
	g.deliver("issues", guid(), opened)
	settled(t, p)
	if ours := g.ours(1); len(ours) != 1 || !strings.Contains(ours[0].Body, "has changed") {
		t.Errorf("a late delivery brought the old answer back: %v", ours)
	}
}

func TestSilentWithoutLogOrFromBots(t *testing.T) {
	g := newGitHub(t)
	p := start(t, t.TempDir(), g.asApp()...)
	g.aim(p)
	g.open(1, "ann", "How do I install this? I once saw `CUDA out of memory`.")
	g.open(2, "ann", "```\nepoch 1 loss 0.3\nepoch 2 loss 0.2\n```")
	g.open(3, "dependabot[bot]", body(t))
	g.open(4, "ann", "<!-- triage:report 0 -->\n"+body(t))
	for n := 1; n <= 4; n++ {
		if code := g.deliver("issues", guid(), g.payload(n, "opened", nil)); code != http.StatusOK {
			t.Errorf("issue %d: %d", n, code)
		}
	}
	settled(t, p)
	for n := 1; n <= 4; n++ {
		if got := g.ours(n); len(got) != 0 {
			t.Errorf("issue %d was answered: %s", n, got[0].Body)
		}
	}
}

func TestFindsItsCommentByMarkerAndAuthorAcrossPages(t *testing.T) {
	g := newGitHub(t)
	g.pageSize = 2
	p := start(t, t.TempDir(), g.asApp()...)
	g.aim(p)
	g.open(1, "ann", body(t))
	g.deliver("issues", guid(), g.payload(1, "opened", nil))
	eventually(t, "a comment", p, func() bool { return len(g.ours(1)) == 1 })
	first := g.ours(1)[0]
	// Somebody quotes our comment, marker and all; and many comments stand before ours.
	for i := range 5 {
		g.say(1, fmt.Sprintf("user%d", i), "NONE", first.Body)
	}
	g.mu.Lock()
	g.comments = append(g.comments[1:], g.comments[0])
	g.mu.Unlock()
	g.open(1, "ann", "Never mind.")
	g.deliver("issues", guid(), g.payload(1, "edited", nil))
	eventually(t, "an edit", p, func() bool { return g.ours(1)[0].edits == 1 })
	settled(t, p)
	if ours := g.ours(1); len(ours) != 1 || ours[0].ID != first.ID {
		t.Errorf("%d comments of ours", len(ours))
	}
}

func TestCommandOnlyFromAuthorAndCollaborators(t *testing.T) {
	g := newGitHub(t)
	p := start(t, t.TempDir(), g.asApp()...)
	g.aim(p)
	g.open(1, "ann", body(t))
	stranger := g.say(1, "mallory", "NONE", "/triage transformer_engine=1.12.0")
	g.deliver("issue_comment", guid(), g.payload(1, "created", stranger))
	quoted := g.say(1, "ann", "NONE", "> /triage\n\nwhat does that do?\n```\n/triage\n```")
	g.deliver("issue_comment", guid(), g.payload(1, "created", quoted))
	settled(t, p)
	if len(g.ours(1)) != 0 {
		t.Fatalf("a stranger or a quotation made the bot speak")
	}
	asked := g.say(1, "ann", "NONE", "Sure:\n/triage transformer_engine=1.12.0 nonsense=1 flash_attn=2.6.3")
	g.deliver("issue_comment", guid(), g.payload(1, "created", asked))
	eventually(t, "a comment", p, func() bool { return len(g.ours(1)) == 1 })
	if text := g.ours(1)[0].Body; !strings.Contains(text, "1.12.0") || !strings.Contains(text, "nonsense") {
		t.Errorf("the fact is not used, or the unknown name not told:\n%s", text)
	}
	settled(t, p)
	if g.reaction(asked, "eyes") != 1 {
		t.Error("the command was not acknowledged with a reaction")
	}
}

func TestRefusesWhatIsNotSigned(t *testing.T) {
	g := newGitHub(t)
	p := start(t, t.TempDir(), g.asApp()...)
	g.aim(p)
	g.open(1, "ann", body(t))
	payload := g.payload(1, "opened", nil)
	to := p.address + "/github/webhook"
	base := []string{"X-GitHub-Event", "issues", "X-GitHub-Delivery", guid(), "Content-Type", "application/json"}
	old := hmac.New(sha1.New, []byte(webhookSecret))
	old.Write(payload)
	for name, extra := range map[string][]string{
		"none":      {},
		"sha1":      {"X-Hub-Signature-256", fmt.Sprintf("sha1=%x", old.Sum(nil))},
		"wrong":     {"X-Hub-Signature-256", sign(append(payload, ' '))},
		"sha1 only": {"X-Hub-Signature", "sha1=0123456789012345678901234567890123456789"},
		"no prefix": {"X-Hub-Signature-256", strings.TrimPrefix(sign(payload), "sha256=")},
	} {
		if code := post(to, payload, append(extra, base...)...); code != http.StatusUnauthorized {
			t.Errorf("%s: %d", name, code)
		}
	}
	if code := post(to, make([]byte, 26<<20), append([]string{"X-Hub-Signature-256", "sha256=00"}, base...)...); code != http.StatusRequestEntityTooLarge {
		t.Errorf("26 MiB: %d", code)
	}
	if code := post(to, []byte("{"), append([]string{"X-Hub-Signature-256", sign([]byte("{"))}, base...)...); code != http.StatusBadRequest {
		t.Errorf("broken JSON: %d", code)
	}
	settled(t, p)
	if len(g.ours(1)) != 0 {
		t.Error("an unsigned delivery was answered")
	}
}

func TestSurvivesWhatGitHubDoes(t *testing.T) {
	soon := fmt.Sprint(time.Now().Add(2 * time.Second).Unix())
	for name, do := range map[string]func(w http.ResponseWriter){
		"500": func(w http.ResponseWriter) { w.WriteHeader(500) },
		"502 html": func(w http.ResponseWriter) {
			w.WriteHeader(502)
			fmt.Fprint(w, "<html>Unicorn!</html>")
		},
		"secondary": func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(403)
			fmt.Fprint(w, `{"message":"You have exceeded a secondary rate limit","documentation_url":"https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits"}`)
		},
		"429": func(w http.ResponseWriter) { w.Header().Set("Retry-After", "1"); w.WriteHeader(429) },
		"primary": func(w http.ResponseWriter) {
			w.Header().Set("X-RateLimit-Limit", "5000")
			w.Header().Set("X-RateLimit-Remaining", "0")
			w.Header().Set("X-RateLimit-Reset", soon)
			refuse(w, 403, "API rate limit exceeded")
		},
		"reset":     func(w http.ResponseWriter) { hijack(w) },
		"truncated": func(w http.ResponseWriter) { w.WriteHeader(200); fmt.Fprint(w, `{"id": 12, "bo`) },
	} {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/after=%v", name, after), func(t *testing.T) {
				t.Parallel()
				g := newGitHub(t)
				p := start(t, t.TempDir(), g.asApp()...)
				g.aim(p)
				g.open(1, "ann", body(t))
				g.fail("^POST /repos/o/r/issues/1/comments$", after, do)
				g.deliver("issues", guid(), g.payload(1, "opened", nil))
				eventually(t, "a comment", p, func() bool { return len(g.ours(1)) == 1 })
				settled(t, p)
				if n := len(g.ours(1)); n != 1 {
					t.Errorf("%d comments", n)
				}
				g.unused()
			})
		}
	}
}

func hijack(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		conn.Close()
	}
}

func TestRenewsTokensThatExpireEarly(t *testing.T) {
	g := newGitHub(t)
	p := start(t, t.TempDir(), g.asApp()...)
	g.aim(p)
	for n := 1; n <= 3; n++ {
		g.open(n, "ann", body(t))
		g.deliver("issues", guid(), g.payload(n, "opened", nil))
		eventually(t, "a comment", p, func() bool { return len(g.ours(n)) == 1 })
		g.expireTokens()
	}
}

func TestPermanentFailureIsKeptForTheOperator(t *testing.T) {
	g := newGitHub(t)
	p := start(t, t.TempDir(), append(g.withToken(), "TRIAGE_ADMIN_TOKEN=letmein")...)
	g.aim(p)
	g.open(1, "ann", body(t))
	g.fail("^POST /repos/o/r/issues/1/comments$", false, func(w http.ResponseWriter) { refuse(w, 403, "Resource not accessible by integration") })
	g.deliver("issues", guid(), g.payload(1, "opened", nil))
	eventually(t, "a dead letter", p, func() bool { _, page := p.get("/metrics"); return strings.Contains(page, "\ntriage_dead_letters 1\n") })
	if code, _ := p.get("/dead"); code != http.StatusUnauthorized {
		t.Errorf("/dead without a token: %d", code)
	}
	code, page := p.get("/dead", "Authorization", "Bearer letmein")
	if code != http.StatusOK || !strings.Contains(page, "Resource not accessible by integration") {
		t.Fatalf("/dead: %d %s", code, page)
	}
	// A job is counted among the dead before the log says so.
	eventually(t, "the reason in the log", p, func() bool { return strings.Contains(p.logged(), "Resource not accessible by integration") })
	if code := post(p.address+"/dead/1", nil, "Authorization", "Bearer letmein"); code != http.StatusAccepted {
		t.Fatalf("POST /dead/1: %d", code)
	}
	eventually(t, "a comment after the second try", p, func() bool { return len(g.ours(1)) == 1 })
}

func TestFailedWorkflowRun(t *testing.T) {
	g := newGitHub(t)
	g.jobLog, _ = failingLog(t)
	g.files[".github/triage.yml"] = "workflow_runs: true\nlabels: [gpu]\n"
	p := start(t, t.TempDir(), g.asApp()...)
	g.aim(p)
	g.open(7, "ann", "A change.")
	g.mu.Lock()
	g.issues[7].Pull = map[string]any{"url": "x"}
	g.mu.Unlock()
	run := []byte(`{"action":"completed","workflow_run":{"id":5,"conclusion":"failure","head_sha":"` + strings.Repeat("ab", 20) +
		`","pull_requests":[]},"repository":{"full_name":"o/r"},"installation":{"id":99},"sender":{"login":"ann","type":"User"}}`)
	if code := g.deliver("workflow_run", guid(), run); code != http.StatusOK {
		t.Fatal(code)
	}
	eventually(t, "a comment", p, func() bool { return len(g.ours(7)) == 1 })
	settled(t, p)
	if text := g.ours(7)[0].Body; !strings.Contains(text, "gpu tests") {
		t.Errorf("the failed job is not named:\n%s", text)
	}
	if got := g.labels(7); got != "gpu" {
		t.Errorf("labels %q", got)
	}
}

func TestRepositorySettings(t *testing.T) {
	own := `id: house-rule
title: The reactor of this house is off
keywords: [reactor is switched off]
match:
  - line contains "reactor is switched off"
cause: Somebody switched the reactor off.
fixes:
  - do: Switch it on.
references: [https://example.org/reactor]
`
	for name, c := range map[string]struct {
		files map[string]string
		body  string
		want  string // "" for silence
	}{
		"off":         {map[string]string{".github/triage.yml": "enabled: false"}, body(t), ""},
		"own rules":   {map[string]string{".github/triage.yml": "rules: .triage", ".triage/house-rule.yaml": own}, "```\nthe reactor is switched off\n```", "Somebody switched the reactor off"},
		"wrong":       {map[string]string{".github/triage.yml": "enable: no"}, body(t), ""},
		"wrong rules": {map[string]string{".github/triage.yml": "rules: [.triage]", ".triage/house-rule.yaml": own + "matsch: 1\n"}, body(t), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGitHub(t)
			g.files = c.files
			p := start(t, t.TempDir(), g.asApp()...)
			g.aim(p)
			g.open(1, "ann", c.body)
			g.deliver("issues", guid(), g.payload(1, "opened", nil))
			if c.want != "" {
				eventually(t, "a comment", p, func() bool { return len(g.ours(1)) == 1 })
			}
			settled(t, p)
			ours := g.ours(1)
			if c.want == "" && len(ours) != 0 || c.want != "" && !strings.Contains(ours[0].Body, c.want) {
				t.Errorf("comments %v, expected %q\n%s", ours, c.want, p.logged())
			}
		})
	}
}

// A log behind a link, packed, is read; what the link redirects to is checked again.
func TestLinkedLogs(t *testing.T) {
	log, signature := failingLog(t)
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	inside, err := z.Create("../../run/rank0.log")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(inside, log)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	g := newGitHub(t)
	g.jobLog = packed.String()
	p := start(t, t.TempDir(), g.asApp()...)
	g.aim(p)
	g.open(1, "ann", "The log is [here]("+g.logs.URL+"/logs.zip), and not http://169.254.169.254/latest nor https://example.com/x.log.")
	g.deliver("issues", guid(), g.payload(1, "opened", nil))
	eventually(t, "a comment", p, func() bool { return len(g.ours(1)) == 1 })
	if text := g.ours(1)[0].Body; !strings.Contains(text, signature) || !strings.Contains(text, "rank0.log") {
		t.Errorf("the packed log is not diagnosed:\n%s", text)
	}
}

// A storm of edits is answered with a few looks, and in the end with what the issue says then.
func TestEditStorm(t *testing.T) {
	g := newGitHub(t)
	p := start(t, t.TempDir(), append(g.asApp(), "TRIAGE_DEBOUNCE=2s")...)
	g.aim(p)
	began := time.Now()
	for i := range 50 {
		g.open(1, "ann", fmt.Sprintf("Edit %d\n%s", i, body(t)))
		g.deliver("issues", guid(), g.payload(1, "edited", nil))
	}
	g.open(1, "ann", "Edited away.")
	g.deliver("issues", guid(), g.payload(1, "edited", nil))
	eventually(t, "the last edit", p, func() bool { ours := g.ours(1); return len(ours) == 1 && strings.Contains(ours[0].Body, "has changed") })
	g.mu.Lock()
	looks := g.asked["GET /repos/o/r/issues/1"]
	g.mu.Unlock()
	if most := int(time.Since(began)/(2*time.Second)) + 2; looks > most {
		t.Errorf("%d looks, at most %d expected", looks, most)
	}
}
