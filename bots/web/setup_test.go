package web

import (
	"context"
	"errors"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// newSetup returns a server whose setup is open to the token "admin", with a GitHub that makes an App of whatever manifest it is sent.
func newSetup(t *testing.T) (s *Server, at, manifest *string) {
	t.Helper()
	at, manifest = new(string), new(string)
	github := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<h1>Install</h1>"))
			return
		}
		*manifest = r.PostFormValue("manifest")
		back := *at + "/setup/github?" + url.Values{"code": {"good"}, "state": {r.URL.Query().Get("state")}}.Encode()
		http.Redirect(w, r, back, http.StatusSeeOther)
	}))
	t.Cleanup(github.Close)
	s = newServer(t)
	s.AdminToken = "admin"
	s.Setup = Setup{Address: "https://triage.corp.net", CanKeep: true, GitHubWeb: github.URL,
		MakeApp: func(_ context.Context, code string) (string, error) {
			if code != "good" {
				return "", errors.New("GitHub does not know this code")
			}
			return github.URL + "/apps/x", nil
		},
		KeepSlack: func(_ context.Context, app SlackApp) error {
			if app.SigningSecret != "signed" {
				return errors.New("that is no signing secret")
			}
			return nil
		},
		Restart: func() {},
	}
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	*at = server.URL
	return s, at, manifest
}

// TestSetupInABrowser: the operator logs in, makes the App at GitHub and comes back, and gives Slack's secrets.
func TestSetupInABrowser(t *testing.T) {
	ctx := browser(t)
	_, at, manifest := newSetup(t)
	narrow := func(name string) {
		t.Helper()
		shot(ctx, t, name)
		if do(ctx, t, chromedp.Evaluate[bool]("document.documentElement.scrollWidth > innerWidth")) {
			t.Errorf("%s is wider than a phone", name)
		}
	}
	press := func(selector string) {
		t.Helper()
		do(ctx, t, chromedp.Evaluate[bool](`document.querySelector("`+selector+`").requestSubmit() === undefined`))
	}
	do(ctx, t, chromedp.Navigate(*at+"/setup"))
	narrow("setup-login")
	do(ctx, t, chromedp.SetValue("#token", "admin"))
	press("form")
	until(ctx, t, `document.querySelector("#make") !== null`)
	narrow("setup")
	if link := do(ctx, t, chromedp.Evaluate[string](`document.querySelector("#new").href`)); !strings.HasPrefix(link, "https://api.slack.com/apps?") ||
		!strings.Contains(link, url.QueryEscape("https://triage.corp.net/slack/events")) {
		t.Errorf("Slack's page is %s", link)
	}
	do(ctx, t, chromedp.SetValue("#organization", "acme"))
	press(`form[method=get]`)
	until(ctx, t, `document.querySelector("#make") !== null && document.querySelector("#make").action.includes("/organizations/acme/settings/apps/new?state=")`)
	press("#make")
	until(ctx, t, `document.querySelector("#next") !== null`)
	narrow("setup-made")
	if !strings.Contains(*manifest, `"url":"https://triage.corp.net/github/webhook"`) || !strings.Contains(*manifest, `"redirect_url":"`+*at+`/setup/github"`) {
		t.Errorf("GitHub got %s", *manifest)
	}
	if link := do(ctx, t, chromedp.Evaluate[string](`document.querySelector("#next").href`)); !strings.HasSuffix(link, "/apps/x/installations/new") {
		t.Errorf("the App is installed at %s", link)
	}
	do(ctx, t, chromedp.Navigate(*at+"/setup"))
	do(ctx, t, chromedp.SetValue("#signing_secret", "garbage"))
	press(`form[action='/setup/slack']`)
	until(ctx, t, `document.querySelector("[role=alert]") !== null && document.querySelector("[role=alert]").innerText.includes("no signing secret")`)
	do(ctx, t, chromedp.SetValue("#signing_secret", "signed"))
	press(`form[action='/setup/slack']`)
	until(ctx, t, `document.querySelector("[role=status]") !== null && document.querySelector("[role=status]").innerText.includes("/triage help")`)
}

// TestSetupIsShut: without the token nobody sees or changes anything, and without one being set nobody at all.
func TestSetupIsShut(t *testing.T) {
	s, _, _ := newSetup(t)
	s.Setup.KeepSlack = func(context.Context, SlackApp) error { t.Error("stored"); return nil }
	s.Setup.MakeApp = func(context.Context, string) (string, error) { t.Error("made"); return "", nil }
	handler := s.Handler()
	ask := func(method, path, cookie, bearer string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, strings.NewReader("signing_secret=signed"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Cookie", cookie)
		if bearer != "" {
			r.Header.Set("Authorization", "Bearer "+bearer)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w
	}
	forged := sessionName + "=99999999999.0000000000000000000000000000000000000000"
	for _, token := range []string{"admin", ""} {
		s.AdminToken = token
		for _, path := range []string{"GET /setup", "GET /setup/github?code=good&state=x", "POST /setup/slack"} {
			method, path, _ := strings.Cut(path, " ")
			for _, cookie := range []string{"", forged, sessionName + "=", sessionName + "=x.y"} {
				if w := ask(method, path, cookie, ""); w.Code != http.StatusUnauthorized && w.Code != http.StatusForbidden || strings.Contains(w.Body.String(), "manifest") {
					t.Errorf("%s %s with %q: %d", method, path, cookie, w.Code)
				}
			}
		}
	}
	s.AdminToken = "admin"
	if w := ask(http.MethodGet, "/setup", "", "admin"); w.Code != http.StatusOK || !strings.Contains(html.UnescapeString(w.Body.String()), "https://triage.corp.net/slack/commands") {
		t.Errorf("the token as a header: %d", w.Code)
	}
	if w := ask(http.MethodGet, "/setup?organization=a/b", "", "admin"); !strings.Contains(w.Body.String(), "no name of an organization") {
		t.Error("a/b is taken for an organization")
	}
}

// TestLoginTries: a token is not found by trying.
func TestLoginTries(t *testing.T) {
	s, _, _ := newSetup(t)
	handler := s.Handler()
	for i := range loginsEach + 1 {
		r := httptest.NewRequest(http.MethodPost, "/setup/login", strings.NewReader("token=guess"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		want := http.StatusUnauthorized
		if i == loginsEach {
			want = http.StatusTooManyRequests
		}
		if w.Code != want {
			t.Errorf("try %d: %d", i+1, w.Code)
		}
	}
}
