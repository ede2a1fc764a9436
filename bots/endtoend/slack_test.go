package endtoend

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

func TestSlashCommandWithPastedLog(t *testing.T) {
	s := newSlack(t)
	p := start(t, t.TempDir(), s.settings()...)
	log, signature := failingLog(t)
	began := time.Now()
	code, _, at, body := s.slash(p, "transformer_engine=1.12.0 "+log)
	if code != http.StatusOK || time.Since(began) > 2*time.Second {
		t.Fatalf("acknowledged with %d after %v", code, time.Since(began))
	}
	for range 4 { // the same delivery again
		if code, _ := s.request(p, "/slack/commands", formType, body, time.Now()); code != http.StatusOK {
			t.Errorf("the same delivery again: %d", code)
		}
	}
	eventually(t, "an answer", p, func() bool { return len(s.in(at)) > 0 })
	settled(t, p)
	got := s.in(at)
	if len(got) != 1 || got[0].Type != "ephemeral" {
		t.Fatalf("%d answers, %q", len(got), got[0].Type)
	}
	if !strings.Contains(string(got[0].Blocks), signature) {
		t.Errorf("the answer does not name %s: %s", signature, got[0].Blocks)
	}
	if _, reply, _, _ := s.slash(p, "help"); !strings.Contains(reply, "Triage this message") {
		t.Errorf("help says %q", reply)
	}
}

func TestSlackSignatures(t *testing.T) {
	s := newSlack(t)
	p := start(t, t.TempDir(), s.settings()...)
	body := []byte(url.Values{"text": {"x"}, "user_id": {"U1"}, "response_url": {s.http.URL + "/commands/x"}}.Encode())
	now := fmt.Sprint(time.Now().Unix())
	check := func(name string, want, got int) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
	code, _ := s.send(p, "/slack/commands", formType, body, now, "")
	check("no signature", 401, code)
	code, _ = s.send(p, "/slack/commands", formType, body, now, "v0="+strings.Repeat("00", 32))
	check("wrong", 401, code)
	code, _ = s.request(p, "/slack/commands", formType, body, time.Now().Add(-6*time.Minute))
	check("stale", 401, code)
	code, _ = s.request(p, "/slack/commands", formType, body, time.Now().Add(6*time.Minute))
	check("from the future", 401, code)
	code, _ = s.request(p, "/slack/commands", formType, []byte("text=%zz"), time.Now())
	check("malformed", 400, code)
	elsewhere := []byte(url.Values{"text": {"x"}, "user_id": {"U1"}, "response_url": {"https://evil.example/commands/x"}}.Encode())
	code, _ = s.request(p, "/slack/commands", formType, elsewhere, time.Now())
	check("an answer to elsewhere", 400, code)
	code, _ = s.request(p, "/slack/commands", formType, make([]byte, 2<<20), time.Now())
	check("2 MiB", 413, code)
}

func TestModal(t *testing.T) {
	s := newSlack(t)
	p := start(t, t.TempDir(), s.settings()...)
	_, _, at, _ := s.slash(p, "  ")
	eventually(t, "a form", p, func() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.views) == 1 })
	s.mu.Lock()
	data := s.views[0]["private_metadata"]
	s.mu.Unlock()
	log, signature := failingLog(t)
	submit := func(facts string) (int, string) {
		return s.interact(p, map[string]any{"type": "view_submission", "trigger_id": guid(), "user": map[string]any{"id": "U1"},
			"view": map[string]any{"id": "V" + facts, "private_metadata": data, "state": map[string]any{"values": map[string]any{
				"log": map[string]any{"text": map[string]any{"value": log}}, "facts": map[string]any{"text": map[string]any{"value": facts}}}}}})
	}
	if _, reply := submit("nonsense=1"); !strings.Contains(reply, `"response_action":"errors"`) || !strings.Contains(reply, "nonsense") {
		t.Errorf("an unknown fact is answered with %q", reply)
	}
	if code, reply := submit("flash_attn=2.6.3"); code != 200 || reply != "" {
		t.Errorf("the form is answered with %d %q", code, reply)
	}
	eventually(t, "an answer", p, func() bool { return len(s.in(at)) == 1 })
	if !strings.Contains(string(s.in(at)[0].Blocks), signature) {
		t.Errorf("the answer does not name %s", signature)
	}
}

func TestModalTooLate(t *testing.T) {
	s := newSlack(t)
	p := start(t, t.TempDir(), s.settings()...)
	s.fail("^POST /api/views.open$", false, func(w http.ResponseWriter) { said(w, "expired_trigger_id", nil) })
	_, _, at, _ := s.slash(p, "")
	eventually(t, "words instead of a form", p, func() bool { return len(s.in(at)) == 1 })
	if text := s.in(at)[0].Text; !strings.Contains(text, "/triage") {
		t.Errorf("it says %q", text)
	}
}

func TestResponseURLUsedUp(t *testing.T) {
	s := newSlack(t)
	p := start(t, t.TempDir(), s.settings()...)
	s.fail("^POST /commands/", false, func(w http.ResponseWriter) { w.WriteHeader(404); fmt.Fprint(w, "used_url") })
	log, _ := failingLog(t)
	s.slash(p, log)
	eventually(t, "a direct message", p, func() bool { return len(s.in("U1")) == 1 })
}

func TestLinksFilesAndShortcut(t *testing.T) {
	s := newSlack(t)
	log, signature := failingLog(t)
	s.files["F1"] = log
	s.private["C9"] = true
	p := start(t, t.TempDir(), s.settings()...)
	code, reply, at, _ := s.slash(p, "https://acme.slack.com/files/U2/F1/train.log")
	if code != 200 || !strings.Contains(reply, "Reading") {
		t.Errorf("acknowledged with %d %q", code, reply)
	}
	eventually(t, "an answer", p, func() bool { return len(s.in(at)) == 1 })
	if !strings.Contains(string(s.in(at)[0].Blocks), signature) {
		t.Errorf("the answer does not name %s: %s", signature, s.in(at)[0].Blocks)
	}
	_, _, at, _ = s.slash(p, "https://acme.slack.com/archives/C9/p1700000000000001")
	eventually(t, "a refusal", p, func() bool { return len(s.in(at)) == 1 })
	if text := s.in(at)[0].Text; !strings.Contains(text, "not shared with you") {
		t.Errorf("a message of a private channel: %q", text)
	}
	_, _, at, _ = s.slash(p, "https://169.254.169.254/latest/meta-data/")
	eventually(t, "a refusal", p, func() bool { return len(s.in(at)) == 1 })
	s.demandSignIn(true)
	_, _, at, _ = s.slash(p, "https://acme.slack.com/files/U2/F1/train.log")
	eventually(t, "a note", p, func() bool { return len(s.in(at)) == 1 })
	s.demandSignIn(false)
	s.interact(p, map[string]any{"type": "message_action", "trigger_id": guid(), "user": map[string]any{"id": "U1"}, "channel": map[string]any{"id": "C1"},
		"response_url": s.http.URL + "/commands/shortcut", "message": map[string]any{"ts": "1699.1", "text": "look", "files": []any{map[string]any{"id": "F1"}}}})
	eventually(t, "an answer in the thread", p, func() bool { return len(s.in("C1")) == 1 })
	settled(t, p)
	if m := s.in("C1"); len(m) != 1 || m[0].Thread != "1699.1" {
		t.Errorf("answers in the channel: %v", m)
	}
}

func TestShareAndFeedback(t *testing.T) {
	s := newSlack(t)
	p := start(t, t.TempDir(), s.settings()...)
	log, signature := failingLog(t)
	_, _, at, _ := s.slash(p, log)
	eventually(t, "an answer", p, func() bool { return len(s.in(at)) == 1 })
	report := valueOf(t, s.in(at)[0].Blocks, "triage_share")
	press := func(user, action string) {
		s.interact(p, map[string]any{"type": "block_actions", "trigger_id": guid(), "user": map[string]any{"id": user}, "channel": map[string]any{"id": "C1"},
			"response_url": s.http.URL + "/commands/" + guid(), "actions": []any{map[string]any{"action_id": action, "value": report}}})
	}
	for range 3 {
		press("U1", "triage_share")
	}
	for range 2 {
		press("U1", "triage_helped")
	}
	press("U2", "triage_wrong")
	settled(t, p)
	if n := len(s.in("C1")); n != 1 {
		t.Errorf("shared %d times", n)
	}
	_, page := p.get("/metrics")
	for _, verdict := range []string{"helpful", "wrong"} {
		want := fmt.Sprintf(`triage_feedback_total{signature=%q,verdict=%q,via="slack"} 1`, signature, verdict)
		if !strings.Contains(page, want) {
			t.Errorf("missing %s", want)
		}
	}
	if code, text := p.get("/reports/" + report); code != 200 || !strings.Contains(text, signature) {
		t.Errorf("/reports/%s: %d", report, code)
	}
	if code, text := p.get("/reports/" + report); code != 200 || !strings.Contains(text, `href="/reports/`+report+`/wrong"`) {
		t.Errorf("/reports/%s has no way to say that it is wrong: %d", report, code)
	}
	stay := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := stay.Get(p.address + "/reports/" + report + "/wrong")
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if to := response.Header.Get("Location"); response.StatusCode != http.StatusSeeOther || !strings.HasPrefix(to, "https://github.com/gpu-triage/triage/issues/new?") || !strings.Contains(to, signature) {
		t.Errorf("%s leads to %s", response.Status, to)
	}
	if _, page := p.get("/metrics"); !strings.Contains(page, fmt.Sprintf(`triage_feedback_total{signature=%q,verdict="wrong",via="web"} 1`, signature)) {
		t.Error("that a report is wrong is not counted")
	}
	if code, _ := p.get("/reports/" + strings.Repeat("0", 40)); code != 404 {
		t.Errorf("a guessed report: %d", code)
	}
}

func valueOf(t *testing.T, blocks json.RawMessage, action string) string {
	t.Helper()
	var list []struct {
		Elements []struct {
			Action string `json:"action_id"`
			Value  string `json:"value"`
		} `json:"elements"`
	}
	if err := json.Unmarshal(blocks, &list); err != nil {
		t.Fatal(err)
	}
	for _, b := range list {
		for _, e := range b.Elements {
			if e.Action == action {
				return e.Value
			}
		}
	}
	t.Fatalf("no button %s", action)
	return ""
}

func TestEvents(t *testing.T) {
	s := newSlack(t)
	p := start(t, t.TempDir(), s.settings()...)
	send := func(event map[string]any) (int, string) {
		data, _ := json.Marshal(event)
		return s.request(p, "/slack/events", "application/json", data, time.Now())
	}
	if _, reply := send(map[string]any{"type": "url_verification", "challenge": "c"}); !strings.Contains(reply, `"challenge":"c"`) {
		t.Errorf("the challenge is answered with %q", reply)
	}
	log, _ := failingLog(t)
	mention := map[string]any{"type": "event_callback", "event_id": "Ev1", "event": map[string]any{
		"type": "app_mention", "channel": "C1", "user": "U1", "ts": "1699.5", "text": "<@UBOT> " + log}}
	for range 3 { // Slack sends an event again when it thinks it was late
		send(mention)
	}
	send(map[string]any{"type": "event_callback", "event_id": "Ev2", "event": map[string]any{
		"type": "message", "channel_type": "im", "channel": "C1", "user": "U1", "bot_id": "B1", "ts": "1699.6", "text": log}})
	eventually(t, "an answer", p, func() bool { return len(s.in("C1")) >= 1 })
	settled(t, p)
	if got := s.in("C1"); len(got) != 1 || got[0].Thread != "1699.5" {
		t.Errorf("answers: %v", got)
	}
}

func TestSurvivesWhatSlackDoes(t *testing.T) {
	for name, do := range map[string]func(w http.ResponseWriter){
		"429":     func(w http.ResponseWriter) { w.Header().Set("Retry-After", "1"); w.WriteHeader(429) },
		"500":     func(w http.ResponseWriter) { w.WriteHeader(500) },
		"reset":   hijack,
		"garbage": func(w http.ResponseWriter) { fmt.Fprint(w, `{"ok": tr`) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSlack(t)
			p := start(t, t.TempDir(), s.settings()...)
			log, _ := failingLog(t)
			s.fail("^POST /api/chat.postMessage$", name == "garbage" || name == "reset", do)
			s.interact(p, map[string]any{"type": "message_action", "trigger_id": guid(), "user": map[string]any{"id": "U1"}, "channel": map[string]any{"id": "C1"},
				"message": map[string]any{"ts": "1699.1", "text": log}})
			eventually(t, "an answer", p, func() bool { return len(s.in("C1")) >= 1 })
			settled(t, p)
			if n := len(s.in("C1")); n != 1 {
				t.Errorf("%d answers", n)
			}
		})
	}
}

// Killed at any point, a message in a channel stands there once, and an answer to response_url, which cannot be looked up, comes once.
func TestSlackKilledAtNamedPoints(t *testing.T) {
	for _, point := range []string{"stored", "taken", "fetched", "diagnosed", "before-post", "posting", "after-post", "recorded", "handled"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			s := newSlack(t)
			data := t.TempDir()
			p := start(t, data, append(s.settings(), "TRIAGE_CRASH_AT="+point)...)
			log, _ := failingLog(t)
			s.interact(p, map[string]any{"type": "message_action", "trigger_id": guid(), "user": map[string]any{"id": "U1"},
				"channel": map[string]any{"id": "C1"}, "message": map[string]any{"ts": "1699.1", "text": log}})
			p.died()
			p = start(t, data, s.settings()...)
			eventually(t, "an answer after "+point, p, func() bool { return len(s.in("C1")) >= 1 })
			settled(t, p)
			if n := len(s.in("C1")); n != 1 {
				t.Errorf("%d answers in the channel after a kill at %s", n, point)
			}
		})
	}
}

func TestSlackResponseURLAfterKill(t *testing.T) {
	for _, point := range []string{"stored", "diagnosed", "before-post", "after-post", "recorded"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			s := newSlack(t)
			data := t.TempDir()
			p := start(t, data, append(s.settings(), "TRIAGE_CRASH_AT="+point)...)
			log, _ := failingLog(t)
			_, _, at, _ := s.slash(p, log)
			p.died()
			p = start(t, data, s.settings()...)
			eventually(t, "an answer after "+point, p, func() bool { return len(s.in(at)) >= 1 })
			settled(t, p)
			if n := len(s.in(at)); n != 1 {
				t.Errorf("%d answers after a kill at %s", n, point)
			}
		})
	}
}

func TestSocketMode(t *testing.T) {
	s := newSlack(t)
	p := start(t, t.TempDir(), "SLACK_API_URL="+s.http.URL+"/api/", "SLACK_BOT_TOKEN="+botToken, "SLACK_APP_TOKEN="+socketToken)
	var conn *websocket.Conn
	select {
	case conn = <-s.sockets:
	case <-time.After(20 * time.Second):
		t.Fatalf("no connection:\n%s", p.logged())
	}
	log, _ := failingLog(t)
	envelope := map[string]any{"type": "slash_commands", "envelope_id": "E1", "accepts_response_payload": true, "payload": map[string]any{
		"command": "/triage", "text": log, "channel_id": "C1", "user_id": "U1", "trigger_id": "T1", "response_url": s.http.URL + "/commands/socket"}}
	for range 2 {
		if err := conn.WriteJSON(envelope); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "an acknowledgement", p, func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.acks["E1"] != nil })
	eventually(t, "an answer", p, func() bool { return len(s.in("/commands/socket")) >= 1 })
	settled(t, p)
	if n := len(s.in("/commands/socket")); n != 1 {
		t.Errorf("%d answers", n)
	}
}

// A link to an issue is read with the token that the bot has on GitHub, of public repositories only.
func TestSlashCommandWithGitHubLink(t *testing.T) {
	s, g := newSlack(t), newGitHub(t)
	_, signature := failingLog(t)
	g.open(1, "ann", body(t))
	p := start(t, t.TempDir(), append(s.settings(), "GITHUB_API_URL="+g.http.URL, "GITHUB_TOKEN="+plainToken)...)
	_, _, at, _ := s.slash(p, "https://github.com/o/r/issues/1")
	eventually(t, "an answer", p, func() bool { return len(s.in(at)) == 1 })
	if !strings.Contains(string(s.in(at)[0].Blocks), signature) {
		t.Errorf("the answer does not name %s: %s", signature, s.in(at)[0].Blocks)
	}
	g.mu.Lock()
	g.private = true
	g.mu.Unlock()
	_, _, at, _ = s.slash(p, "https://github.com/o/r/issues/1")
	eventually(t, "a refusal", p, func() bool { return len(s.in(at)) == 1 })
	if text := s.in(at)[0].Text; !strings.Contains(text, "private") {
		t.Errorf("a private repository: %q", text)
	}
}

// What does not fit into a message comes as a snippet into its thread.
func TestLongReportInThread(t *testing.T) {
	s := newSlack(t)
	p := start(t, t.TempDir(), s.settings()...)
	log := "Traceback (most recent call last):\n  File \"/home/me/train.py\", line 3, in <module>\n    main()\nRuntimeError: " + strings.Repeat("word ", 1000) + "\n"
	s.interact(p, map[string]any{"type": "message_action", "trigger_id": guid(), "user": map[string]any{"id": "U1"}, "channel": map[string]any{"id": "C1"},
		"message": map[string]any{"ts": "1699.1", "thread_ts": "1690.1", "text": log}})
	snippets := func() int { s.mu.Lock(); defer s.mu.Unlock(); return len(s.snippets) }
	eventually(t, "a snippet", p, func() bool { return snippets() == 1 })
	settled(t, p)
	if m := s.in("C1"); len(m) != 1 || m[0].Thread != "1690.1" || snippets() != 1 {
		t.Errorf("answers %v, %d snippets", m, snippets())
	}
}
