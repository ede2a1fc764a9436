package main

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/url"
	"runtime"
	"strings"
	"time"

	"github.com/gpu-triage/triage/bots"
	"github.com/gpu-triage/triage/bots/fetch"
	"github.com/gpu-triage/triage/bots/githubbot"
	"github.com/gpu-triage/triage/bots/slackbot"
	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/matcher/live"
)

// prometheus lets the hosts that a log names be asked about. The machine that this runs on is never asked.
func (v *server) prometheus() {
	if v.Prometheus == "" {
		v.on = append(v.on, "live", "off: PROMETHEUS_URL is missing")
		return
	}
	base := v.engine.Matcher.Base()
	fleet := live.Prometheus{URL: v.Prometheus, Base: base}
	v.engine.Live = func(ctx context.Context, log facts.LogOrigin) ([]facts.Fact, error) {
		machines, err := fleet.Hosts(ctx, log.Hosts, log.Last)
		return live.Fleet(machines, base.Vocabulary), err
	}
	v.on = append(v.on, "live", "on")
}

// github sets the GitHub bot up. It reads links for Slack also where webhooks are off.
func (v *server) github(ctx context.Context, downloads string) (*githubbot.Bot, error) {
	app, err := v.githubApp(ctx)
	if err != nil {
		return nil, err
	}
	links, err := fetch.New(githubbot.Hosts(), v.Allow)
	if err != nil {
		return nil, err
	}
	logs, err := fetch.New(append(githubbot.Hosts(), "*.blob.core.windows.net"), append(hostOf(v.GitHubAPI), v.Allow...))
	if err != nil {
		return nil, err
	}
	bot, err := githubbot.New(githubbot.Config{
		Secret: v.GitHubSecret, APIURL: v.GitHubAPI, App: app, Token: v.GitHubToken, PublicURL: v.PublicURL, Debounce: v.Debounce, Data: downloads,
		Store: v.store, Queue: v.queue, Reports: bots.Reports{Store: v.store}, Recurrence: bots.Recurrence{Store: v.store, Metrics: v.metrics}, Metrics: v.metrics, Engine: v.engine.Apart(runtime.GOMAXPROCS(0), bots.AnswerTime), Fetch: links, Logs: logs, Log: v.log,
		Limits: bots.NewLimits(v.RepositoryRate, time.Hour, v.RepositoryRate),
	})
	if err != nil {
		return nil, err
	}
	v.checks = append(v.checks, check{bot.Check, !v.given.github})
	if v.GitHubSecret == "" {
		v.on = append(v.on, "github", "off: GITHUB_WEBHOOK_SECRET is missing")
		return bot, nil
	}
	state := "receives, but cannot comment: GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY_FILE, or GITHUB_TOKEN, are missing"
	switch {
	case app != nil:
		state = "on, as App " + v.GitHubApp
	case v.GitHubToken != "":
		state = "on, with a token"
	}
	v.on = append(v.on, "github", state)
	v.http.Setup.GitHub = state
	v.http.Handlers["POST /github/webhook"] = bot
	v.work = append(v.work,
		func(ctx context.Context) error {
			return v.queue.Work(ctx, githubbot.Kind, v.Workers, workGrace, bot.Handle)
		},
		func(ctx context.Context) error { bot.Sweep(ctx); return nil },
		func(ctx context.Context) error { bot.Feedback(ctx); return nil })
	return bot, nil
}

func (v *server) slack(downloads string, github *githubbot.Bot) error {
	if v.SlackSecret == "" && v.SlackApp == "" {
		v.on = append(v.on, "slack", "off: SLACK_SIGNING_SECRET or SLACK_APP_TOKEN is missing")
		return nil
	}
	if v.SlackApp != "" && v.SlackBot == "" {
		return errors.New("SLACK_BOT_TOKEN is missing: Socket Mode needs it beside SLACK_APP_TOKEN")
	}
	files, err := fetch.New(append(githubbot.Hosts(), slackbot.Hosts()...), append(hostOf(v.SlackAPI), v.Allow...))
	if err != nil {
		return err
	}
	bot, err := slackbot.New(slackbot.Config{
		SigningSecret: v.SlackSecret, BotToken: v.SlackBot, AppToken: v.SlackApp, APIURL: v.SlackAPI, PublicURL: v.PublicURL, Data: downloads,
		Store: v.store, Queue: v.queue, Reports: bots.Reports{Store: v.store}, Recurrence: bots.Recurrence{Store: v.store, Metrics: v.metrics}, Metrics: v.metrics, Engine: v.engine.Apart(runtime.GOMAXPROCS(0), bots.AnswerTime), Fetch: files, Links: github.Read, Log: v.log,
		Limits:  bots.NewLimits(v.userRate(), time.Hour, v.userRate()),
		Install: slackbot.Install{ClientID: v.SlackClient, ClientSecret: v.SlackClientSecret, Vault: v.vault, Teams: v.SlackTeams},
	})
	if err != nil {
		return err
	}
	var modes []string
	if v.SlackSecret != "" {
		modes = append(modes, "HTTP")
	}
	for pattern, handler := range bot.Handlers() {
		v.http.Handlers[pattern] = handler
	}
	if v.SlackApp != "" {
		modes = append(modes, "Socket Mode")
		v.work = append(v.work, func(ctx context.Context) error { bot.Socket(ctx); return nil })
	}
	state := "on, " + strings.Join(modes, " and ")
	if v.SlackClient != "" {
		state += ", in every workspace that installs it at /slack/install"
		v.http.Setup.Installs = true
	} else if v.SlackBot == "" {
		state += "; without SLACK_BOT_TOKEN there are no forms, files or threads"
	}
	v.on = append(v.on, "slack", state)
	v.http.Setup.Slack = state
	v.checks = append(v.checks, check{bot.Check, !v.given.slack})
	v.work = append(v.work, func(ctx context.Context) error {
		return v.queue.Work(ctx, slackbot.Kind, v.Workers, workGrace, bot.Handle)
	})
	return nil
}

// ownRate is how many logs an hour each person may have read where any workspace may install the app.
const ownRate = 60

func (v *server) userRate() int {
	if v.UserRate == 0 && v.SlackClient != "" {
		return ownRate
	}
	return v.UserRate
}

// hostOf is the host:port of an address that an operator gave, as something to fetch from.
func hostOf(address string) []string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil
	}
	return []string{net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), map[string]string{"http": "80"}[u.Scheme], "443"))}
}
