package slackbot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/slack-go/slack"
)

// place is where a request came from. Ids of people and channels are told apart by it.
type place struct {
	Team       string `json:"team,omitempty"`       // the workspace
	Enterprise string `json:"enterprise,omitempty"` // the organization above it
}

// in makes a key that is of this place alone. Ids of workspaces are unique by themselves, and Slack does not name the organization each time.
func (p place) in(key string) string {
	id := cmp.Or(p.Team, p.Enterprise)
	if id == "" { // stored by an older program, or sent by a stand-in for Slack that knows one workspace
		return key
	}
	return id + "/" + key
}

// installation is what Slack gave us for a workspace, or for all those of an organization.
type installation struct {
	Name      string    `json:"name"`
	Token     string    `json:"token"`
	Installed time.Time `json:"installed"`
}

func installationKey(id string) string { return "slack:" + id }

// identity is whose token SLACK_BOT_TOKEN is, once known.
type identity struct {
	mu   sync.Mutex
	team string
}

// at returns the bot as it acts in a place: with the token that was given there, with SLACK_BOT_TOKEN where that is of this workspace, and
// else without one.
func (b *Bot) at(ctx context.Context, p place) (*Bot, error) {
	if !b.Install.on() {
		return b, nil
	}
	for _, id := range []string{p.Team, p.Enterprise} {
		var found installation
		if id == "" {
			continue
		}
		if ok, err := b.Install.Vault.Get(ctx, installationKey(id), &found); err != nil {
			return nil, err
		} else if ok {
			return b.with(found.Token), nil
		}
	}
	if b.BotToken == "" {
		return b, nil
	}
	home, err := b.home(ctx)
	if err != nil {
		return nil, err
	}
	if p.Team == "" || p.Team == home {
		return b, nil
	}
	return b.with(""), nil
}

// with returns the bot with another token.
func (b *Bot) with(token string) *Bot {
	other := *b
	other.BotToken = token
	other.api = other.client(token)
	return &other
}

func (b *Bot) client(token string) *slack.Client {
	options := []slack.Option{slack.OptionHTTPClient(&http.Client{Timeout: 20 * time.Second}), slack.OptionAppLevelToken(b.AppToken)}
	if b.APIURL != "" {
		options = append(options, slack.OptionAPIURL(b.apiURL()))
	}
	return slack.New(token, options...)
}

func (b *Bot) apiURL() string { return strings.TrimSuffix(cmp.Or(b.APIURL, slack.APIURL), "/") + "/" }

// home is the workspace of SLACK_BOT_TOKEN.
func (b *Bot) home(ctx context.Context) (string, error) {
	b.identity.mu.Lock()
	defer b.identity.mu.Unlock()
	if b.identity.team != "" {
		return b.identity.team, nil
	}
	me, err := b.api.AuthTestContext(ctx)
	if err != nil {
		return "", fmt.Errorf("ask Slack whose token SLACK_BOT_TOKEN is: %w", judge(err))
	}
	b.identity.team = me.TeamID
	return me.TeamID, nil
}

// remember keeps an installation, if its workspace may have one.
func (b *Bot) remember(ctx context.Context, given *slack.OAuthV2Response) (place, error) {
	at := place{Team: given.Team.ID, Enterprise: given.Enterprise.ID}
	if given.IsEnterpriseInstall {
		at.Team = ""
	}
	id := cmp.Or(at.Team, at.Enterprise)
	if id == "" || given.AccessToken == "" {
		return at, errors.New("Slack's answer names no workspace, or has no token of a bot")
	}
	if allowed := b.Install.Teams; len(allowed) > 0 && !slices.Contains(allowed, given.Team.ID) && !slices.Contains(allowed, given.Enterprise.ID) {
		return at, errNotAllowed
	}
	if given.ExpiresIn > 0 {
		return at, errors.New("the app's tokens expire: switch token rotation off in the app's settings, under OAuth & Permissions")
	}
	return at, b.Install.Vault.Put(ctx, installationKey(id), installation{Name: cmp.Or(given.Team.Name, given.Enterprise.Name), Token: given.AccessToken, Installed: time.Now().UTC()})
}

// forget deletes the token of a place that took it back at a time. One that was given later stays.
func (b *Bot) forget(ctx context.Context, p place, at time.Time) error {
	if !b.Install.on() {
		return nil
	}
	for _, id := range []string{p.Team, p.Enterprise} {
		var known installation
		if id == "" {
			continue
		}
		found, err := b.Install.Vault.Get(ctx, installationKey(id), &known)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		if !at.IsZero() && known.Installed.After(at.Add(time.Second)) { // Slack's times are whole seconds
			return nil
		}
		b.Log.Info("a workspace took the app away: its token is deleted", "team", id, "name", known.Name)
		return b.Install.Vault.Delete(ctx, installationKey(id))
	}
	return nil
}
