package endtoend

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

const adminToken = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"

// visit reads a page in somebody's browser.
func visit(t *testing.T, browser *http.Client, address string) (int, string) {
	t.Helper()
	response, err := browser.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	page, _ := io.ReadAll(response.Body)
	return response.StatusCode, string(page)
}

// hand sends a form.
func hand(t *testing.T, browser *http.Client, address string, form url.Values, headers ...string) (int, string) {
	t.Helper()
	request, err := http.NewRequest(http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", formType)
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := browser.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	page, _ := io.ReadAll(response.Body)
	return response.StatusCode, string(page)
}

var (
	newApp   = regexp.MustCompile(`action="([^"]+/settings/apps/new\?state=([^"]+))"`)
	manifest = regexp.MustCompile(`name="manifest" value="([^"]+)"`)
)

// TestSetup: nothing is configured but the server. The operator makes the App and gives Slack's secrets in a browser, and both are used at
// once and after a restart. Strangers, other sites and codes from elsewhere change nothing.
func TestSetup(t *testing.T) {
	t.Parallel()
	g, s, data := newGitHub(t), newSlack(t), t.TempDir()
	g.asApp()
	g.made = string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(g.key)}))
	at := door(t)
	settings := []string{at, "TRIAGE_ADMIN_TOKEN=" + adminToken, "TRIAGE_SECRET_KEY=" + secretKey, "GITHUB_API_URL=" + g.http.URL, "SLACK_API_URL=" + s.http.URL + "/api/",
		"TRIAGE_PUBLIC_URL=http://" + strings.TrimPrefix(at, "TRIAGE_LISTEN=")}
	p := start(t, data, settings...)
	stranger, operator := person(t), person(t)
	if code, page := visit(t, stranger, p.address+"/setup"); code != http.StatusUnauthorized || strings.Contains(page, "manifest") {
		t.Fatalf("a stranger gets %d", code)
	}
	if code, _ := hand(t, stranger, p.address+"/setup/login", url.Values{"token": {"guess"}}); code != http.StatusUnauthorized {
		t.Errorf("a guess gets %d", code)
	}
	if code, _ := hand(t, operator, p.address+"/setup/login", url.Values{"token": {adminToken}}); code != http.StatusSeeOther {
		t.Fatalf("the operator gets %d", code)
	}
	_, page := visit(t, operator, p.address+"/setup")
	to, sent := newApp.FindStringSubmatch(page), manifest.FindStringSubmatch(page)
	if to == nil || sent == nil || !strings.HasPrefix(to[1], g.http.URL) {
		t.Fatalf("no form for GitHub in\n%s", page)
	}
	var app struct {
		Hook     struct{ URL string } `json:"hook_attributes"`
		Redirect string               `json:"redirect_url"`
	}
	if err := json.Unmarshal([]byte(html.UnescapeString(sent[1])), &app); err != nil || app.Hook.URL != p.address+"/github/webhook" {
		t.Fatalf("%+v, %v", app, err)
	}
	_, organization := visit(t, operator, p.address+"/setup?organization=acme")
	to = newApp.FindStringSubmatch(organization) // the page that was shown last has the state that counts
	if to == nil || !strings.HasPrefix(to[1], g.http.URL+"/organizations/acme/settings/apps/new?") {
		t.Errorf("no form for an organization in\n%s", organization)
	}
	back := func(browser *http.Client, code, state string) int {
		status, _ := visit(t, browser, app.Redirect+"?code="+code+"&state="+state)
		return status
	}
	state := html.UnescapeString(to[2])
	for about, code := range map[string]int{"a stranger": back(stranger, "good", state), "a state of somebody else": back(operator, "good", "x."+state)} {
		if code != http.StatusUnauthorized && code != http.StatusForbidden {
			t.Errorf("%s comes back and gets %d", about, code)
		}
	}
	if code := back(operator, "good", state); code != http.StatusOK {
		t.Fatalf("the operator comes back and gets %d\n%s", code, p.logged())
	}
	g.aim(p)
	g.open(1, "ann", body(t))
	eventually(t, "the App at work", p, func() bool { return g.deliver("issues", guid(), g.payload(1, "opened", nil)) == http.StatusOK })
	eventually(t, "a comment", p, func() bool { return len(g.ours(1)) == 1 })

	fields := url.Values{"signing_secret": {signingSecret}, "bot_token": {botToken}}
	if code, _ := hand(t, operator, p.address+"/setup/slack", fields, "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"); code != http.StatusForbidden {
		t.Errorf("another site's form gets %d", code)
	}
	if code, page := hand(t, operator, p.address+"/setup/slack", url.Values{"signing_secret": {signingSecret}, "bot_token": {"garbage"}}); code != http.StatusBadRequest || !strings.Contains(page, "xoxb-") {
		t.Errorf("garbage gets %d\n%s", code, page)
	}
	// A token that Slack does not know is told after the start, which it does not end, and can be replaced.
	hand(t, operator, p.address+"/setup/slack", url.Values{"signing_secret": {signingSecret}, "bot_token": {botToken + "1"}})
	eventually(t, "words about the token", p, func() bool {
		response, err := operator.Get(p.address + "/setup")
		if err != nil {
			return false // it starts just now
		}
		defer response.Body.Close()
		page, _ := io.ReadAll(response.Body)
		return strings.Contains(string(page), "does not know this token")
	})
	if code, page := hand(t, operator, p.address+"/setup/slack", fields); code != http.StatusOK {
		t.Fatalf("Slack's secrets get %d\n%s", code, page)
	}
	eventually(t, "Slack at work", p, func() bool {
		code, _, _, _ := s.slash(p, "help")
		return code == http.StatusOK && strings.Count(p.logged(), `"triage serves"`) == 4
	})
	p.stop()
	p = start(t, data, settings...)
	if code, _, _, _ := s.slash(p, "help"); code != http.StatusOK {
		t.Errorf("Slack after a restart: %d", code)
	}
	if code := g.deliver("issues", guid(), g.payload(1, "opened", nil)); code != http.StatusOK {
		t.Errorf("GitHub after a restart: %d", code)
	}
	for _, secret := range []string{g.made, webhookSecret, signingSecret, botToken, adminToken, secretKey} {
		if strings.Contains(p.logged(), strings.TrimSpace(secret)) {
			t.Error("a secret stands in the log")
		}
	}
}

// convert hands the App out for a code.
func (g *fakeGitHub) convert(w http.ResponseWriter, _ *http.Request, m []string, _ []byte) {
	if m[1] != "good" || g.made == "" {
		refuse(w, http.StatusNotFound, "Not Found")
		return
	}
	answer(w, http.StatusCreated, map[string]any{"id": appID, "slug": "triage-test", "name": "triage", "html_url": g.http.URL + "/apps/triage-test",
		"webhook_secret": webhookSecret, "pem": g.made, "client_id": "Iv1.0", "client_secret": "secret"})
}
