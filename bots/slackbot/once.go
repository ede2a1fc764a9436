package slackbot

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/gpu-triage/triage/bots/queue"
)

// What became of a post is not always known: the process may be killed, or the connection break, while Slack has it. A message of
// chat.postMessage can then be looked for. What goes to response_url or to one member of a channel cannot: there the note that it was
// about to be sent decides, and it counts as sent.

// How far a look for a message of ours goes.
const (
	lookPage  = 200             // messages at once
	lookPages = 20              // at most
	clockSkew = 2 * time.Minute // that our clock may be ahead of Slack's
)

// refused forgets the try to post when Slack itself said no to it, so that nobody looks for the message. It returns the error.
func (b *Bot) refused(ctx context.Context, id string, err error) error {
	var (
		limited *slack.RateLimitedError
		said    slack.SlackErrorResponse
	)
	if !errors.As(err, &limited) && !errors.As(err, &said) && !errors.Is(err, errNoWay) && !errors.Is(err, errBlocks) {
		return err
	}
	return errors.Join(err, b.Store.Save(ctx, progressKey(id), progress{}))
}

// noAnswer says that response_url did not answer. Its address is a secret, so no more is said.
type noAnswer struct{ late bool } // it took the whole message

func (noAnswer) Error() string   { return "response_url does not answer" }
func (e noAnswer) Timeout() bool { return e.late }

// sendBlind makes a post that nobody can look for later. What it leaves in doubt, as a kill does or a Slack that takes the message and does
// not answer, counts as sent.
func (b *Bot) sendBlind(ctx context.Context, id string, before progress, post func() error) error {
	if err := b.Store.Save(ctx, progressKey(id), progress{Stage: stageSent}); err != nil {
		return err
	}
	queue.CrashPoint("sending")
	err := post()
	var slow interface{ Timeout() bool }
	switch {
	case err == nil, ctx.Err() != nil:
		return err
	case errors.As(err, &slow) && slow.Timeout():
		b.Log.Warn("Slack took a message and did not answer: it counts as sent", "delivery", id)
		return nil
	}
	return errors.Join(err, b.Store.Save(ctx, progressKey(id), before))
}

// look waits until Slack is through with an earlier try, and then looks whether it posted the message.
func (b *Bot) look(ctx context.Context, id, channel, thread string, before progress) (progress, bool, error) {
	if early := time.Until(before.Tried.Add(b.Store.Patience())); early > 0 {
		return progress{}, false, queue.Later(errors.New("an earlier try may still be on its way"), early)
	}
	p, found, err := b.find(ctx, id, channel, thread, before.Since)
	if err == nil {
		return p, found, nil
	}
	err = judge(err)
	// A person's direct messages have another id than the person, which only a further permission would tell.
	if errors.Is(err, errNoWay) && (strings.Contains(err.Error(), "missing_scope") || strings.HasPrefix(channel, "U") || strings.HasPrefix(channel, "W")) {
		b.Log.Warn("a message that may have been posted cannot be looked for: it counts as posted", "delivery", id, "channel", channel, "reason", err)
		return progress{}, true, nil
	}
	return progress{}, false, fmt.Errorf("look for an earlier answer: %w", err)
}

// find looks through what was posted since then, for a message of ours.
func (b *Bot) find(ctx context.Context, id, channel, thread string, since time.Time) (progress, bool, error) {
	oldest, cursor := "", ""
	if !since.IsZero() {
		oldest = strconv.FormatInt(since.Add(-clockSkew).Unix(), 10) + ".000000"
	}
	for range lookPages {
		var (
			messages []slack.Message
			err      error
		)
		if thread != "" {
			messages, _, cursor, err = b.api.GetConversationRepliesContext(ctx, &slack.GetConversationRepliesParameters{
				ChannelID: channel, Timestamp: thread, Oldest: oldest, Cursor: cursor, Limit: lookPage, IncludeAllMetadata: true})
		} else {
			messages, cursor, err = b.recent(ctx, channel, oldest, cursor)
		}
		if err != nil {
			return progress{}, false, err
		}
		for _, m := range messages {
			if m.Metadata.EventType == eventType && m.Metadata.EventPayload["id"] == id {
				return progress{Channel: channel, TS: m.Timestamp}, true, nil
			}
		}
		if cursor == "" {
			break
		}
	}
	return progress{}, false, nil
}

// recent is a page of a channel's messages, newest first.
func (b *Bot) recent(ctx context.Context, channel, oldest, cursor string) (messages []slack.Message, next string, err error) {
	page, err := b.api.GetConversationHistoryContext(ctx, &slack.GetConversationHistoryParameters{
		ChannelID: channel, Oldest: oldest, Cursor: cursor, Limit: lookPage, IncludeAllMetadata: true})
	if err != nil {
		return nil, "", err
	}
	return page.Messages, page.ResponseMetaData.NextCursor, nil
}
