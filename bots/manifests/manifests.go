// Package manifests holds what Slack and GitHub are told of the app, and how the server is run under Compose, Kubernetes and systemd.
package manifests

import (
	_ "embed" // the files below
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Example is the address that stands in the manifests for the server's own.
const Example = "https://triage.example.org"

var (
	//go:embed slack.yaml
	slackManifest string
	//go:embed github-app.json
	githubManifest string

	botScopes = regexp.MustCompile(`(?m)^    bot:\n((?:      - .*\n)+)`)
	comment   = regexp.MustCompile(`(?m)^#.*\n| +#.*$`)
	scope     = regexp.MustCompile(`(?m)^      - (\S+)`)
)

// Slack is the manifest of the Slack app for a server's address, YAML.
func Slack(address string) string {
	return strings.ReplaceAll(slackManifest, Example, strings.TrimSuffix(address, "/"))
}

// Bare is a manifest in YAML without its comments, short enough for an address.
func Bare(manifest string) string { return comment.ReplaceAllString(manifest, "") }

// SlackScopes are the permissions that the manifest asks for, for the bot.
func SlackScopes() (scopes []string) {
	for _, m := range scope.FindAllStringSubmatch(botScopes.FindString(slackManifest), -1) {
		scopes = append(scopes, m[1])
	}
	return scopes
}

// GitHubApp is what GitHub is told of the App.
// https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest#github-app-manifest-parameters
type GitHubApp struct {
	Name        string            `json:"name"`
	URL         string            `json:"url"`
	Description string            `json:"description"`
	Hook        GitHubHook        `json:"hook_attributes"`
	Redirect    string            `json:"redirect_url"`
	Public      bool              `json:"public"`
	Permissions map[string]string `json:"default_permissions"`
	Events      []string          `json:"default_events"`
}

// GitHubHook is where the App's webhooks go.
type GitHubHook struct {
	URL    string `json:"url"`
	Active bool   `json:"active"`
}

// GitHub is the manifest as the file has it, with the example for an address.
func GitHub() GitHubApp {
	var app GitHubApp
	if err := json.Unmarshal([]byte(githubManifest), &app); err != nil {
		panic(err) // it is in the program
	}
	return app
}

// maxName is the most characters that the name of an App has.
const maxName = 34

// GitHubFor is the manifest for a server's address, JSON. GitHub leads back to redirect. The name has the server's host in it, because the
// names of Apps are unique on GitHub; whoever makes the App can change it there.
func GitHubFor(address, redirect string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("the server's address: %w", err)
	}
	app := GitHub()
	app.Name = "triage " + u.Hostname()
	app.Name = app.Name[:min(len(app.Name), maxName)]
	app.Hook.URL = strings.TrimSuffix(address, "/") + "/github/webhook"
	app.Redirect = redirect
	data, err := json.Marshal(app)
	return string(data), err
}

// Lacking are the permissions of the manifest that an App does not have, as "issues: write", and the events that it is not sent.
func (a GitHubApp) Lacking(permissions map[string]string, events []string) (lacking []string) {
	for name, want := range a.Permissions {
		if has := permissions[name]; has != want && has != "write" && has != "admin" {
			lacking = append(lacking, name+": "+want)
		}
	}
	for _, event := range a.Events {
		if !slices.Contains(events, event) {
			lacking = append(lacking, "event "+event)
		}
	}
	slices.Sort(lacking)
	return lacking
}
