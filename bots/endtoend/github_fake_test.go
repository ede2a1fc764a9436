package endtoend

import (
	"bytes"
	"cmp"
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	webhookSecret = "the webhook's secret"
	appID         = 4711
	installation  = 99
	botLogin      = "triage-test[bot]"
)

// comment is a comment as the fake keeps it.
type comment struct {
	ID        int64          `json:"id"`
	Node      string         `json:"node_id"`
	Body      string         `json:"body"`
	User      user           `json:"user"`
	Assoc     string         `json:"author_association"`
	Reactions map[string]int `json:"reactions"`
	issue     int
	edits     int
	minimized string // the classifier
}

type user struct {
	Login string `json:"login"`
	Type  string `json:"type"`
}

type issue struct {
	Number    int       `json:"number"`
	Title     string    `json:"title"`
	Body      string    `json:"body"`
	User      user      `json:"user"`
	State     string    `json:"state"`
	UpdatedAt time.Time `json:"updated_at"`
	Pull      any       `json:"pull_request,omitempty"`
	Locked    bool      `json:"locked"`
	Labels    []string  `json:"-"`
}

// delivery is a webhook delivery as GitHub lists it.
type delivery struct {
	ID         int64     `json:"id"`
	GUID       string    `json:"guid"`
	At         time.Time `json:"delivered_at"`
	StatusCode int       `json:"status_code"`
	Event      string    `json:"event"`
	payload    []byte
}

// fakeGitHub behaves as GitHub's REST API and webhooks do, as far as a bot sees them.
type fakeGitHub struct {
	t    testing.TB
	http *httptest.Server
	logs *httptest.Server // where job logs are kept: a second host
	key  *rsa.PrivateKey

	mu         sync.Mutex
	private    bool   // the repository
	made       string // the key of the App that is handed out for a manifest's code, PEM
	app        bool   // credentials must be an installation's token; otherwise plainToken
	target     string
	issues     map[int]*issue
	comments   []*comment
	deliveries []*delivery
	files      map[string]string // of the default branch
	jobLog     string
	tokens     map[string]time.Time
	lastID     int64
	pageSize   int
	faults     []fault
	received   bytes.Buffer // every byte that came in
	writes     []string     // "POST /..." of every change
	asked      map[string]int
	order      []request // every request
	checks     []*checkRun
	tree       []string // files of every commit
	name       string   // of the repository, where it is no longer o/r
}

// renamed answers a request that uses the old name of the repository, as GitHub does, and turns others into ones that do.
func (g *fakeGitHub) renamed(w http.ResponseWriter, r *http.Request) bool {
	if g.name == "" {
		return false
	}
	if rest, old := strings.CutPrefix(r.URL.Path, "/repos/o/r"); old {
		w.Header().Set("Location", "/repositories/1"+rest)
		refuse(w, http.StatusMovedPermanently, "Moved Permanently")
		return true
	}
	r.URL.Path = strings.Replace(strings.Replace(r.URL.Path, "/repositories/1", "/repos/o/r", 1), "/repos/"+g.name, "/repos/o/r", 1)
	return false
}

// request is a request with the time at which it came.
type request struct {
	line string
	at   time.Time
}

// since are the requests after a time, but those for tokens.
func (g *fakeGitHub) since(at time.Time) (lines []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range g.order {
		if r.at.After(at) && !strings.Contains(r.line, "access_tokens") {
			lines = append(lines, r.line)
		}
	}
	return lines
}

const plainToken = "ghp_0123456789abcdefghijABCDEFGHIJ456789"

// fault is something that goes wrong once for a request that matches.
type fault struct {
	match *regexp.Regexp // of "METHOD /path"
	after bool           // the request is carried out first
	do    func(w http.ResponseWriter)
}

func newGitHub(t testing.TB) *fakeGitHub {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	g := &fakeGitHub{t: t, key: key, issues: map[int]*issue{}, files: map[string]string{}, tokens: map[string]time.Time{}, asked: map[string]int{},
		lastID: 1000, pageSize: 100}
	g.http = httptest.NewServer(http.HandlerFunc(g.serve))
	g.jobLog = "nothing\n"
	g.logs = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("our credentials went to the host of the job logs")
		}
		fmt.Fprint(w, g.jobLog)
	}))
	t.Cleanup(func() { g.http.CloseClientConnections(); g.http.Close(); g.logs.Close() })
	return g
}

// asApp returns the settings by which triage is this fake's App.
func (g *fakeGitHub) asApp() []string {
	g.app = true
	file := filepath.Join(g.t.TempDir(), "key.pem")
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(g.key)}
	if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
		g.t.Fatal(err)
	}
	return []string{"GITHUB_API_URL=" + g.http.URL, "GITHUB_WEBHOOK_SECRET=" + webhookSecret, "GITHUB_APP_ID=" + strconv.Itoa(appID),
		"GITHUB_APP_PRIVATE_KEY_FILE=" + file, "TRIAGE_FETCH_ALLOW=" + strings.TrimPrefix(g.logs.URL, "http://")}
}

// withToken returns the settings by which triage uses a plain token.
func (g *fakeGitHub) withToken() []string {
	return []string{"GITHUB_API_URL=" + g.http.URL, "GITHUB_WEBHOOK_SECRET=" + webhookSecret, "GITHUB_TOKEN=" + plainToken,
		"TRIAGE_FETCH_ALLOW=" + strings.TrimPrefix(g.logs.URL, "http://")}
}

func (g *fakeGitHub) fail(match string, after bool, do func(w http.ResponseWriter)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.faults = append(g.faults, fault{regexp.MustCompile(match), after, do})
}

// unused fails the test when a fault was never met.
func (g *fakeGitHub) unused() {
	g.t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, f := range g.faults {
		g.t.Errorf("the fault for %s was never met", f.match)
	}
}

func (g *fakeGitHub) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	g.mu.Lock()
	fmt.Fprintf(&g.received, "%s %s\n%s\n", r.Method, r.URL, body)
	line := r.Method + " " + r.URL.Path
	g.asked[line]++
	g.order = append(g.order, request{line, time.Now()})
	var met *fault
	for i, f := range g.faults {
		if f.match.MatchString(line) {
			met = &f
			g.faults = append(g.faults[:i:i], g.faults[i+1:]...)
			break
		}
	}
	g.mu.Unlock()
	if met != nil && !met.after {
		met.do(w)
		return
	}
	answer := httptest.NewRecorder()
	g.mu.Lock()
	if g.authorized(answer, r) && !g.renamed(answer, r) {
		g.route(answer, r, body)
	}
	g.mu.Unlock()
	if met != nil {
		met.do(w)
		return
	}
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

// authorized checks credentials: a JWT for what concerns the App, an unexpired token else.
func (g *fakeGitHub) authorized(w http.ResponseWriter, r *http.Request) bool {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if strings.HasPrefix(r.URL.Path, "/app-manifests/") { // the code is what counts
		return true
	}
	if r.URL.Path == "/app" || strings.HasPrefix(r.URL.Path, "/app/") {
		if err := g.checkJWT(token); err != nil {
			refuse(w, http.StatusUnauthorized, err.Error())
			return false
		}
		return true
	}
	expires, known := g.tokens[token]
	if !g.app && token != plainToken || g.app && (!known || time.Now().After(expires)) {
		refuse(w, http.StatusUnauthorized, "Bad credentials")
		return false
	}
	return true
}

func (g *fakeGitHub) checkJWT(token string) error {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return fmt.Errorf("a JSON web token could not be decoded")
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return err
	}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if err := rsa.VerifyPKCS1v15(&g.key.PublicKey, crypto.SHA256, digest[:], signature); err != nil {
		return err
	}
	data, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return err
	}
	var claims struct {
		IssuedAt int64  `json:"iat"`
		Expires  int64  `json:"exp"`
		Issuer   string `json:"iss"`
	}
	if err := json.Unmarshal(data, &claims); err != nil {
		return err
	}
	now := time.Now().Unix()
	if claims.Issuer != strconv.Itoa(appID) || claims.IssuedAt > now || claims.Expires <= now || claims.Expires-claims.IssuedAt > 600 {
		return fmt.Errorf("'Expiration time' claim ('exp') is too far in the future, or the issuer is wrong")
	}
	return nil
}

func refuse(w http.ResponseWriter, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]string{"message": message, "documentation_url": "https://docs.github.com/rest"})
}

func answer(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v)
}

var paths = []struct {
	pattern *regexp.Regexp
	serve   func(g *fakeGitHub, w http.ResponseWriter, r *http.Request, m []string, body []byte)
}{
	{regexp.MustCompile(`^GET /app$`), func(g *fakeGitHub, w http.ResponseWriter, _ *http.Request, _ []string, _ []byte) {
		answer(w, 200, map[string]any{"id": appID, "slug": strings.TrimSuffix(botLogin, "[bot]")})
	}},
	{regexp.MustCompile(`^POST /app-manifests/([^/]+)/conversions$`), (*fakeGitHub).convert},
	{regexp.MustCompile(`^GET /user$`), func(g *fakeGitHub, w http.ResponseWriter, _ *http.Request, _ []string, _ []byte) {
		answer(w, 200, user{botLogin, "User"})
	}},
	{regexp.MustCompile(`^POST /graphql$`), (*fakeGitHub).graphQL},
	{regexp.MustCompile(`^GET /repos/o/r/commits/([0-9a-f]{40})/check-runs$`), (*fakeGitHub).listChecks},
	{regexp.MustCompile(`^POST /repos/o/r/check-runs$`), (*fakeGitHub).createCheck},
	{regexp.MustCompile(`^PATCH /repos/o/r/check-runs/(\d+)$`), (*fakeGitHub).updateCheck},
	{regexp.MustCompile(`^GET /repos/o/r/git/trees/([0-9a-f]{40})$`), (*fakeGitHub).listTree},
	{regexp.MustCompile(`^GET /repos/o/r$`), func(g *fakeGitHub, w http.ResponseWriter, _ *http.Request, _ []string, _ []byte) {
		answer(w, 200, map[string]any{"full_name": cmp.Or(g.name, "o/r"), "private": g.private})
	}},
	{regexp.MustCompile(`^POST /app/installations/(\d+)/access_tokens$`), (*fakeGitHub).newToken},
	{regexp.MustCompile(`^GET /app/hook/deliveries$`), (*fakeGitHub).listDeliveries},
	{regexp.MustCompile(`^POST /app/hook/deliveries/(\d+)/attempts$`), (*fakeGitHub).redeliver},
	{regexp.MustCompile(`^GET /repos/o/r/issues/(\d+)$`), (*fakeGitHub).getIssue},
	{regexp.MustCompile(`^GET /repos/o/r/issues/(\d+)/comments$`), (*fakeGitHub).listComments},
	{regexp.MustCompile(`^POST /repos/o/r/issues/(\d+)/comments$`), (*fakeGitHub).createComment},
	{regexp.MustCompile(`^PATCH /repos/o/r/issues/comments/(\d+)$`), (*fakeGitHub).editComment},
	{regexp.MustCompile(`^DELETE /repos/o/r/issues/comments/(\d+)$`), (*fakeGitHub).deleteComment},
	{regexp.MustCompile(`^POST /repos/o/r/issues/comments/(\d+)/reactions$`), (*fakeGitHub).react},
	{regexp.MustCompile(`^POST /repos/o/r/issues/(\d+)/labels$`), (*fakeGitHub).label},
	{regexp.MustCompile(`^GET /repos/o/r/contents/(.+)$`), (*fakeGitHub).contents},
	{regexp.MustCompile(`^GET /repos/o/r/pulls/(\d+)$`), func(g *fakeGitHub, w http.ResponseWriter, _ *http.Request, m []string, _ []byte) {
		answer(w, 200, map[string]any{"number": 7, "head": map[string]any{"sha": strings.Repeat("ab", 20)}})
	}},
	{regexp.MustCompile(`^GET /repos/o/r/commits/([0-9a-f]{40})/pulls$`), func(g *fakeGitHub, w http.ResponseWriter, _ *http.Request, _ []string, _ []byte) {
		answer(w, 200, []map[string]any{{"number": 7, "state": "open"}})
	}},
	{regexp.MustCompile(`^GET /repos/o/r/actions/runs$`), func(g *fakeGitHub, w http.ResponseWriter, r *http.Request, _ []string, _ []byte) {
		if r.URL.Query().Get("head_sha") != strings.Repeat("ab", 20) {
			g.t.Errorf("runs of the commit %q were asked for", r.URL.Query().Get("head_sha"))
		}
		answer(w, 200, map[string]any{"total_count": 1, "workflow_runs": []map[string]any{{"id": 5, "conclusion": "failure"}}})
	}},
	{regexp.MustCompile(`^GET /repos/o/r/actions/runs/5/jobs$`), func(g *fakeGitHub, w http.ResponseWriter, _ *http.Request, _ []string, _ []byte) {
		answer(w, 200, map[string]any{"total_count": 2, "jobs": []map[string]any{
			{"id": 51, "name": "lint", "conclusion": "success"}, {"id": 52, "name": "gpu tests", "conclusion": "failure"}}})
	}},
	{regexp.MustCompile(`^GET /repos/o/r/actions/jobs/52/logs$`), func(g *fakeGitHub, w http.ResponseWriter, _ *http.Request, _ []string, _ []byte) {
		w.Header().Set("Location", g.logs.URL+"/job.txt?sig=secret")
		w.WriteHeader(http.StatusFound)
	}},
}

func (g *fakeGitHub) route(w http.ResponseWriter, r *http.Request, body []byte) {
	line := r.Method + " " + r.URL.Path
	for _, p := range paths {
		if m := p.pattern.FindStringSubmatch(line); m != nil {
			if r.Method != http.MethodGet && !strings.Contains(line, "access_tokens") {
				g.writes = append(g.writes, line)
			}
			p.serve(g, w, r, m, body)
			return
		}
	}
	g.t.Errorf("GitHub was asked for %s, which this fake does not know", line)
	refuse(w, http.StatusNotFound, "Not Found")
}

func (g *fakeGitHub) newToken(w http.ResponseWriter, _ *http.Request, m []string, _ []byte) {
	if m[1] != strconv.Itoa(installation) {
		refuse(w, http.StatusNotFound, "Not Found")
		return
	}
	g.lastID++
	token := fmt.Sprintf("ghs_%036d", g.lastID)
	g.tokens[token] = time.Now().Add(time.Hour)
	answer(w, 201, map[string]any{"token": token, "expires_at": g.tokens[token]})
}

// expireTokens makes every token given out so far worthless, whatever its expires_at said.
func (g *fakeGitHub) expireTokens() {
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.tokens)
}

func (g *fakeGitHub) getIssue(w http.ResponseWriter, _ *http.Request, m []string, _ []byte) {
	n, _ := strconv.Atoi(m[1])
	if g.issues[n] == nil {
		refuse(w, http.StatusNotFound, "Not Found")
		return
	}
	answer(w, 200, g.issues[n])
}

func (g *fakeGitHub) listComments(w http.ResponseWriter, r *http.Request, m []string, _ []byte) {
	var of []*comment
	for _, c := range g.comments {
		if strconv.Itoa(c.issue) == m[1] {
			of = append(of, c)
		}
	}
	page, size := 1, 30
	if n, err := strconv.Atoi(r.URL.Query().Get("page")); err == nil {
		page = n
	}
	if n, err := strconv.Atoi(r.URL.Query().Get("per_page")); err == nil {
		size = min(n, g.pageSize)
	}
	from, to := min((page-1)*size, len(of)), min(page*size, len(of))
	if to < len(of) {
		w.Header().Set("Link", fmt.Sprintf(`<%s%s?page=%d>; rel="next"`, g.http.URL, r.URL.Path, page+1))
	}
	answer(w, 200, append([]*comment{}, of[from:to]...))
}

func (g *fakeGitHub) createComment(w http.ResponseWriter, _ *http.Request, m []string, body []byte) {
	var in struct{ Body string }
	if json.Unmarshal(body, &in) != nil || in.Body == "" || len([]rune(in.Body)) > 65536 {
		refuse(w, http.StatusUnprocessableEntity, "Validation Failed: body is too long (maximum is 65536 characters)")
		return
	}
	n, _ := strconv.Atoi(m[1])
	if g.issues[n] == nil {
		refuse(w, http.StatusNotFound, "Not Found")
		return
	}
	if g.issues[n].Locked {
		refuse(w, http.StatusForbidden, "Unable to create comment because issue is locked.")
		return
	}
	g.lastID++
	c := &comment{ID: g.lastID, Node: fmt.Sprintf("IC_%d", g.lastID), Body: in.Body, User: user{botLogin, "Bot"}, Assoc: "NONE", Reactions: map[string]int{}, issue: n}
	g.comments = append(g.comments, c)
	answer(w, 201, c)
}

func (g *fakeGitHub) byID(text string) *comment {
	for _, c := range g.comments {
		if strconv.FormatInt(c.ID, 10) == text {
			return c
		}
	}
	return &comment{Reactions: map[string]int{}}
}

func (g *fakeGitHub) editComment(w http.ResponseWriter, _ *http.Request, m []string, body []byte) {
	var in struct{ Body string }
	if json.Unmarshal(body, &in) != nil || len([]rune(in.Body)) > 65536 {
		refuse(w, http.StatusUnprocessableEntity, "Validation Failed")
		return
	}
	c := g.byID(m[1])
	if c.ID == 0 {
		refuse(w, http.StatusNotFound, "Not Found")
		return
	}
	if c.User.Login != botLogin {
		refuse(w, http.StatusForbidden, "Must have admin rights")
		return
	}
	c.Body = in.Body
	c.edits++
	answer(w, 200, c)
}

func (g *fakeGitHub) deleteComment(w http.ResponseWriter, _ *http.Request, m []string, _ []byte) {
	g.comments = slices.DeleteFunc(g.comments, func(c *comment) bool { return strconv.FormatInt(c.ID, 10) == m[1] })
	w.WriteHeader(http.StatusNoContent)
}

func (g *fakeGitHub) react(w http.ResponseWriter, _ *http.Request, m []string, body []byte) {
	var in struct{ Content string }
	_ = json.Unmarshal(body, &in)
	g.byID(m[1]).Reactions[in.Content] = 1
	answer(w, 201, map[string]any{"id": 1, "content": in.Content})
}

func (g *fakeGitHub) label(w http.ResponseWriter, _ *http.Request, m []string, body []byte) {
	var labels []string
	_ = json.Unmarshal(body, &labels)
	n, _ := strconv.Atoi(m[1])
	g.issues[n].Labels = labels
	answer(w, 200, []any{})
}

func (g *fakeGitHub) contents(w http.ResponseWriter, _ *http.Request, m []string, _ []byte) {
	if text, ok := g.files[m[1]]; ok {
		answer(w, 200, map[string]any{"type": "file", "name": filepath.Base(m[1]), "path": m[1], "encoding": "base64",
			"content": base64.StdEncoding.EncodeToString([]byte(text))})
		return
	}
	var folder []map[string]any
	for name := range g.files {
		if filepath.Dir(name) == m[1] {
			folder = append(folder, map[string]any{"type": "file", "name": filepath.Base(name), "path": name})
		}
	}
	if folder == nil {
		refuse(w, http.StatusNotFound, "Not Found")
		return
	}
	answer(w, 200, folder)
}

func (g *fakeGitHub) listDeliveries(w http.ResponseWriter, r *http.Request, _ []string, _ []byte) {
	var page []*delivery
	from, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Query().Get("cursor"), "v1_"))
	const size = 2 // so that there are pages
	for i := len(g.deliveries) - 1 - from; i >= 0 && len(page) < size; i-- {
		page = append(page, g.deliveries[i])
	}
	if from+size < len(g.deliveries) {
		w.Header().Set("Link", fmt.Sprintf(`<%s/app/hook/deliveries?cursor=v1_%d>; rel="next"`, g.http.URL, from+size))
	}
	answer(w, 200, append([]*delivery{}, page...))
}

func (g *fakeGitHub) redeliver(w http.ResponseWriter, _ *http.Request, m []string, _ []byte) {
	for _, d := range g.deliveries {
		if strconv.FormatInt(d.ID, 10) == m[1] {
			go g.deliver(d.Event, d.GUID, d.payload)
		}
	}
	answer(w, 202, map[string]any{})
}

// reaction tells how often a comment has a reaction.
func (g *fakeGitHub) reaction(c *comment, content string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return c.Reactions[content]
}

// labels are the labels of an issue.
func (g *fakeGitHub) labels(number int) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return strings.Join(g.issues[number].Labels, " ")
}

// open creates an issue or edits it, without telling anybody.
func (g *fakeGitHub) open(number int, author, body string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	kind := "User"
	if strings.HasSuffix(author, "[bot]") {
		kind = "Bot"
	}
	g.issues[number] = &issue{Number: number, Title: "Training fails", Body: body, User: user{author, kind}, State: "open", UpdatedAt: time.Now()}
}

// unusedNumber is the number of an issue that is not there yet.
func (g *fakeGitHub) unusedNumber() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.issues) + 1
}

// put writes a file of the default branch; "" takes it away.
func (g *fakeGitHub) put(name, content string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.files, name)
	if content != "" {
		g.files[name] = content
	}
}

// remove takes a comment away, as somebody does who does not want it.
func (g *fakeGitHub) remove(id int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.comments = slices.DeleteFunc(g.comments, func(c *comment) bool { return c.ID == id })
}

// say adds a comment to an issue.
func (g *fakeGitHub) say(number int, author, association, body string) *comment {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lastID++
	c := &comment{ID: g.lastID, Body: body, User: user{author, "User"}, Assoc: association, Reactions: map[string]int{}, issue: number}
	g.comments = append(g.comments, c)
	return c
}

// payload is what a webhook says about an issue.
func (g *fakeGitHub) payload(number int, action string, c *comment) []byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := *g.issues[number]
	p := map[string]any{"action": action, "issue": i, "sender": i.User, "repository": map[string]any{"full_name": "o/r"}}
	if g.app {
		p["installation"] = map[string]any{"id": installation}
	}
	if c != nil {
		p["comment"], p["sender"] = c, c.User
	}
	data, err := json.Marshal(p)
	if err != nil {
		g.t.Fatal(err)
	}
	return data
}

func sign(body []byte) string {
	mac := hmac.New(sha256.New, []byte(webhookSecret))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// deliver sends a webhook as GitHub does and keeps its fate. It returns the status, 0 when nobody answered.
func (g *fakeGitHub) deliver(event, guid string, payload []byte) int {
	g.mu.Lock()
	target := g.target
	g.mu.Unlock()
	code := post(target+"/github/webhook", payload, "X-GitHub-Event", event, "X-GitHub-Delivery", guid,
		"X-Hub-Signature-256", sign(payload), "Content-Type", "application/json")
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lastID++
	g.deliveries = append(g.deliveries, &delivery{g.lastID, guid, time.Now(), code, event, payload})
	return code
}

func (g *fakeGitHub) aim(p *process) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.target = p.address
}

// post sends a body and returns the status, 0 when nobody answered.
func post(address string, body []byte, headers ...string) int {
	request, err := http.NewRequest(http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return 0
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	client := http.Client{Timeout: 10 * time.Second}
	response, err := client.Do(request)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode
}

// ours returns the bot's comments on an issue.
func (g *fakeGitHub) ours(number int) (found []comment) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range g.comments {
		if c.issue == number && c.User.Login == botLogin {
			found = append(found, *c)
		}
	}
	return found
}

var lastGUID struct {
	sync.Mutex
	n int
}

func guid() string {
	lastGUID.Lock()
	defer lastGUID.Unlock()
	lastGUID.n++
	return fmt.Sprintf("00000000-0000-0000-0000-%012d", lastGUID.n)
}
