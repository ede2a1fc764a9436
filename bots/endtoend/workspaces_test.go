package endtoend

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"time"
)

const secretKey = "6b1f0c9d8e7a5b4c3d2e1f0a9b8c7d6e"

// install gives a token for a code, which names the workspace.
func (s *fakeSlack) install(w http.ResponseWriter, form url.Values) {
	team, ok := strings.CutPrefix(form.Get("code"), "code-")
	if !ok || form.Get("client_id") != "1.2" || form.Get("client_secret") != "shh" {
		said(w, "invalid_code", nil)
		return
	}
	token := "xoxb-000000000-" + team
	s.teams[token] = team
	said(w, "", map[string]any{"access_token": token, "token_type": "bot", "app_id": "A1", "team": map[string]any{"id": team, "name": team}})
}

// severalWorkspaces are the settings of a server that workspaces install by themselves.
func (s *fakeSlack) severalWorkspaces(door string) []string {
	address := strings.TrimPrefix(door, "TRIAGE_LISTEN=")
	return []string{door, "SLACK_API_URL=" + s.http.URL + "/api/", "SLACK_SIGNING_SECRET=" + signingSecret, "SLACK_CLIENT_ID=1.2", "SLACK_CLIENT_SECRET=shh",
		"TRIAGE_SECRET_KEY=" + secretKey, "TRIAGE_PUBLIC_URL=http://" + address}
}

// person is somebody's browser, which follows no redirect by itself.
func person(t *testing.T) *http.Client {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// begin opens /slack/install and returns the state that Slack gets.
func begin(t *testing.T, p *process, browser *http.Client) string {
	t.Helper()
	response, err := browser.Get(p.address + "/slack/install")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	to, err := response.Location()
	if err != nil || to.Path != "/oauth/v2/authorize" || !strings.Contains(to.Query().Get("scope"), "groups:read") {
		t.Fatalf("%d to %v, %v", response.StatusCode, to, err)
	}
	return to.Query().Get("state")
}

// end comes back from Slack.
func end(t *testing.T, p *process, browser *http.Client, team, state string) int {
	t.Helper()
	response, err := browser.Get(p.address + "/slack/oauth?" + url.Values{"code": {"code-" + team}, "state": {state}}.Encode())
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

// from sends /triage from a workspace, without an address for the answer. Everything but the workspace is the same.
func (s *fakeSlack) from(p *process, team, text string) (code int, reply string) {
	body := url.Values{"command": {"/triage"}, "text": {text}, "channel_id": {"C9"}, "user_id": {"U1"}, "team_id": {team}, "trigger_id": {"the same"}}
	return s.request(p, "/slack/commands", formType, []byte(body.Encode()), time.Now())
}

// to returns the messages that a workspace's token posted.
func (s *fakeSlack) to(team string) (found []posted) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.messages {
		if m.Team == team {
			found = append(found, m)
		}
	}
	return found
}

// TestWorkspaces: each installs the app and is answered with its own token, also after a restart, though all ids but the workspace's are the
// same. What a workspace takes back is deleted.
func TestWorkspaces(t *testing.T) {
	t.Parallel()
	s, data := newSlack(t), t.TempDir()
	settings := s.severalWorkspaces(door(t))
	p := start(t, data, settings...)
	for _, team := range []string{"T1", "T2"} {
		browser := person(t)
		if code := end(t, p, browser, team, begin(t, p, browser)); code != http.StatusOK {
			t.Fatalf("%s is not installed: %d", team, code)
		}
	}
	p.stop()
	if out, _ := exec.Command("grep", "-rl", "xoxb-000000000", data).Output(); len(out) > 0 {
		t.Errorf("tokens stand in plain in %s", out)
	}
	p = start(t, data, settings...)
	log, signature := failingLog(t)
	for _, team := range []string{"T1", "T2", "T3"} {
		if code, _ := s.from(p, team, log); code != http.StatusOK {
			t.Errorf("%s: %d", team, code)
		}
	}
	settled(t, p)
	for _, team := range []string{"T1", "T2"} {
		if got := s.to(team); len(got) != 1 || !strings.Contains(string(got[0].Blocks), signature) {
			t.Errorf("%s got %d answers", team, len(got))
		}
	}
	if got := s.to("T3"); len(got) != 0 {
		t.Errorf("%d answers to a workspace that is not installed", len(got))
	}

	event := func(kind string, at time.Time) {
		t.Helper()
		body, err := json.Marshal(map[string]any{"type": "event_callback", "team_id": "T2", "event_id": kind, "event_time": at.Unix(),
			"event": map[string]any{"type": kind, "tokens": map[string]any{"bot": []string{"UBOT"}}}})
		if err != nil {
			t.Fatal(err)
		}
		if code, _ := s.request(p, "/slack/events", "application/json", body, time.Now()); code != http.StatusOK {
			t.Errorf("%s: %d", kind, code)
		}
	}
	event("tokens_revoked", time.Now().Add(-time.Hour)) // late, of an installation before this one
	s.from(p, "T2", "again "+log)
	if code, _ := s.request(p, "/slack/commands", formType, []byte(url.Values{"text": {log}, "channel_id": {"C9"}, "user_id": {"U1"}, "team_id": {"T2"}, "trigger_id": {"b"}}.Encode()), time.Now()); code != http.StatusOK {
		t.Error(code)
	}
	eventually(t, "an answer after an old event", p, func() bool { return len(s.to("T2")) == 2 })
	event("app_uninstalled", time.Now().Add(time.Second))
	if code, _ := s.request(p, "/slack/commands", formType, []byte(url.Values{"text": {log}, "channel_id": {"C9"}, "user_id": {"U1"}, "team_id": {"T2"}, "trigger_id": {"c"}}.Encode()), time.Now()); code != http.StatusOK {
		t.Error(code)
	}
	settled(t, p)
	if got := s.to("T2"); len(got) != 2 {
		t.Errorf("%d answers to a workspace that took its token back", len(got))
	}
}

// TestInstallIsBegunHere: nobody brings a code into another's browser, or twice, or from a workspace that may not.
func TestInstallIsBegunHere(t *testing.T) {
	t.Parallel()
	s := newSlack(t)
	p := start(t, t.TempDir(), append(s.severalWorkspaces(door(t)), "TRIAGE_SLACK_TEAMS=T1,E1")...)
	mine, theirs := person(t), person(t)
	state := begin(t, p, mine)
	for _, c := range []struct {
		about   string
		browser *http.Client
		team    string
		state   string
		want    int
	}{
		{"another's browser", theirs, "T1", state, http.StatusForbidden},
		{"no state", person(t), "T1", "", http.StatusForbidden},
		{"a state that is made up", mine, "T1", state + "0", http.StatusForbidden},
		{"as it should be", mine, "T1", state, http.StatusOK},
		{"a second time", mine, "T1", state, http.StatusForbidden},
		{"a workspace that may not", theirs, "T2", begin(t, p, theirs), http.StatusForbidden},
	} {
		if code := end(t, p, c.browser, c.team, c.state); code != c.want {
			t.Errorf("%s: %d, want %d", c.about, code, c.want)
		}
	}
	if code, _ := s.from(p, "T2", "x"); code != http.StatusOK {
		t.Errorf("a command: %d", code)
	}
}

// TestOneWorkspaceBesideOthers: the token of the settings goes on working for its own workspace, and for no other.
func TestOneWorkspaceBesideOthers(t *testing.T) {
	t.Parallel()
	s := newSlack(t)
	p := start(t, t.TempDir(), append(s.severalWorkspaces(door(t)), "SLACK_BOT_TOKEN="+botToken)...)
	log, _ := failingLog(t)
	s.from(p, "THOME", log)
	s.from(p, "TELSE", log)
	settled(t, p)
	if got := s.in("U1"); len(got) != 1 {
		t.Errorf("%d answers, want the one of the token's own workspace", len(got))
	}
}

// TestAnotherKey: what was stored is not lost in silence, and the error says what to do.
func TestAnotherKey(t *testing.T) {
	t.Parallel()
	s, data := newSlack(t), t.TempDir()
	settings := s.severalWorkspaces(door(t))
	p := start(t, data, settings...)
	browser := person(t)
	end(t, p, browser, "T1", begin(t, p, browser))
	p.stop()
	other := strings.Repeat("e", 32)
	wrong := launch(t, data, append(settings, "TRIAGE_SECRET_KEY="+other)...)
	wrong.died()
	if !strings.Contains(wrong.logged(), "TRIAGE_SECRET_KEY") || !strings.Contains(wrong.logged(), "NEW,OLD") {
		t.Errorf("it says\n%s", wrong.logged())
	}
	start(t, data, append(settings, "TRIAGE_SECRET_KEY="+other+","+secretKey)...).stop()
	p = start(t, data, append(settings, "TRIAGE_SECRET_KEY="+other)...)
	log, _ := failingLog(t)
	s.from(p, "T1", log)
	eventually(t, "an answer with the token of before", p, func() bool { return len(s.to("T1")) == 1 })
}

// TestLimits: who asks too often is told so, alone; others, also of the same id in another workspace, are not touched.
func TestLimits(t *testing.T) {
	t.Parallel()
	s := newSlack(t)
	p := start(t, t.TempDir(), append(s.settings(), "TRIAGE_USER_RATE=2")...)
	log, _ := failingLog(t)
	ask := func(team string, i int) string {
		body := url.Values{"text": {log}, "channel_id": {"C1"}, "user_id": {"U1"}, "team_id": {team}, "trigger_id": {fmt.Sprint(i)}}
		_, reply := s.request(p, "/slack/commands", formType, []byte(body.Encode()), time.Now())
		return reply
	}
	for i, limited := range []bool{false, false, true} {
		if reply := ask("T1", i); strings.Contains(reply, "2 logs read in an hour") != limited {
			t.Errorf("command %d is answered with %q", i, reply)
		}
	}
	if reply := ask("T2", 0); reply != "" {
		t.Errorf("U1 of another workspace is answered with %q", reply)
	}
	mention := func(i int) {
		body, err := json.Marshal(map[string]any{"type": "event_callback", "team_id": "T1", "event_id": fmt.Sprint("E", i),
			"event": map[string]any{"type": "app_mention", "channel": "C1", "user": "U1", "text": "<@B> " + log, "ts": fmt.Sprint("1700000001.00000", i)}})
		if err != nil {
			t.Fatal(err)
		}
		s.request(p, "/slack/events", "application/json", body, time.Now())
	}
	for i := range 5 {
		mention(i)
	}
	settled(t, p)
	words := 0
	for _, m := range s.in("U1") {
		if strings.Contains(m.Text, "2 logs read in an hour") {
			words++
		}
	}
	if words < 1 || words > 2 { // once a minute, of which there may be two
		t.Errorf("%d messages say so", words)
	}
	if got := s.in("C1"); len(got) != 0 {
		t.Errorf("%d answers in the channel", len(got))
	}
	if _, page := p.get("/metrics"); !strings.Contains(page, `triage_dropped_total{reason="limit",via="slack"} 6`) {
		t.Error("what was not answered is not counted")
	}
}

// TestRepositoryLimit: beyond it there is silence, and a count.
func TestRepositoryLimit(t *testing.T) {
	t.Parallel()
	g := newGitHub(t)
	p := start(t, t.TempDir(), append(g.asApp(), "TRIAGE_REPOSITORY_RATE=2")...)
	g.aim(p)
	answered := 0
	for number := 1; number <= 3; number++ {
		g.open(number, "ann", body(t))
		if code := g.deliver("issues", guid(), g.payload(number, "opened", nil)); code != http.StatusOK {
			t.Errorf("a delivery was answered with %d", code)
		}
	}
	settled(t, p)
	for number := 1; number <= 3; number++ {
		answered += len(g.ours(number))
	}
	if answered != 2 {
		t.Errorf("%d issues are answered, want 2", answered)
	}
	if _, page := p.get("/metrics"); !strings.Contains(page, `triage_dropped_total{reason="limit",via="github"} 1`) {
		t.Error("what was not looked at is not counted")
	}
}

// TestSlackSaysNoWithStatus200: what an address for answers says in its body counts.
func TestSlackSaysNoWithStatus200(t *testing.T) {
	t.Parallel()
	s := newSlack(t)
	p := start(t, t.TempDir(), s.settings()...)
	log, _ := failingLog(t)
	bodies := []string{`{"ok":false,"error":"expired_url"}`, "no_service", `{"ok":false}`}
	for _, body := range bodies {
		s.fail("^POST /commands/", false, func(w http.ResponseWriter) { fmt.Fprint(w, body) })
		s.slash(p, log)
	}
	eventually(t, "direct messages instead", p, func() bool { return len(s.in("U1")) == len(bodies) })
	s.fail("^POST /commands/", false, func(w http.ResponseWriter) { fmt.Fprint(w, `{"ok":false,"error":"internal_error"}`) })
	_, _, at, _ := s.slash(p, log)
	eventually(t, "the second try", p, func() bool { return len(s.in(at)) == 1 })
}
