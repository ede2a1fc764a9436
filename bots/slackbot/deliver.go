package slackbot

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/slack-go/slack"

	"github.com/gpu-triage/triage/bots/queue"
)

// progress is how far the delivery of a letter has come.
type progress struct {
	Stage   string `json:"stage"`
	Channel string `json:"channel,omitempty"` // where the message is, or is being posted
	TS      string `json:"ts,omitempty"`

	Since time.Time `json:"since,omitzero"` // of the first try to post
	Tried time.Time `json:"tried,omitzero"` // of the last
}

// A letter is posted between "posting" and "posted": whoever finds "posting" looks whether the message is there before posting again.
// Whoever finds "sent" cannot look, and does not post again.
const (
	stagePosting = "posting"
	stageSent    = "sent"
	stagePosted  = "posted"
	stageDone    = "done"
)

func progressKey(id string) string { return "slack:" + id }

// deliver brings a letter to its reader, once, and tells whether it did so now. Ways are tried in turn: the thread or the channel when the
// letter is for all to see, response_url, a direct message, and last a message in the channel that only the reader sees.
func (b *Bot) deliver(ctx context.Context, id string, t task, l letter) (fresh bool, err error) {
	var p progress
	if _, err := b.Store.Load(ctx, progressKey(id), &p); err != nil {
		return false, err
	}
	if p.Stage == stageSent {
		b.Log.Warn("cut off while an answer was sent that nobody can look for: it counts as sent", "delivery", id)
		p.Stage = stagePosted
	}
	if p.Stage == "" || p.Stage == stagePosting {
		queue.CrashPoint("before-post")
		p, err = b.post(ctx, id, t, l, p)
		if err != nil {
			return false, err
		}
		queue.CrashPoint("after-post")
		p.Stage = stagePosted
		if err := b.Store.Save(ctx, progressKey(id), p); err != nil {
			return false, err
		}
		fresh = true
	}
	queue.CrashPoint("recorded")
	if p.Stage == stagePosted {
		snippet := p
		p.Stage = stageDone
		if err := b.Store.Save(ctx, progressKey(id), p); err != nil {
			return fresh, err
		}
		b.snippet(ctx, snippet, l)
	}
	return fresh, nil
}

// errNoWay says that this way does not lead to the reader, so that the next is tried.
var errNoWay = errors.New("no way to the reader")

func (b *Bot) post(ctx context.Context, id string, t task, l letter, before progress) (progress, error) {
	type way func(letter) (progress, error)
	channel := func(to, thread string) way {
		return func(l letter) (progress, error) { return b.postMessage(ctx, id, to, thread, l, before) }
	}
	var ways []way
	open := t.Thread != "" || l.public // for the channel to see
	if open && t.Channel != "" {
		ways = append(ways, channel(t.Channel, t.Thread))
	}
	if t.ResponseURL != "" {
		ways = append(ways, func(l letter) (progress, error) {
			return progress{}, b.sendBlind(ctx, id, before, func() error { return b.respond(ctx, t, l) })
		})
	}
	if t.User != "" {
		ways = append(ways, channel(t.User, ""))
	}
	if !open && t.Channel != "" && t.User != "" {
		ways = append(ways, func(l letter) (progress, error) {
			return progress{}, b.sendBlind(ctx, id, before, func() error { return b.postEphemeral(ctx, t.Channel, t.User, l) })
		})
	}
	for _, try := range ways {
		p, err := try(l)
		if errors.Is(err, errBlocks) {
			b.Log.Error("Slack refused the blocks of a message, sending its text only", "delivery", id, "error", err)
			l.blocks = blocks{}
			p, err = try(l)
		}
		if !errors.Is(err, errNoWay) {
			return p, err
		}
		b.Log.Info("a way to the reader is closed", "delivery", id, "reason", err)
	}
	b.Metrics.Dropped(Kind, "no way to the reader")
	b.Log.Warn("an answer could not be delivered in any way", "delivery", id, "channel", t.Channel)
	return progress{}, nil
}

// errBlocks says that Slack does not take a message's blocks.
var errBlocks = errors.New("blocks refused")

func blocksRefused(said string) bool {
	return strings.Contains(said, "invalid_blocks") || strings.Contains(said, "msg_blocks_too_long")
}

// response_url takes five posts in half an hour.
const (
	maxResponses = 5
	responseTime = 29 * time.Minute
)

type uses struct {
	Count int `json:"count"`
}

// respond posts to response_url.
func (b *Bot) respond(ctx context.Context, t task, l letter) error {
	key := "url:" + t.in(t.ResponseURL)
	var used uses
	if _, err := b.Store.Load(ctx, key, &used); err != nil {
		return err
	}
	if used.Count >= maxResponses || time.Since(t.Issued) > responseTime {
		return fmt.Errorf("response_url is used up: %w", errNoWay)
	}
	used.Count++
	if err := b.Store.Save(ctx, key, used); err != nil {
		return err
	}
	kind := slack.ResponseTypeEphemeral
	if l.public {
		kind = slack.ResponseTypeInChannel
	}
	content := map[string]any{"response_type": kind, "replace_original": false, "text": l.text}
	if list := l.blocks.list(); len(list) > 0 {
		content["blocks"] = list
	}
	body, err := json.Marshal(content)
	if err != nil {
		return err
	}
	var sent atomic.Bool
	trace := &httptrace.ClientTrace{WroteRequest: func(i httptrace.WroteRequestInfo) { sent.Store(i.Err == nil) }}
	request, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, trace), http.MethodPost, t.ResponseURL, bytes.NewReader(body))
	if err != nil {
		return queue.Permanent(err)
	}
	request.Header.Set("Content-Type", "application/json; charset=utf-8")
	response, err := b.http.Do(request)
	if err != nil {
		return noAnswer{late: sent.Load() && os.IsTimeout(err)}
	}
	defer response.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(response.Body, 4096))
	return refusal(response, said, len(l.blocks.list()) > 0)
}

// eventType marks our messages, so that they can be found again.
const eventType = "triage_answer"

// postMessage posts to a channel, a thread or a person. One that was perhaps made before is looked for first.
func (b *Bot) postMessage(ctx context.Context, id, channel, thread string, l letter, before progress) (progress, error) {
	if b.BotToken == "" {
		return progress{}, fmt.Errorf("SLACK_BOT_TOKEN is missing: %w", errNoWay)
	}
	if before.Channel != channel {
		before = progress{} // it was tried elsewhere
	}
	if before.Stage == stagePosting {
		if p, found, err := b.look(ctx, id, channel, thread, before); found || err != nil {
			return p, err
		}
	}
	now := time.Now().UTC()
	if err := b.Store.Save(ctx, progressKey(id), progress{Stage: stagePosting, Channel: channel, Since: cmp.Or(before.Since, now), Tried: now}); err != nil {
		return progress{}, err
	}
	queue.CrashPoint("posting")
	options := []slack.MsgOption{
		slack.MsgOptionText(l.text, false), slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl(),
		slack.MsgOptionMetadata(slack.SlackMetadata{EventType: eventType, EventPayload: map[string]any{"id": id}}),
	}
	if list := l.blocks.list(); len(list) > 0 {
		options = append(options, slack.MsgOptionBlocks(list...))
	}
	if thread != "" {
		options = append(options, slack.MsgOptionTS(thread))
	}
	at, ts, err := b.api.PostMessageContext(ctx, channel, options...)
	if err != nil && blocksRefused(err.Error()) && len(l.blocks.list()) > 0 {
		return progress{}, b.refused(ctx, id, errBlocks)
	}
	if err != nil {
		return progress{}, b.refused(ctx, id, judge(err))
	}
	return progress{Channel: at, TS: ts}, nil
}

// postEphemeral posts to a channel for one of its members to see.
func (b *Bot) postEphemeral(ctx context.Context, channel, user string, l letter) error {
	if b.BotToken == "" {
		return fmt.Errorf("SLACK_BOT_TOKEN is missing: %w", errNoWay)
	}
	options := []slack.MsgOption{slack.MsgOptionText(l.text, false)}
	if list := l.blocks.list(); len(list) > 0 {
		options = append(options, slack.MsgOptionBlocks(list...))
	}
	_, err := b.api.PostEphemeralContext(ctx, channel, user, options...)
	if err != nil && blocksRefused(err.Error()) && len(l.blocks.list()) > 0 {
		return errBlocks
	}
	if err != nil {
		return judge(err)
	}
	return nil
}

// snippet puts the long report into the thread below the message; without it the message still says the most.
func (b *Bot) snippet(ctx context.Context, at progress, l letter) {
	if l.long == "" || at.Channel == "" || at.TS == "" {
		return
	}
	_, err := b.api.UploadFileContext(ctx, slack.UploadFileParameters{
		Content: l.long, FileSize: len(l.long), Filename: "triage.md", Title: "The whole report", SnippetType: "markdown",
		Channel: at.Channel, ThreadTimestamp: at.TS,
	})
	if err != nil {
		b.Log.Info("the long report was not added to the thread", "error", err)
	}
}

// closedWays are Slack's errors that say that a message cannot go this way.
var closedWays = []string{"not_in_channel", "channel_not_found", "is_archived", "cannot_dm_bot", "user_not_found",
	"missing_scope", "messages_tab_disabled", "user_not_in_channel", "not_allowed_token_type", "thread_not_found", "user_disabled",
	"no_permission", "ekm_access_denied", "team_access_not_granted", "channel_type_not_supported", "cannot_reply_to_message"}

// judge tells the queue what an error of Slack's means.
func judge(err error) error {
	var (
		limited *slack.RateLimitedError
		said    slack.SlackErrorResponse
	)
	switch {
	case errors.As(err, &limited):
		return queue.Later(err, limited.RetryAfter)
	case errors.As(err, &said) && (said.Err == "ratelimited" || said.Err == "rate_limited"):
		return queue.Later(err, 30*time.Second)
	case errors.As(err, &said) && (slices.Contains(closedWays, said.Err) || strings.HasPrefix(said.Err, "restricted_action")):
		return fmt.Errorf("%s: %w", said.Err, errNoWay)
	case errors.As(err, &said) && (strings.HasPrefix(said.Err, "invalid_") || strings.HasPrefix(said.Err, "token_") || said.Err == "account_inactive" || slices.Contains(mistakes, said.Err)):
		return queue.Permanent(err)
	}
	return err
}
