// Package slackbot answers /triage, the shortcut "Triage this message", mentions and direct messages in Slack, over HTTP or Socket
// Mode.
package slackbot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/slack-go/slack"

	"github.com/gpu-triage/triage/bots"
	"github.com/gpu-triage/triage/bots/fetch"
	"github.com/gpu-triage/triage/bots/queue"
)

// Kind is the kind of the bot's jobs in the queue.
const Kind = "slack"

// Hosts are Slack's own, from which files are fetched.
func Hosts() []string { return []string{"files.slack.com", "files.slack-gov.com"} }

// Config is how the bot reaches Slack and what it works with.
type Config struct {
	SigningSecret string // HTTP mode
	BotToken      string // without it only response_url can be answered
	AppToken      string // Socket Mode
	APIURL        string // "" for Slack's
	PublicURL     string // where this server's /reports are, "" when nowhere
	Install       Install
	Data          string // folder for downloads

	Store      *queue.Store
	Reports    bots.Reports
	Recurrence bots.Recurrence
	Limits     *bots.Limits // how often each person may have a log read
	Queue      *queue.Queue
	Metrics    *bots.Metrics
	Engine     bots.Engine
	Fetch      *fetch.Client
	// Links reads logs from other places that people link; ok is false for an address that it does not know.
	Links func(ctx context.Context, address, dir string) (logs []fetch.Log, ok bool, err error)
	Log   *slog.Logger
}

// Bot is the Slack bot.
type Bot struct {
	Config
	api      *slack.Client
	apiHost  string
	http     *http.Client
	identity *identity
	installs *bots.Limits
}

// New returns a bot. It asks Slack nothing yet.
func New(config Config) (*Bot, error) {
	b := &Bot{Config: config, identity: &identity{}, installs: bots.NewLimits(maxInstalls, time.Minute, maxInstalls), http: &http.Client{
		Timeout:       15 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if config.APIURL != "" {
		u, err := url.Parse(config.APIURL)
		if err != nil || u.Host == "" {
			return nil, errors.New("SLACK_API_URL is no address")
		}
		b.apiHost = u.Hostname()
	}
	b.api = b.client(config.BotToken)
	return b, nil
}

// Handlers are the endpoints of HTTP mode, when there is a secret to check signatures with, and those by which workspaces install the app.
func (b *Bot) Handlers() map[string]http.Handler {
	handlers := map[string]http.Handler{}
	if b.Install.on() {
		handlers["GET /slack/install"] = http.HandlerFunc(b.install)
		handlers["GET /slack/oauth"] = http.HandlerFunc(b.installed)
	}
	if b.SigningSecret == "" {
		return handlers
	}
	handlers["POST /slack/commands"] = b.verified(func(ctx context.Context, body []byte) (any, error) {
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return nil, errMalformed
		}
		return b.command(ctx, commandOf(form), digest(body))
	})
	handlers["POST /slack/interactions"] = b.verified(func(ctx context.Context, body []byte) (any, error) {
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return nil, errMalformed
		}
		return b.interaction(ctx, []byte(form.Get("payload")), digest(body))
	})
	handlers["POST /slack/events"] = b.verified(func(ctx context.Context, body []byte) (any, error) {
		return b.event(ctx, body, digest(body))
	})
	return handlers
}

// errMalformed says that a request is not what Slack sends.
var errMalformed = errors.New("not a request of Slack's")

// What Slack sends is small; and it waits three seconds for an answer.
const (
	maxRequest = 1 << 20
	ackTime    = 2500 * time.Millisecond
)

// verified lets a request through whose signature over the raw body is right and whose time is no more than five minutes off.
func (b *Bot) verified(handle func(ctx context.Context, body []byte) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
		if tooLarge := (&http.MaxBytesError{}); errors.As(err, &tooLarge) {
			http.Error(w, "too large", http.StatusRequestEntityTooLarge)
			return
		}
		if errors.Is(err, bots.ErrBusy) {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		if err != nil {
			http.Error(w, "the body cannot be read", http.StatusBadRequest)
			return
		}
		if !b.signed(body, r.Header) {
			b.Metrics.Dropped(Kind, "signature")
			http.Error(w, "the signature is missing, wrong or more than five minutes old", http.StatusUnauthorized)
			return
		}
		queue.CrashPoint("received")
		ctx, cancel := context.WithTimeout(r.Context(), ackTime)
		defer cancel()
		answer, err := handle(ctx, body)
		if errors.Is(err, errMalformed) {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if err != nil {
			b.Log.Error("a request from Slack could not be stored", "error", err)
			http.Error(w, "cannot be stored just now, please try again", http.StatusServiceUnavailable)
			return
		}
		queue.CrashPoint("stored")
		if answer != nil {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(answer)
		}
	})
}

// signed checks Slack's v0 signature over the raw body, and that its time is no more than five minutes off, either way.
func (b *Bot) signed(body []byte, header http.Header) bool {
	verifier, err := slack.NewSecretsVerifier(header, b.SigningSecret)
	if err != nil {
		return false
	}
	_, err = verifier.Write(body)
	return err == nil && verifier.Ensure() == nil
}

func digest(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:16])
}
