package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/gpu-triage/triage/bots/githubbot"
	"github.com/gpu-triage/triage/bots/queue"
	"github.com/gpu-triage/triage/bots/web"
)

// Names in the vault of what /setup stored.
const (
	storedGitHub = "app:github"
	storedSlack  = "app:slack"
)

// stored opens the vault and takes from it what the settings do not give.
func (v *server) stored(ctx context.Context) (err error) {
	v.vault, err = v.store.Vault(ctx, split(v.SecretKey), v.ForgetSecrets)
	if errors.Is(err, queue.ErrWrongKey) {
		return fmt.Errorf("TRIAGE_SECRET_KEY: %w. Give the old key again, or, to change it, both for one start: NEW,OLD. "+
			"If the old one is lost, start once with --forget-secrets; then workspaces install the app again", err)
	}
	if err != nil {
		return fmt.Errorf("TRIAGE_SECRET_KEY: %w", err)
	}
	v.given.slack = v.SlackSecret+v.SlackApp+v.SlackBot+v.SlackClient != ""
	v.given.github = v.GitHubApp+v.GitHubKey+v.GitHubToken+v.GitHubSecret != ""
	if v.vault == nil || v.given.slack {
		return nil
	}
	var app web.SlackApp
	if _, err := v.vault.Get(ctx, storedSlack, &app); err != nil {
		return err
	}
	v.SlackSecret, v.SlackBot, v.SlackClient, v.SlackClientSecret = app.SigningSecret, app.BotToken, app.ClientID, app.ClientSecret
	return v.clientProblem()
}

// githubApp is the App of the settings, or else the one that /setup made; nil without one.
func (v *server) githubApp(ctx context.Context) (*githubbot.App, error) {
	if !v.given.github {
		return v.madeApp(ctx)
	}
	if v.GitHubApp == "" && v.GitHubKey == "" {
		return nil, nil
	}
	id, err := strconv.ParseInt(v.GitHubApp, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("GITHUB_APP_ID %q is no number: take the App ID of the App's page, not its client ID", v.GitHubApp)
	}
	key, err := os.ReadFile(v.GitHubKey)
	if err != nil {
		return nil, fmt.Errorf("GITHUB_APP_PRIVATE_KEY_FILE: %w", err)
	}
	app, err := githubbot.NewApp(id, key)
	if err != nil {
		return nil, fmt.Errorf("GITHUB_APP_PRIVATE_KEY_FILE: %w", err)
	}
	if v.GitHubSecret == "" {
		return nil, errors.New("GITHUB_WEBHOOK_SECRET is missing: without it anybody could send the App's webhooks")
	}
	return app, nil
}

func (v *server) madeApp(ctx context.Context) (*githubbot.App, error) {
	var made githubbot.Made
	if v.vault == nil {
		return nil, nil
	}
	if found, err := v.vault.Get(ctx, storedGitHub, &made); !found || err != nil {
		return nil, err
	}
	v.GitHubApp, v.GitHubSecret = strconv.FormatInt(made.ID, 10), made.Secret
	return githubbot.NewApp(made.ID, []byte(made.Key))
}

// setup is what the page /setup may do.
func (v *server) setup() web.Setup {
	return web.Setup{
		Address: v.PublicURL, CanKeep: v.vault != nil, GitHubWeb: githubbot.WebAddress(v.GitHubAPI),
		GitHubGiven: v.given.github, SlackGiven: v.given.slack,
		MakeApp: func(ctx context.Context, code string) (string, error) {
			if v.given.github {
				return "", errors.New("the settings of GitHub are given in the server's environment")
			}
			made, err := githubbot.MakeApp(ctx, v.GitHubAPI, code)
			if err != nil {
				return "", err
			}
			return made.Page, v.keep(ctx, storedGitHub, made)
		},
		KeepSlack: v.keepSlack,
		Restart: func() {
			select {
			case v.again <- struct{}{}:
			default:
			}
		},
	}
}

func (v *server) keep(ctx context.Context, name string, secret any) error {
	if v.vault == nil {
		return errors.New("TRIAGE_SECRET_KEY is missing")
	}
	if err := v.vault.Put(ctx, name, secret); err != nil {
		v.log.Error("secrets were not stored", "error", err)
		return errors.New("the store cannot take it just now")
	}
	return nil
}

func (v *server) keepSlack(ctx context.Context, app web.SlackApp) error {
	given := v.serveSettings
	given.SlackSecret, given.SlackBot, given.SlackClient, given.SlackClientSecret = app.SigningSecret, app.BotToken, app.ClientID, app.ClientSecret
	switch {
	case v.given.slack:
		return errors.New("the settings of Slack are given in the server's environment")
	case app.SigningSecret == "":
		return errors.New("the signing secret is missing")
	}
	err := cmp.Or(signingSecretProblem(app.SigningSecret), slackTokenProblem("the bot token", app.BotToken, "xoxb-"), given.clientProblem())
	if err != nil {
		return err
	}
	return v.keep(ctx, storedSlack, app)
}
