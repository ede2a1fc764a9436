package githubbot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gpu-triage/triage/bots"
	"github.com/gpu-triage/triage/bots/manifests"
)

// Check asks GitHub once whether it takes our credentials, and says in words what is wrong with them and what to do.
func (b *Bot) Check(ctx context.Context) bots.Checked {
	switch {
	case b.pausedSomewhere(ctx):
		return bots.Checked{Warnings: []string{"GitHub demanded a pause that lasts still, so its credentials were not checked"}}
	case b.App != nil:
		return b.checkApp(ctx)
	case b.Token != "":
		return b.checkToken(ctx)
	}
	return bots.Checked{}
}

// pausedSomewhere tells whether a pause that was demanded before the start lasts still, of whatever installation.
func (b *Bot) pausedSomewhere(ctx context.Context) (paused bool) {
	err := b.Store.Each(ctx, "pause", func(data []byte) bool {
		var until time.Time
		paused = json.Unmarshal(data, &until) == nil && time.Now().Before(until)
		return !paused
	})
	if err != nil {
		b.Log.Warn("pauses cannot be read", "error", err)
	}
	return paused
}

func (b *Bot) checkToken(ctx context.Context) (c bots.Checked) {
	response, err := b.get(ctx, "user", b.Token)
	if err != nil {
		return bots.Checked{Warnings: []string{"GitHub cannot be reached just now, so GITHUB_TOKEN was not checked"}}
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusUnauthorized {
		return bots.Checked{Wrong: errors.New("GITHUB_TOKEN: GitHub does not know this token, or it has expired: make another under Settings, Developer settings, Personal access tokens")}
	}
	if scopes := response.Header.Get("X-Oauth-Scopes"); response.Header.Values("X-Oauth-Scopes") != nil && !hasScope(scopes, "repo") && !hasScope(scopes, "public_repo") {
		c.Warnings = append(c.Warnings, "GITHUB_TOKEN lacks the scope repo (public_repo is enough for public repositories), so that it cannot comment: add it under Settings, Developer settings, Personal access tokens")
	}
	return c
}

func hasScope(list, want string) bool {
	for one := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(one) == want {
			return true
		}
	}
	return false
}

func (b *Bot) checkApp(ctx context.Context) (c bots.Checked) {
	response, err := b.getApp(ctx)
	if err == nil && response.StatusCode == http.StatusUnauthorized && b.App.learn(response) {
		response.Body.Close()
		response, err = b.getApp(ctx)
	}
	if err != nil {
		return bots.Checked{Warnings: []string{"GitHub cannot be reached just now, so the App was not checked"}}
	}
	defer response.Body.Close()
	c.Clock("GitHub", response)
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusUnauthorized, http.StatusNotFound:
		c.Wrong = fmt.Errorf("GITHUB_APP_ID %d and the private key do not belong together, or the App was deleted: the number stands on the App's page, which also makes a new key", b.App.id)
		return c
	default:
		c.Warnings = append(c.Warnings, fmt.Sprintf("GitHub answered %d, so the App was not checked", response.StatusCode))
		return c
	}
	var app struct {
		Page        string            `json:"html_url"`
		Permissions map[string]string `json:"permissions"`
		Events      []string          `json:"events"`
	}
	if json.NewDecoder(http.MaxBytesReader(nil, response.Body, 1<<20)).Decode(&app) != nil || app.Permissions == nil {
		return c // a stand-in for GitHub does not tell
	}
	if lacking := manifests.GitHub().Lacking(app.Permissions, app.Events); len(lacking) > 0 {
		c.Warnings = append(c.Warnings, "the GitHub App lacks "+strings.Join(lacking, ", ")+": add them on the App's page under Permissions & events, and let the owners of its installations accept them "+app.Page)
	}
	return c
}

func (b *Bot) getApp(ctx context.Context) (*http.Response, error) {
	token, err := b.App.jwt(ctx, true)
	if err != nil {
		return nil, err
	}
	return b.get(ctx, "app", token)
}

func (b *Bot) get(ctx context.Context, path, token string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, b.api.JoinPath(path).String(), nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Accept", "application/vnd.github+json")
	client := http.Client{Timeout: 10 * time.Second}
	return client.Do(request)
}
