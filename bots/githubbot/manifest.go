package githubbot

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"
)

// Made is what GitHub hands out for an App that was just made.
type Made struct {
	ID     int64  `json:"id"`
	Name   string `json:"name"`
	Page   string `json:"page"`   // on GitHub, of the App
	Secret string `json:"secret"` // of its webhook
	Key    string `json:"key"`    // private, PEM
}

// MakeApp turns the code that GitHub leads back with into the App. A code is good for one hour and once.
// https://docs.github.com/en/rest/apps/apps#create-a-github-app-from-a-manifest
func MakeApp(ctx context.Context, apiURL, code string) (Made, error) {
	api, err := apiAddress(apiURL)
	if err != nil {
		return Made{}, err
	}
	c := github.NewClient(&http.Client{Timeout: 20 * time.Second})
	c.BaseURL, c.UserAgent = api, "triage"
	app, _, err := c.Apps.CompleteAppManifest(ctx, url.PathEscape(code))
	if isStatus(err, http.StatusNotFound, http.StatusUnprocessableEntity) {
		return Made{}, errors.New("GitHub does not know this code: it is good for one hour, and once")
	}
	if err != nil {
		return Made{}, errors.New("GitHub did not hand the App out") // its error names the code
	}
	made := Made{ID: app.GetID(), Name: app.GetName(), Page: app.GetHTMLURL(), Secret: app.GetWebhookSecret(), Key: app.GetPEM()}
	if made.ID == 0 || made.Secret == "" {
		return Made{}, errors.New("GitHub's answer has no App in it, or one without a webhook secret")
	}
	if _, err := NewApp(made.ID, []byte(made.Key)); err != nil {
		return Made{}, fmt.Errorf("the key that GitHub made: %w", err)
	}
	return made, nil
}

func apiAddress(address string) (*url.URL, error) {
	if address == "" {
		address = "https://api.github.com/"
	}
	api, err := url.Parse(strings.TrimSuffix(address, "/") + "/")
	if err != nil || api.Host == "" {
		return nil, fmt.Errorf("GITHUB_API_URL %q is no address", address)
	}
	return api, nil
}

// WebAddress is where people see the GitHub that an API belongs to.
func WebAddress(apiURL string) string {
	api, err := apiAddress(apiURL)
	if err != nil || api.Host == "api.github.com" {
		return "https://github.com"
	}
	return (&url.URL{Scheme: api.Scheme, Host: strings.TrimPrefix(api.Host, "api.")}).String()
}
