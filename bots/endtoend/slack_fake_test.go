package endtoend

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"
)

const (
	signingSecret = "8f742231b10e8888abcd99yyyzzz85a5"
	botToken      = "xoxb-123456789012-1234567890123-abcdefABCDEF0123456789ab"
	socketToken   = "xapp-1-A0123456789-1234567890123-0123456789abcdef"
)

// posted is a message as people see it.
type posted struct {
	Channel  string // or, for response_url, the address
	Thread   string
	Team     string // whose token posted it; "" for the settings' own
	TS       string
	Type     string // "ephemeral", "in_channel", "" for chat.postMessage
	Text     string
	Blocks   json.RawMessage
	Metadata json.RawMessage
}

// fakeSlack behaves as Slack's Web API, response_urls and Socket Mode do, as far as a bot sees them.
type fakeSlack struct {
	t    testing.TB
	http *httptest.Server

	mu       sync.Mutex
	messages []posted
	views    []map[string]any
	snippets []posted
	triggers map[string]time.Time
	urls     map[string]int // how often a response_url was used; -1 has expired
	members  map[string]bool
	private  map[string]bool
	files    map[string]string
	teams    map[string]string // of the workspaces that installed the app, by their tokens
	acting   string            // the workspace of the request that is answered just now
	scopes   string            // of the token of the settings; "" when Slack does not tell
	signIn   bool              // file downloads lead to a sign-in page
	faults   []fault
	before   time.Duration // that it takes to look at a post
	after    time.Duration // and to answer when it stands there
	received bytes.Buffer
	lastTS   int
	sockets  chan *websocket.Conn
	acks     map[string]json.RawMessage
}

func newSlack(t testing.TB) *fakeSlack {
	s := &fakeSlack{t: t, triggers: map[string]time.Time{}, urls: map[string]int{}, members: map[string]bool{"C1": true}, private: map[string]bool{},
		files: map[string]string{}, teams: map[string]string{}, sockets: make(chan *websocket.Conn, 4), acks: map[string]json.RawMessage{}}
	s.http = httptest.NewUnstartedServer(http.HandlerFunc(s.serve)) // s.serve reads s.http, so that it must stand before the first request
	s.http.Start()
	t.Cleanup(func() { s.http.CloseClientConnections(); s.http.Close() })
	return s
}

func (s *fakeSlack) settings() []string {
	return []string{"SLACK_API_URL=" + s.http.URL + "/api/", "SLACK_SIGNING_SECRET=" + signingSecret, "SLACK_BOT_TOKEN=" + botToken}
}

func (s *fakeSlack) fail(match string, after bool, do func(w http.ResponseWriter)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, fault{regexp.MustCompile(match), after, do})
}

func (s *fakeSlack) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/socket" {
		s.socket(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	fmt.Fprintf(&s.received, "%s %s\n%s\n", r.Method, r.URL, body)
	before, after := s.before, s.after
	var met *fault
	for i, f := range s.faults {
		if f.match.MatchString(r.Method + " " + r.URL.Path) {
			met = &f
			s.faults = append(s.faults[:i:i], s.faults[i+1:]...)
			break
		}
	}
	s.mu.Unlock()
	if met != nil && !met.after {
		met.do(w)
		return
	}
	s.dawdle(before, r.URL.Path)
	out := httptest.NewRecorder()
	s.mu.Lock()
	s.route(out, r, body)
	s.mu.Unlock()
	s.dawdle(after, r.URL.Path)
	if met != nil {
		met.do(w)
		return
	}
	for name, values := range out.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(out.Code)
	_, _ = w.Write(out.Body.Bytes())
}

// dawdle is slow about what people see.
func (s *fakeSlack) dawdle(long time.Duration, path string) {
	if path == "/api/chat.postMessage" || strings.HasPrefix(path, "/commands/") {
		time.Sleep(long)
	}
}

func (s *fakeSlack) route(w http.ResponseWriter, r *http.Request, body []byte) {
	form, _ := url.ParseQuery(string(body))
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if token == "" {
		token = form.Get("token")
	}
	switch path := r.URL.Path; {
	case strings.HasPrefix(path, "/commands/"):
		s.response(w, path, body)
		return
	case strings.HasPrefix(path, "/download/"):
		s.download(w, path, token)
		return
	case strings.HasPrefix(path, "/upload/"):
		fmt.Fprint(w, "OK")
		return
	case path == "/api/apps.connections.open":
		if token != socketToken {
			said(w, "invalid_auth", nil)
			return
		}
		said(w, "", map[string]any{"url": "ws" + strings.TrimPrefix(s.http.URL, "http") + "/socket"})
		return
	case path == "/api/oauth.v2.access":
		s.install(w, form)
		return
	case token != botToken && s.teams[token] == "":
		said(w, "invalid_auth", nil)
		return
	}
	s.acting = s.teams[token]
	call, ok := calls[strings.TrimPrefix(r.URL.Path, "/api/")]
	if !ok {
		s.t.Errorf("Slack was asked for %s, which this fake does not know", r.URL.Path)
		said(w, "unknown_method", nil)
		return
	}
	call(s, w, form, body)
}

func said(w http.ResponseWriter, failure string, more map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	out := map[string]any{"ok": failure == ""}
	if failure != "" {
		out["error"] = failure
	}
	for k, v := range more {
		out[k] = v
	}
	_ = json.NewEncoder(w).Encode(out)
}

var calls = map[string]func(s *fakeSlack, w http.ResponseWriter, form url.Values, body []byte){
	"chat.postMessage": func(s *fakeSlack, w http.ResponseWriter, form url.Values, _ []byte) {
		channel := form.Get("channel")
		if !strings.HasPrefix(channel, "U") && !s.members[channel] {
			said(w, "not_in_channel", nil)
			return
		}
		m := posted{Channel: channel, Thread: form.Get("thread_ts"), Text: form.Get("text"), Blocks: json.RawMessage(form.Get("blocks")),
			Metadata: json.RawMessage(form.Get("metadata"))}
		if problem := s.keep(m); problem != "" {
			said(w, problem, nil)
			return
		}
		said(w, "", map[string]any{"channel": channel, "ts": s.messages[len(s.messages)-1].TS})
	},
	"auth.test": func(s *fakeSlack, w http.ResponseWriter, _ url.Values, _ []byte) {
		if s.scopes != "" {
			w.Header().Set("X-OAuth-Scopes", s.scopes)
		}
		said(w, "", map[string]any{"team_id": "THOME", "user_id": "UBOT"})
	},
	"conversations.replies": (*fakeSlack).history,
	"conversations.history": (*fakeSlack).history,
	"conversations.info": func(s *fakeSlack, w http.ResponseWriter, form url.Values, _ []byte) {
		said(w, "", map[string]any{"channel": map[string]any{"id": form.Get("channel"), "is_private": s.private[form.Get("channel")]}})
	},
	"views.open": func(s *fakeSlack, w http.ResponseWriter, _ url.Values, body []byte) {
		var in struct {
			Trigger string         `json:"trigger_id"`
			View    map[string]any `json:"view"`
		}
		_ = json.Unmarshal(body, &in)
		issued, ok := s.triggers[in.Trigger]
		if !ok || time.Since(issued) > 3*time.Second {
			said(w, "expired_trigger_id", nil)
			return
		}
		delete(s.triggers, in.Trigger)
		s.views = append(s.views, in.View)
		said(w, "", map[string]any{"view": map[string]any{"id": "V1"}})
	},
	"files.info": func(s *fakeSlack, w http.ResponseWriter, form url.Values, _ []byte) {
		id := form.Get("file")
		if _, ok := s.files[id]; !ok {
			said(w, "file_not_found", nil)
			return
		}
		said(w, "", map[string]any{"file": map[string]any{"id": id, "name": "train.log", "is_public": true,
			"url_private_download": s.http.URL + "/download/" + id}})
	},
	"files.getUploadURLExternal": func(s *fakeSlack, w http.ResponseWriter, form url.Values, _ []byte) {
		said(w, "", map[string]any{"upload_url": s.http.URL + "/upload/1", "file_id": "F9"})
	},
	"files.completeUploadExternal": func(s *fakeSlack, w http.ResponseWriter, form url.Values, _ []byte) {
		s.snippets = append(s.snippets, posted{Channel: form.Get("channel_id"), Thread: form.Get("thread_ts")})
		said(w, "", map[string]any{"files": []map[string]any{{"id": "F9", "title": "x"}}})
	},
}

func (s *fakeSlack) demandSignIn(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.signIn = on
}

// history pages through a channel, newest first, or through a thread, oldest first.
func (s *fakeSlack) history(w http.ResponseWriter, form url.Values, _ []byte) {
	found := []map[string]any{}
	for _, m := range s.messages {
		thread, latest := form.Get("ts"), form.Get("latest")
		if m.Channel != form.Get("channel") || thread != "" && m.Thread != thread || latest != "" && latest != m.TS || m.TS < form.Get("oldest") {
			continue
		}
		entry := map[string]any{"type": "message", "ts": m.TS, "text": m.Text}
		if len(m.Metadata) > 0 && form.Get("include_all_metadata") != "" {
			entry["metadata"] = m.Metadata
		}
		found = append(found, entry)
	}
	if form.Get("ts") == "" {
		slices.Reverse(found)
	}
	from, _ := strconv.Atoi(form.Get("cursor"))
	limit, _ := strconv.Atoi(form.Get("limit"))
	to := min(from+max(limit, 1), len(found))
	next := ""
	if to < len(found) {
		next = strconv.Itoa(to)
	}
	said(w, "", map[string]any{"messages": found[from:to], "has_more": next != "", "response_metadata": map[string]any{"next_cursor": next}})
}

// keep takes a message as strictly as Slack does.
func (s *fakeSlack) keep(m posted) (problem string) {
	if problem := blockProblem(m.Blocks); problem != "" {
		s.t.Errorf("blocks refused: %s\n%s", problem, m.Blocks)
		return "invalid_blocks"
	}
	if m.Text == "" && len(m.Blocks) == 0 {
		return "no_text"
	}
	s.lastTS++
	m.Team = s.acting
	m.TS = fmt.Sprintf("%d.%06d", time.Now().Unix(), s.lastTS)
	s.messages = append(s.messages, m)
	return ""
}

func (s *fakeSlack) response(w http.ResponseWriter, path string, body []byte) {
	if used := s.urls[path]; used < 0 || used >= 5 {
		w.WriteHeader(404)
		fmt.Fprint(w, "expired_url")
		return
	}
	s.urls[path]++
	var in struct {
		Type    string          `json:"response_type"`
		Text    string          `json:"text"`
		Blocks  json.RawMessage `json:"blocks"`
		Replace bool            `json:"replace_original"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		w.WriteHeader(400)
		fmt.Fprint(w, "invalid_payload")
		return
	}
	if problem := s.keep(posted{Channel: path, Type: in.Type, Text: in.Text, Blocks: in.Blocks}); problem != "" {
		w.WriteHeader(400)
		fmt.Fprint(w, problem)
		return
	}
	fmt.Fprint(w, "ok")
}

func (s *fakeSlack) download(w http.ResponseWriter, path, token string) {
	if token != botToken || s.signIn {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<!DOCTYPE html><title>Sign in to Slack</title>")
		return
	}
	fmt.Fprint(w, s.files[strings.TrimPrefix(path, "/download/")])
}

var alive = regexp.MustCompile(`<[!@#h]|@(?:here|channel|everyone)`)

// blockProblem checks blocks against Slack's limits, published and not.
func blockProblem(data json.RawMessage) string {
	if len(data) == 0 {
		return ""
	}
	var list []map[string]any
	if err := json.Unmarshal(data, &list); err != nil || len(list) == 0 {
		return "no list of blocks"
	}
	if len(list) > 50 {
		return "more than 50 blocks"
	}
	sum := 0
	for _, b := range list {
		text, _ := b["text"].(map[string]any)
		content, _ := text["text"].(string)
		n := utf8.RuneCountInString(content)
		sum += n
		switch b["type"] {
		case "header":
			if n == 0 || n > 150 || text["type"] != "plain_text" {
				return fmt.Sprintf("a header of %d characters", n)
			}
		case "section":
			if n == 0 || n > 3000 {
				return fmt.Sprintf("a section of %d characters", n)
			}
		case "actions":
			elements, _ := b["elements"].([]any)
			if len(elements) == 0 || len(elements) > 25 {
				return "a wrong number of buttons"
			}
			for _, e := range elements {
				element := e.(map[string]any)
				label := element["text"].(map[string]any)["text"].(string)
				if utf8.RuneCountInString(label) > 75 || len(fmt.Sprint(element["value"])) > 2000 {
					return "a button too long"
				}
			}
		default:
			return fmt.Sprintf("an unknown block %v", b["type"])
		}
		if alive.MatchString(content) {
			return "something comes alive: " + alive.FindString(content)
		}
		if text["type"] == "mrkdwn" && text["verbatim"] != true {
			return "addresses would become links"
		}
	}
	if sum > 13_200 {
		return fmt.Sprintf("msg_blocks_too_long: %d characters", sum)
	}
	return ""
}

// request sends a signed request of Slack's and returns status and body.
func (s *fakeSlack) request(p *process, path, contentType string, body []byte, at time.Time) (int, string) {
	stamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(signingSecret))
	fmt.Fprintf(mac, "v0:%s:%s", stamp, body)
	return s.send(p, path, contentType, body, stamp, "v0="+hex.EncodeToString(mac.Sum(nil)))
}

func (s *fakeSlack) send(p *process, path, contentType string, body []byte, stamp, signature string) (int, string) {
	r, err := http.NewRequest(http.MethodPost, p.address+path, bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", contentType)
	if stamp != "" {
		r.Header.Set("X-Slack-Request-Timestamp", stamp)
	}
	if signature != "" {
		r.Header.Set("X-Slack-Signature", signature)
	}
	client := http.Client{Timeout: 3 * time.Second} // Slack waits no longer
	response, err := client.Do(r)
	if err != nil {
		return 0, ""
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return response.StatusCode, string(text)
}

const formType = "application/x-www-form-urlencoded"

// slash sends /triage with a text. Each call is a new command; the body is returned to send it again.
func (s *fakeSlack) slash(p *process, text string) (code int, reply, responseURL string, body []byte) {
	id := guid()
	s.mu.Lock()
	s.triggers[id] = time.Now()
	s.mu.Unlock()
	responseURL = "/commands/" + id
	body = []byte(url.Values{"command": {"/triage"}, "text": {text}, "channel_id": {"C1"}, "user_id": {"U1"}, "team_id": {"T1"},
		"trigger_id": {id}, "response_url": {s.http.URL + responseURL}}.Encode())
	code, reply = s.request(p, "/slack/commands", formType, body, time.Now())
	return code, reply, responseURL, body
}

// interact sends an interaction.
func (s *fakeSlack) interact(p *process, payload map[string]any) (int, string) {
	data, err := json.Marshal(payload)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.request(p, "/slack/interactions", formType, []byte(url.Values{"payload": {string(data)}}.Encode()), time.Now())
}

// in returns the messages in a channel or of a response_url.
func (s *fakeSlack) in(channel string) (found []posted) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.messages {
		if m.Channel == channel {
			found = append(found, m)
		}
	}
	return found
}

// socket serves one Socket Mode connection.
func (s *fakeSlack) socket(w http.ResponseWriter, r *http.Request) {
	upgrader := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	_ = conn.WriteJSON(map[string]any{"type": "hello", "num_connections": 1, "connection_info": map[string]any{"app_id": "A1"}})
	s.sockets <- conn
	for {
		var ack struct {
			ID      string          `json:"envelope_id"`
			Payload json.RawMessage `json:"payload"`
		}
		if err := conn.ReadJSON(&ack); err != nil {
			return
		}
		s.mu.Lock()
		s.acks[ack.ID] = append(json.RawMessage("acknowledged "), ack.Payload...)
		s.mu.Unlock()
	}
}
