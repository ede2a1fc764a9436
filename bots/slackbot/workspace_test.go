package slackbot

import (
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack"
)

// A request belongs to the workspace that installed the app, also where two workspaces share the channel, or an organization installed it.
func TestPlaces(t *testing.T) {
	ofPayload := func(text string) place {
		var p payload
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatal(err)
		}
		return p.place()
	}
	ofEvent := func(text string) place {
		var o origin
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			t.Fatal(err)
		}
		return o.place()
	}
	c := commandOf(url.Values{"team_id": {"T1"}, "enterprise_id": {"E1"}})
	for about, pair := range map[string][2]place{
		"a command":                   {{c.Team, c.Enterprise}, {"T1", "E1"}},
		"a button":                    {ofPayload(`{"team":{"id":"T1","enterprise_id":"E1"},"user":{"team_id":"T9"}}`), {"T1", "E1"}},
		"a button of an organization": {ofPayload(`{"team":null,"enterprise":{"id":"E1"},"user":{"team_id":"T1"}}`), {"T1", "E1"}},
		"a form that somebody elsewhere hands in": {ofPayload(`{"team":{"id":"T9"},"view":{"app_installed_team_id":"T1"}}`), {"T1", ""}},
		"an event":                     {ofEvent(`{"team_id":"T1","enterprise_id":null}`), {"T1", ""}},
		"an event of a shared channel": {ofEvent(`{"team_id":"T9","authorizations":[{"team_id":"T1","enterprise_id":"E1"}]}`), {"T1", "E1"}},
		"an event where an organization installed it": {ofEvent(`{"team_id":"T1","enterprise_id":"E1","authorizations":[{"team_id":null,"enterprise_id":"E1"}]}`), {"T1", "E1"}},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s is of %v, want %v", about, pair[0], pair[1])
		}
	}
	if (place{"T1", ""}).in("x") == (place{"T2", ""}).in("x") {
		t.Error("two workspaces have the same key")
	}
}

// The token of an organization serves its workspaces that have none of their own, and goes when the organization takes it back.
func TestInstallations(t *testing.T) {
	b, _ := newBot(t, func(string, url.Values) map[string]any { return map[string]any{"ok": true, "team_id": "T0"} })
	vault, err := b.Store.Vault(t.Context(), []string{strings.Repeat("k", 32)}, false)
	if err != nil {
		t.Fatal(err)
	}
	b.Install = Install{ClientID: "1", ClientSecret: "x", Vault: vault}
	remember := func(token, team, enterprise string, whole bool) error {
		_, err := b.remember(t.Context(), &slack.OAuthV2Response{AccessToken: token, Team: slack.OAuthV2ResponseTeam{ID: team},
			Enterprise: slack.OAuthV2ResponseEnterprise{ID: enterprise}, IsEnterpriseInstall: whole})
		return err
	}
	acts := func(p place, want string) {
		t.Helper()
		at, err := b.at(t.Context(), p)
		if err != nil || at.BotToken != want {
			t.Errorf("in %v it acts with %q, want %q (%v)", p, at.BotToken, want, err)
		}
	}
	if err := errors.Join(remember("of E1", "", "E1", true), remember("of T1", "T1", "E1", false)); err != nil {
		t.Fatal(err)
	}
	acts(place{"T1", "E1"}, "of T1")
	acts(place{"T2", "E1"}, "of E1")
	acts(place{"", "E1"}, "of E1")
	acts(place{"T0", ""}, "xoxb-1") // its own workspace
	acts(place{"T3", "E3"}, "")
	if err := b.forget(t.Context(), place{"", "E1"}, time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	acts(place{"T2", "E1"}, "")
	acts(place{"T1", "E1"}, "of T1")
	b.Install.Teams = []string{"T4", "E5"}
	for team, want := range map[string]error{"T4": nil, "T5": nil, "T6": errNotAllowed} {
		enterprise := strings.Replace(team, "T", "E", 1)
		if err := remember("x", team, enterprise, false); !errors.Is(err, want) {
			t.Errorf("%s of %s: %v", team, enterprise, err)
		}
	}
}
