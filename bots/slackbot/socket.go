package slackbot

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"

	"github.com/gpu-triage/triage/bots/queue"
)

// Socket receives over a connection of our own making instead of HTTP, until the context ends. A delivery that could not be stored is
// not acknowledged, so that Slack sends it again.
func (b *Bot) Socket(ctx context.Context) {
	for ctx.Err() == nil {
		// The library logs whole payloads, so its log goes nowhere; ours says what matters.
		client := socketmode.New(b.api, socketmode.OptionLog(log.New(io.Discard, "", 0)))
		session, cancel := context.WithCancel(ctx)
		go func() {
			defer cancel()
			for {
				select {
				case <-session.Done():
					return
				case e := <-client.Events:
					b.envelope(session, client, e)
				}
			}
		}()
		err := client.RunContext(session)
		cancel()
		if ctx.Err() == nil {
			b.Log.Warn("the connection to Slack ended, will connect again", "error", err)
			select {
			case <-ctx.Done():
			case <-time.After(5 * time.Second):
			}
		}
	}
}

func (b *Bot) envelope(ctx context.Context, client *socketmode.Client, e socketmode.Event) {
	switch e.Type {
	case socketmode.EventTypeConnected:
		b.Log.Info("connected to Slack")
	case socketmode.EventTypeConnectionError:
		if failed, ok := e.Data.(*slack.ConnectionErrorEvent); ok {
			b.Log.Warn("cannot connect to Slack, will try again", "error", failed.ErrorObj, "seconds", failed.Backoff.Seconds())
		}
	}
	if e.Request == nil || e.Request.EnvelopeID == "" {
		return
	}
	store, cancel := context.WithTimeout(ctx, ackTime)
	defer cancel()
	answer, err := b.enveloped(store, e.Request)
	if err != nil && !errors.Is(err, errMalformed) {
		b.Log.Error("a request from Slack could not be stored", "delivery", e.Request.EnvelopeID, "error", err)
		return
	}
	queue.CrashPoint("stored")
	if err := client.AckCtx(ctx, e.Request.EnvelopeID, answer); err != nil {
		b.Log.Warn("a request from Slack was not acknowledged", "delivery", e.Request.EnvelopeID, "error", err)
	}
}

func (b *Bot) enveloped(ctx context.Context, r *socketmode.Request) (any, error) {
	switch r.Type {
	case socketmode.RequestTypeSlashCommands:
		var c slash
		if err := json.Unmarshal(r.Payload, &c); err != nil {
			return nil, errMalformed
		}
		return b.command(ctx, c, r.EnvelopeID)
	case socketmode.RequestTypeInteractive:
		return b.interaction(ctx, r.Payload, r.EnvelopeID)
	case socketmode.RequestTypeEventsAPI:
		return b.event(ctx, r.Payload, r.EnvelopeID)
	}
	return nil, nil
}
