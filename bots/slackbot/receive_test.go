package slackbot

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/url"
	"testing"

	"github.com/gpu-triage/triage/bots"
	"github.com/gpu-triage/triage/bots/queue"
	"github.com/gpu-triage/triage/rules"
)

// FuzzRequests feeds what Slack never sends: nothing but errMalformed may come of it, and no address for answers but Slack's is taken.
func FuzzRequests(f *testing.F) {
	f.Add("text=x&user_id=U1&response_url=https%3A%2F%2Fhooks.slack.com%2Fx", `{"type":"block_actions","user":{"id":"U1"},"actions":[{"action_id":"triage_share","value":"0"}]}`)
	f.Add("user_id=U1", `{"type":"view_submission","user":{"id":"U1"},"view":{"private_metadata":"{\"callback\":\"triage_modal\"}","state":{"values":{"log":{"text":{"value":"x"}}}}}}`)
	f.Add("response_url=http://169.254.169.254/", `{"type":"event_callback","event_id":"1","event":{"type":"app_mention","channel":"C","user":"U","text":"<@B> x"}}`)
	f.Add("%zz", `{"type":"url_verification","challenge":"x"}`)
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	store, err := queue.Open(context.Background(), queue.Options{Dir: f.TempDir(), Log: log})
	if err != nil {
		f.Fatal(err)
	}
	defer store.Close()
	metrics := bots.NewMetrics()
	engine, err := bots.NewEngine(rules.Shipped())
	if err != nil {
		f.Fatal(err)
	}
	b, err := New(Config{SigningSecret: "x", Store: store, Metrics: metrics, Engine: engine, Log: log, Queue: queue.New(store, metrics.Registry(), log, 1)})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, form, payload string) {
		check := func(err error) {
			if err != nil && !errors.Is(err, errMalformed) {
				t.Error(err)
			}
		}
		if values, err := url.ParseQuery(form); err == nil {
			c := commandOf(values)
			_, err := b.command(t.Context(), c, digest([]byte(form)))
			check(err)
			if err == nil && c.ResponseURL != "" && !b.trusted(c.ResponseURL) {
				t.Errorf("answers would go to %s", c.ResponseURL)
			}
		}
		_, err := b.interaction(t.Context(), []byte(payload), digest([]byte(payload)))
		check(err)
		_, err = b.event(t.Context(), []byte(payload), digest([]byte(payload)))
		check(err)
	})
}

func TestTrusted(t *testing.T) {
	b, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]bool{
		"https://hooks.slack.com/commands/T/1/x": true, "https://hooks.slack-gov.com/x": true, "http://hooks.slack.com/x": false,
		"https://hooks.slack.com.evil.example/": false, "https://hooks.slack.com:8443/": false, "https://a@hooks.slack.com/": false,
		"https://169.254.169.254/": false, "": false,
	} {
		if got := b.trusted(address); got != want {
			t.Errorf("trusted(%q) = %v", address, got)
		}
	}
}
