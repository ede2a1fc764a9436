package slackbot

import (
	"context"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/gpu-triage/triage/bots"
	"github.com/gpu-triage/triage/bots/manifests"
	"github.com/gpu-triage/triage/bots/queue"
)

// Install says how workspaces give us a token of theirs.
type Install struct {
	ClientID, ClientSecret string       // of the app; without them there is the one workspace of BotToken
	Vault                  *queue.Vault // where the tokens are
	Teams                  []string     // ids of the workspaces and organizations that may; empty for any
}

func (i Install) on() bool { return i.ClientID != "" && i.Vault != nil }

// maxInstalls in a minute are asked Slack about, whoever comes: strangers can begin one.
const maxInstalls = 60

var errNotAllowed = errors.New("this workspace is not among those that may use this server: ask whoever runs it")

// trip is the way to Slack's page and back.
func (b *Bot) trip() bots.Trip {
	return bots.Trip{Store: b.Store, Name: "slack", Path: "/slack/", Time: 10 * time.Minute, Secure: strings.HasPrefix(b.PublicURL, "https:")}
}

func (b *Bot) redirectURL() string { return strings.TrimSuffix(b.PublicURL, "/") + "/slack/oauth" }

// install leads to Slack's page on which a workspace takes the app in.
func (b *Bot) install(w http.ResponseWriter, r *http.Request) {
	state, err := b.trip().Begin(w, r)
	if err != nil {
		b.Log.Error("an installation could not begin", "error", err)
		page(w, http.StatusServiceUnavailable, "Not just now", "The server cannot store anything just now. Try again in a minute.")
		return
	}
	query := url.Values{"client_id": {b.Install.ClientID}, "scope": {strings.Join(manifests.SlackScopes(), ",")}, "state": {state}, "redirect_uri": {b.redirectURL()}}
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, strings.TrimSuffix(b.apiURL(), "api/")+"oauth/v2/authorize?"+query.Encode(), http.StatusFound)
}

// installed is where Slack leads back to, with a code that is good for one token.
func (b *Bot) installed(w http.ResponseWriter, r *http.Request) {
	again := " Begin again at " + strings.TrimSuffix(b.PublicURL, "/") + "/slack/install."
	state := r.URL.Query().Get("state")
	if b.installs.Wait("") > 0 {
		page(w, http.StatusTooManyRequests, "Not just now", "Too many install the app at once. Try again in a minute.")
		return
	}
	if err := b.trip().End(w, r, state); err != nil {
		if !errors.Is(err, bots.ErrNotBegun) {
			b.Log.Error("an installation could not end", "error", err)
		}
		page(w, http.StatusForbidden, "Not installed", "This did not begin here in this browser, or it was used before, or it took more than ten minutes."+again)
		return
	}
	if said := r.URL.Query().Get("error"); said != "" {
		page(w, http.StatusOK, "Not installed", "Slack says that it was not allowed."+again)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), 20*time.Second)
	defer cancel()
	given, err := slack.GetOAuthV2ResponseContext(ctx, &http.Client{Timeout: 15 * time.Second}, b.Install.ClientID, b.Install.ClientSecret,
		r.URL.Query().Get("code"), b.redirectURL(), slack.OAuthOptionAPIURL(b.apiURL()))
	if err != nil {
		b.Log.Warn("Slack gave no token for an installation", "error", err)
		page(w, http.StatusBadGateway, "Not installed", exchange(err)+again)
		return
	}
	at, err := place{}, b.trip().Once(ctx, state)
	if err == nil {
		at, err = b.remember(ctx, given)
	}
	if err != nil {
		b.Log.Warn("an installation was not kept", "team", at.Team, "enterprise", at.Enterprise, "error", err)
		words := "The token could not be stored." + again
		if errors.Is(err, errNotAllowed) {
			words = "This workspace is not among those that may use this server. Ask whoever runs it."
		}
		page(w, http.StatusForbidden, "Not installed", words)
		return
	}
	b.Log.Info("a workspace installed the app", "team", at.Team, "enterprise", at.Enterprise, "name", given.Team.Name)
	page(w, http.StatusOK, "triage is installed", "In Slack, type /triage help. Invite the app to a channel with /invite @triage, and it answers there in threads.")
}

// exchange says in words why Slack gave no token for a code.
func exchange(err error) string {
	var said slack.SlackErrorResponse
	if !errors.As(err, &said) {
		return "Slack did not answer."
	}
	switch said.Err {
	case "invalid_code", "code_already_used":
		return "The code was used before, or is more than ten minutes old."
	case "invalid_client_id", "bad_client_secret":
		return "This server's SLACK_CLIENT_ID or SLACK_CLIENT_SECRET is wrong: both stand in the app's settings, under Basic Information."
	case "bad_redirect_uri":
		return "The app's settings do not list this server's address: under OAuth & Permissions, Redirect URLs."
	}
	return "Slack refused."
}

var installPage = template.Must(template.New("").Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>{{.Title}}</title></head>
<body><main><h1>{{.Title}}</h1><p>{{.Text}}</p></main></body></html>
`))

// page answers a person in a browser.
func page(w http.ResponseWriter, code int, title, text string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; frame-ancestors 'none'")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	_ = installPage.Execute(w, struct{ Title, Text string }{title, text})
}
