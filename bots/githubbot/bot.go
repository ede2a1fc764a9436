// Package githubbot answers issues and failed workflow runs on GitHub with one comment, edited in place.
//
// A webhook only says where to look. Each look reads the issue and its comments as they are then, so that deliveries may come twice,
// late, in any order or only after a crash: the same look gives the same comment.
package githubbot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/gpu-triage/triage/bots"
	"github.com/gpu-triage/triage/bots/fetch"
	"github.com/gpu-triage/triage/bots/queue"
)

// Kind is the kind of the bot's jobs in the queue.
const Kind = "github"

// Hosts are GitHub's own, from which logs are fetched: attachments, gists, raw files and the stores of workflow logs.
func Hosts() []string {
	return []string{"github.com", "gist.github.com", "*.githubusercontent.com", "*.actions.githubusercontent.com"}
}

// Config is how the bot reaches GitHub and what it works with. Either App or Token says how it may comment.
type Config struct {
	Secret    string // of the webhook
	APIURL    string // "" for GitHub's; else used as it is
	App       *App
	Token     string
	PublicURL string        // where this server's /reports are, "" when nowhere
	Debounce  time.Duration // of two looks at the same issue, at least this much lies between their beginnings
	Data      string        // folder for downloads

	Store      *queue.Store
	Reports    bots.Reports
	Recurrence bots.Recurrence
	Queue      *queue.Queue
	Limits     *bots.Limits // how often each repository may have something looked at
	Metrics    *bots.Metrics
	Engine     bots.Engine
	Fetch      *fetch.Client // for what users link
	Logs       *fetch.Client // for where GitHub's API sends us for job logs
	Log        *slog.Logger
}

// Bot is the GitHub bot.
type Bot struct {
	Config
	api *url.URL

	mu      sync.Mutex
	clients map[int64]*github.Client // by installation, 0 for the token; each remembers its rate limits
	pauses  map[int64]*pause         // likewise
	login   string                   // who we are, once known
	configs map[string]cachedSettings
	noted   sync.Map // names of repositories that the store has
}

// New returns a bot. It asks GitHub nothing yet.
func New(config Config) (*Bot, error) {
	api, err := apiAddress(config.APIURL)
	if err != nil {
		return nil, err
	}
	return &Bot{Config: config, api: api, clients: map[int64]*github.Client{}, pauses: map[int64]*pause{}, configs: map[string]cachedSettings{}}, nil
}

// asItself is the App itself in the place of an installation.
const asItself = -1

// client returns the client that acts for an installation; with a plain token, or nothing at all, there is one for everybody.
func (b *Bot) client(installation int64) *github.Client {
	if b.App == nil {
		installation = 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.clients[installation]
	if c == nil {
		c = b.newClient(b.credentials(installation), b.pauseLocked(installation))
		b.clients[installation] = c
	}
	return c
}

// asApp returns the client that speaks for the App itself, nil without one.
func (b *Bot) asApp() *github.Client {
	if b.App == nil {
		return nil
	}
	return b.client(asItself)
}

func (b *Bot) newClient(credentials credentials, pause *pause) *github.Client {
	c := github.NewClient(&http.Client{
		Timeout:       30 * time.Second,
		Transport:     &authorized{host: b.api.Host, credentials: credentials, pause: pause},
		CheckRedirect: onlyReading,
	})
	c.BaseURL = b.api
	c.UserAgent = "triage"
	return c
}

// onlyReading follows a redirect of what was only read: a request that changes something would become one that reads.
func onlyReading(_ *http.Request, before []*http.Request) error {
	if before[0].Method != http.MethodGet || len(before) > 5 {
		return http.ErrUseLastResponse
	}
	return nil
}

func (b *Bot) credentials(installation int64) credentials {
	switch {
	case b.App != nil && installation == asItself:
		return b.App.jwt
	case b.App != nil && installation != 0:
		return (&installationToken{app: b.App, api: b.api, id: installation, pause: b.pauseLocked(installation)}).token
	case b.Token != "":
		return func(context.Context, bool) (string, error) { return b.Token, nil }
	}
	return nil
}

// me returns our own login, "" when GitHub does not tell.
func (b *Bot) me(ctx context.Context) string {
	b.mu.Lock()
	known := b.login
	b.mu.Unlock()
	if known != "" {
		return known
	}
	login := ""
	if app := b.asApp(); app != nil {
		if a, _, err := app.Apps.Get(ctx, ""); err == nil && a.GetSlug() != "" {
			login = a.GetSlug() + "[bot]"
		}
	} else if user, _, err := b.client(0).Users.Get(ctx, ""); err == nil {
		login = user.GetLogin()
	}
	if login == "" {
		_, _ = b.Store.Load(ctx, "me:"+b.api.Host, &login)
		return login
	}
	b.remember(ctx, login)
	return login
}

// remember keeps who we are, as GitHub called the author of a comment of ours.
func (b *Bot) remember(ctx context.Context, login string) {
	b.mu.Lock()
	b.login = login
	b.mu.Unlock()
	_ = b.Store.Save(ctx, "me:"+b.api.Host, login)
}

// judge tells the queue what an error of GitHub's means: the end, again at a certain time, never, or just again.
func judge(err error) error {
	var (
		paused  *pausedError
		primary *github.RateLimitError
		refused *github.ErrorResponse
	)
	switch {
	case errors.As(err, &paused):
		return paused.later()
	case errors.As(err, &primary): // the library's own look at the last answer
		return (&pausedError{primary.Rate.Reset.Time.Add(time.Second)}).later()
	case errors.As(err, &refused) && refused.Response != nil:
		if reason := ending(refused); reason != "" {
			return fmt.Errorf("%w: %w", reason, err)
		}
		code := refused.Response.StatusCode
		if code >= 400 && code < 500 && code != http.StatusRequestTimeout && code != http.StatusUnauthorized {
			return queue.Permanent(err)
		}
	}
	return err
}

func isStatus(err error, codes ...int) bool {
	var refused *github.ErrorResponse
	if !errors.As(err, &refused) || refused.Response == nil {
		return false
	}
	for _, code := range codes {
		if refused.Response.StatusCode == code {
			return true
		}
	}
	return false
}
