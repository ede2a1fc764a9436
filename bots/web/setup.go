package web

import (
	"bytes"
	"cmp"
	"context"
	"crypto/subtle"
	"embed"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gpu-triage/triage/bots"
	"github.com/gpu-triage/triage/bots/manifests"
	"github.com/gpu-triage/triage/matcher/render"
)

// Setup is what the page /setup shows and does.
type Setup struct {
	Address   string   // where Slack and GitHub reach this server, "" when nobody said
	CanKeep   bool     // secrets can be stored
	GitHub    string   // what is on, "" when nothing is
	Slack     string   // the same
	Installs  bool     // workspaces install the app themselves
	Problems  []string // what the check at the start found
	GitHubWeb string   // where people see GitHub

	GitHubGiven, SlackGiven bool // by the server's settings, so that nothing can be stored here

	MakeApp   func(ctx context.Context, code string) (page string, err error) // turns GitHub's code into the App, whose page it returns
	KeepSlack func(ctx context.Context, app SlackApp) error
	Restart   func() // the server starts again with what was stored
}

// SlackApp is what Slack's pages show of the app, for the server.
type SlackApp struct{ SigningSecret, BotToken, ClientID, ClientSecret string }

const (
	sessionTime = time.Hour
	sessionName = "triage_setup"
	maxForm     = 16 << 10 // bytes
	loginsEach  = 20       // tries in a minute
)

// The page to set the server up on.
var (
	//go:embed setup.tmpl
	setupTemplates embed.FS
	setupPage      = template.Must(template.ParseFS(setupTemplates, "setup.tmpl"))
)

// setup returns the endpoints of /setup. What they change is asked for by this page alone, never by another site's.
func (s *Server) setup() map[string]http.Handler {
	protection := http.NewCrossOriginProtection()
	logins := bots.NewLimits(loginsEach, time.Minute, loginsEach)
	return map[string]http.Handler{
		"GET /setup":        s.operator(s.showSetup),
		"GET /setup/github": s.operator(s.madeApp),
		"POST /setup/slack": protection.Handler(s.operator(s.keepSlack)),
		"POST /setup/login": protection.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.login(w, r, logins) })),
	}
}

// operator lets those through who bring the admin token, or logged in with it; others get the form for that.
func (s *Server) operator(handler http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		switch {
		case s.AdminToken == "":
			s.writeSetup(w, http.StatusForbidden, setupView{Off: true})
		case hasToken(r, s.AdminToken), s.inSession(r):
			handler(w, r)
		default:
			s.writeSetup(w, http.StatusUnauthorized, setupView{Login: true})
		}
	})
}

// session is a proof of the admin token that is good until a time, and for nothing else.
func (s *Server) session(ctx context.Context, until string) (string, error) {
	seal, err := s.Store.Seal(ctx, "setup session", s.AdminToken, until)
	return until + "." + seal, err
}

func (s *Server) inSession(r *http.Request) bool {
	cookie, err := r.Cookie(sessionName)
	if err != nil {
		return false
	}
	until, _, _ := strings.Cut(cookie.Value, ".")
	end, err := strconv.ParseInt(until, 10, 64)
	if err != nil || time.Now().Unix() > end {
		return false
	}
	want, err := s.session(r.Context(), until)
	return err == nil && subtle.ConstantTimeCompare([]byte(want), []byte(cookie.Value)) == 1
}

func (s *Server) login(w http.ResponseWriter, r *http.Request, logins *bots.Limits) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if wait := logins.Wait(callerOf(r)); wait > 0 {
		s.writeSetup(w, http.StatusTooManyRequests, setupView{Login: true, Problem: "Too many tries. Wait a minute."})
		return
	}
	given := strings.TrimSpace(r.PostFormValue("token"))
	if s.AdminToken == "" || subtle.ConstantTimeCompare([]byte(given), []byte(s.AdminToken)) != 1 {
		s.writeSetup(w, http.StatusUnauthorized, setupView{Login: true, Problem: "That is not the token."})
		return
	}
	value, err := s.session(r.Context(), strconv.FormatInt(time.Now().Add(sessionTime).Unix(), 10))
	if err != nil {
		s.Log.Error("nobody can log in", "error", err)
		s.writeSetup(w, http.StatusServiceUnavailable, setupView{Login: true, Problem: "The server cannot store anything just now."})
		return
	}
	http.SetCookie(w, &http.Cookie{Name: sessionName, Value: value, Path: "/setup", MaxAge: int(sessionTime.Seconds()), HttpOnly: true,
		Secure: origin(r).Scheme == "https", SameSite: http.SameSiteLaxMode}) // Lax, because GitHub leads back here
	http.Redirect(w, r, "/setup", http.StatusSeeOther)
}

// origin is the address at which a browser reached us.
func origin(r *http.Request) *url.URL {
	scheme := "http"
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https"
	}
	return &url.URL{Scheme: scheme, Host: r.Host}
}

// setupView is what the page shows.
type setupView struct {
	Setup
	Off, Login bool
	Problem    string // with what was just asked for
	Done       string // what was just done
	Next       string // where that goes on

	Organization   string
	GitHubNew      string // where the App is made
	GitHubManifest string
	SlackManifest  string
	SlackNew       string
	Style, Script  template.HTML
}

func (s *Server) writeSetup(w http.ResponseWriter, code int, view setupView) {
	style, script := render.Stylesheet+askStyle, render.CopyScript
	view.Style, view.Script = template.HTML("<style>"+style+"</style>"), template.HTML("<script>"+script+"</script>")
	var page bytes.Buffer
	if err := setupPage.Execute(&page, view); err != nil {
		s.Log.Error("the page to set up on cannot be shown", "error", err)
		http.Error(w, "the page cannot be shown just now", http.StatusInternalServerError)
		return
	}
	protect(w, "default-src 'none'; style-src "+render.InlineHash(style)+"; script-src "+render.InlineHash(script)+
		"; base-uri 'none'; form-action 'self' "+cmp.Or(view.GitHubWeb, "https://github.com"))
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", htmlForm+"; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	_, _ = w.Write(page.Bytes())
}

// github is the way to GitHub's page and back.
func (s *Server) github(r *http.Request) bots.Trip {
	return bots.Trip{Store: s.Store, Name: "github", Path: "/setup", Time: time.Hour, Secure: origin(r).Scheme == "https"}
}

var organizationName = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})$`)

func (s *Server) showSetup(w http.ResponseWriter, r *http.Request) {
	view := setupView{Setup: s.Setup, Organization: r.URL.Query().Get("organization")}
	if view.Organization != "" && !organizationName.MatchString(view.Organization) {
		view.Organization, view.Problem = "", "That is no name of an organization on GitHub: it is what stands in its address there."
	}
	if view.Address != "" {
		if err := s.forms(w, r, &view); err != nil {
			s.Log.Error("the setup cannot begin", "error", err)
			view.Problem = "The server cannot store anything just now."
		}
	}
	s.writeSetup(w, http.StatusOK, view)
}

// forms fills in what GitHub and Slack are sent.
func (s *Server) forms(w http.ResponseWriter, r *http.Request, view *setupView) (err error) {
	view.SlackManifest = manifests.Slack(view.Address)
	view.SlackNew = "https://api.slack.com/apps?" + url.Values{"new_app": {"1"}, "manifest_yaml": {manifests.Bare(view.SlackManifest)}}.Encode()
	if view.GitHubGiven || !view.CanKeep {
		return nil
	}
	view.GitHubManifest, err = manifests.GitHubFor(view.Address, origin(r).JoinPath("/setup/github").String())
	if err != nil {
		return err
	}
	state, err := s.github(r).Begin(w, r)
	if err != nil {
		return err
	}
	path := "/settings/apps/new"
	if view.Organization != "" {
		path = "/organizations/" + view.Organization + path
	}
	view.GitHubNew = view.GitHubWeb + path + "?state=" + url.QueryEscape(state)
	return nil
}

// madeApp is where GitHub leads back to, with a code that is good for the App.
func (s *Server) madeApp(w http.ResponseWriter, r *http.Request) {
	view := setupView{Setup: s.Setup}
	state := r.URL.Query().Get("state")
	err := s.github(r).End(w, r, state)
	if err == nil {
		err = s.github(r).Once(r.Context(), state)
	}
	if err != nil {
		if !errors.Is(err, bots.ErrNotBegun) {
			s.Log.Error("the setup of GitHub cannot end", "error", err)
		}
		view.Problem = "Not done: this did not begin here in this browser, or it was used before, or it took more than an hour. Begin again."
		s.writeSetup(w, http.StatusForbidden, view)
		return
	}
	page, err := s.Setup.MakeApp(r.Context(), r.URL.Query().Get("code"))
	if err != nil {
		s.Log.Warn("the App was not made", "error", err)
		view.Problem = "Not done: " + err.Error() + ". Begin again."
		s.writeSetup(w, http.StatusBadGateway, view)
		return
	}
	view.GitHub = "the App is made"
	view.Done = "The GitHub App is made. Its key and its webhook secret are stored, and the server starts again with them, which takes a few seconds. Now install it on your repositories."
	view.Next = strings.TrimSuffix(page, "/") + "/installations/new"
	s.writeSetup(w, http.StatusOK, view)
	s.Setup.Restart()
}

func (s *Server) keepSlack(w http.ResponseWriter, r *http.Request) {
	field := func(name string) string { return strings.TrimSpace(r.PostFormValue(name)) }
	app := SlackApp{SigningSecret: field("signing_secret"), BotToken: field("bot_token"), ClientID: field("client_id"), ClientSecret: field("client_secret")}
	view := setupView{Setup: s.Setup}
	if err := s.Setup.KeepSlack(r.Context(), app); err != nil {
		view.Problem = "Not stored: " + err.Error() + "."
		if err := s.forms(w, r, &view); err != nil {
			s.Log.Error("the setup cannot go on", "error", err)
		}
		s.writeSetup(w, http.StatusBadRequest, view)
		return
	}
	view.Slack, view.Installs = "the app's secrets are stored", app.ClientID != ""
	view.Done = "Slack's secrets are stored, and the server starts again with them, which takes a few seconds. Then type /triage help in Slack."
	if view.Installs {
		view.Done = "Slack's secrets are stored, and the server starts again with them, which takes a few seconds. Then install the app in your workspaces."
		view.Next = strings.TrimSuffix(view.Address, "/") + "/slack/install"
	}
	s.writeSetup(w, http.StatusOK, view)
	s.Setup.Restart()
}
