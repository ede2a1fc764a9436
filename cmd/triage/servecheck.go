package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/gpu-triage/triage/bots"
	"github.com/gpu-triage/triage/bots/manifests"
)

// check tells all that is wrong with the settings as they stand, in words.
func (s *serveSettings) check() error {
	var problems []error
	for _, a := range []setting{{"TRIAGE_PUBLIC_URL", s.PublicURL}, {"SLACK_API_URL", s.SlackAPI}, {"GITHUB_API_URL", s.GitHubAPI}, {"PROMETHEUS_URL", s.Prometheus}} {
		problems = append(problems, a.addressProblem())
	}
	for _, a := range []setting{{"TRIAGE_ADMIN_TOKEN", s.AdminToken}, {"TRIAGE_DIAGNOSE_TOKEN", s.DiagnoseToken}, {"TRIAGE_SECRET_KEY", s.SecretKey},
		{"SLACK_SIGNING_SECRET", s.SlackSecret}, {"SLACK_BOT_TOKEN", s.SlackBot}, {"SLACK_APP_TOKEN", s.SlackApp}, {"SLACK_CLIENT_SECRET", s.SlackClientSecret},
		{"GITHUB_WEBHOOK_SECRET", s.GitHubSecret}, {"GITHUB_TOKEN", s.GitHubToken}, {"GITHUB_APP_ID", s.GitHubApp}} {
		problems = append(problems, a.exampleProblem())
	}
	problems = append(problems, slackTokenProblem("SLACK_BOT_TOKEN", s.SlackBot, "xoxb-"), slackTokenProblem("SLACK_APP_TOKEN", s.SlackApp, "xapp-"),
		signingSecretProblem(s.SlackSecret), s.clientProblem())
	if s.GitHubToken != "" && !tokenShape.MatchString(s.GitHubToken) {
		problems = append(problems, errors.New("GITHUB_TOKEN has characters that no token has: copy it again, it begins with ghp_ or github_pat_"))
	}
	if strings.Contains(s.GitHubKey, "-----BEGIN") {
		problems = append(problems, errors.New("GITHUB_APP_PRIVATE_KEY_FILE holds the key itself: write it to a file and give the file's path"))
	}
	if s.StoreMiB < leastStore {
		problems = append(problems, fmt.Errorf("--store-mib %d: at least %d", s.StoreMiB, leastStore))
	}
	return errors.Join(problems...)
}

// leastStore is the smallest store that is of use, in MiB.
const leastStore = 16

var tokenShape = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// setting is a setting by the name of its environment variable.
type setting struct{ name, value string }

// addressProblem says what is wrong with an address of the web; none is fine.
func (s setting) addressProblem() error {
	if s.value == "" {
		return nil
	}
	u, err := url.Parse(s.value)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		bare := strings.TrimLeft(s.value[strings.LastIndex(s.value, "://")+1:], ":/")
		return fmt.Errorf("%s is %q, which is no address of the web: it begins with https:// (or http://), as https://%s", s.name, s.value, bare)
	case u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("%s is %q: an address without ? and #", s.name, s.value)
	case strings.TrimSuffix(s.value, "/") == manifests.Example:
		return fmt.Errorf("%s is %s, the example of the README: give your server's own address", s.name, s.value)
	}
	return nil
}

// examples are words that stand for a secret in the README's example and in the manifests.
var examples = []string{"openssl rand", "another one", "a third one", "replace-me"}

func (s setting) exampleProblem() error {
	for _, example := range examples {
		if strings.Contains(s.value, example) {
			return fmt.Errorf("%s has the words of an example: give the secret itself, such as what `openssl rand -hex 32` prints when you run it", s.name)
		}
	}
	if n := len(s.value); n > 1 && (s.value[0] == '"' || s.value[0] == '\'') && s.value[0] == s.value[n-1] {
		return fmt.Errorf("%s stands in quotes: leave them out, docker's --env-file takes them for a part of the secret", s.name)
	}
	return nil
}

// slackTokenProblem says what is wrong with a token of Slack's, by its shape; none is fine.
func slackTokenProblem(name, token, prefix string) error {
	kinds := map[string]string{"xoxb-": "the bot token, from OAuth & Permissions", "xapp-": "the app-level token, from Basic Information",
		"xoxp-": "a person's token", "xoxe": "a token that expires: switch token rotation off in the app's settings"}
	switch {
	case token == "":
		return nil
	case !strings.HasPrefix(token, prefix):
		for other, kind := range kinds {
			if strings.HasPrefix(token, other) {
				return fmt.Errorf("%s begins with %s: that is %s. Needed is %s, which begins with %s", name, other, kind, kinds[prefix], prefix)
			}
		}
		return fmt.Errorf("%s is no token of Slack's: needed is %s, which begins with %s", name, kinds[prefix], prefix)
	case !tokenShape.MatchString(token) || len(token) < 20 || strings.HasPrefix(token, prefix+"."):
		return fmt.Errorf("%s begins like a token, but is not a whole one: copy it again, %s", name, kinds[prefix])
	}
	return nil
}

func signingSecretProblem(secret string) error {
	if strings.HasPrefix(secret, "xox") || strings.HasPrefix(secret, "xapp-") || secret != "" && (len(secret) < 16 || strings.ContainsAny(secret, " \t\n")) {
		return errors.New("SLACK_SIGNING_SECRET is no signing secret: it stands under Basic Information, App Credentials, and has 32 digits and letters")
	}
	return nil
}

// clientProblem says what is missing for workspaces to install the app.
func (s *serveSettings) clientProblem() error {
	if s.SlackClient == "" && s.SlackClientSecret == "" {
		return nil
	}
	var missing []string
	for _, n := range []setting{{"SLACK_CLIENT_ID", s.SlackClient}, {"SLACK_CLIENT_SECRET", s.SlackClientSecret}, {"TRIAGE_SECRET_KEY", s.SecretKey},
		{"TRIAGE_PUBLIC_URL", s.PublicURL}, {"SLACK_SIGNING_SECRET", s.SlackSecret + s.SlackApp}} {
		if n.value == "" {
			missing = append(missing, n.name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("for workspaces to install the app, %s is missing", strings.Join(missing, " and "))
	}
	return nil
}

// check asks a service whether it takes our credentials.
type check struct {
	ask    func(context.Context) bots.Checked
	stored bool // they are not of the settings: /setup stored them, and can replace them
}

// askTime is how long the start waits for the services together.
const askTime = 5 * time.Second

// ask asks the services. What they refuse for good ends the start, unless it can be replaced on /setup. What will not work is told, and so
// is a service that is merely down.
func (v *server) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	answers := make([]bots.Checked, len(v.checks))
	var group sync.WaitGroup
	for i, c := range v.checks {
		group.Go(func() { answers[i] = c.ask(ctx) })
	}
	group.Wait()
	var wrong []error
	for i, answer := range answers {
		if answer.Wrong != nil && v.checks[i].stored {
			answer.Warnings = append(answer.Warnings, answer.Wrong.Error())
		} else {
			wrong = append(wrong, answer.Wrong)
		}
		for _, words := range answer.Warnings {
			v.log.Warn(words)
		}
		v.http.Setup.Problems = append(v.http.Setup.Problems, answer.Warnings...)
	}
	return errors.Join(wrong...)
}
