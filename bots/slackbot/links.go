package slackbot

import (
	"context"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/slack-go/slack"

	"github.com/gpu-triage/triage/bots"
	"github.com/gpu-triage/triage/bots/fetch"
	"github.com/gpu-triage/triage/bots/queue"
)

var (
	wrapped     = regexp.MustCompile(`<(https?://[^|>\s]+)(?:\|[^>]*)?>`)
	address     = regexp.MustCompile(`https?://[^\s<>"'|` + "`" + `]+`)
	fileLink    = regexp.MustCompile(`^https://[\w.-]+\.slack(?:-gov)?\.com/files/[A-Z0-9]+/(F[A-Z0-9]+)(?:/|$)`)
	messageLink = regexp.MustCompile(`^https://[\w.-]+\.slack(?:-gov)?\.com/archives/([A-Z0-9]+)/p(\d{10})(\d{6})(?:\?(?:[^#]*&)?thread_ts=([\d.]+))?`)
)

// linksIn returns the web addresses of a text, at most five.
func linksIn(text string) (found []string) {
	for _, a := range address.FindAllString(unescape(text), 50) {
		a = strings.TrimRight(a, ".,;:!?)*_")
		if !slices.Contains(found, a) && len(found) < 5 {
			found = append(found, a)
		}
	}
	return found
}

// linked reads the logs behind an address.
func (b *Bot) linked(ctx context.Context, t task, address, dir string) ([]fetch.Log, error) {
	if m := fileLink.FindStringSubmatch(address); m != nil {
		return b.file(ctx, t, m[1], dir, false)
	}
	if m := messageLink.FindStringSubmatch(address); m != nil {
		return b.message(ctx, t, m[1], m[2]+"."+m[3], m[4], dir)
	}
	if b.Links != nil {
		if logs, ok, err := b.Links(ctx, address, dir); ok {
			return logs, err
		}
	}
	log, err := b.Fetch.Get(ctx, address, "", dir)
	if err != nil {
		return nil, err
	}
	return []fetch.Log{log}, nil
}

var errNotShared = bots.Reason{Words: "it is not shared with you where I can see it. Use `/triage` in the channel that it is in"}

// What Slack's errors mean for whoever gave a file or a link.
var (
	noLonger = []string{"file_not_found", "file_deleted", "files_not_found", "message_not_found", "thread_not_found"}
	noMember = []string{"channel_not_found", "not_in_channel", "access_denied", "team_access_not_granted", "no_permission"}
	noRight  = []string{"missing_scope", "not_allowed_token_type", "invalid_auth", "not_authed", "token_revoked", "token_expired", "account_inactive"}
)

// unseen says in words what an error of Slack's means. Scope is the permission that the call needs.
func unseen(what, scope string, err error) error {
	cause := judge(err)
	var said slack.SlackErrorResponse
	switch refused := errors.As(err, &said); {
	case queue.Waits(cause):
		return cause
	case refused && slices.Contains(noLonger, said.Err):
		return bots.Reason{Words: "Slack has no such " + what + " any more, or shows it to others only. Paste or attach the log where you ask", Cause: err}
	case refused && slices.Contains(noMember, said.Err):
		return bots.Reason{Words: "I cannot see that channel. Invite me there with `/invite`, or paste the log", Cause: err}
	case refused && slices.Contains(noRight, said.Err):
		return bots.Reason{Words: "I lack the permission `" + scope + "` in this workspace, which whoever installed me can give. Paste the log", Cause: err}
	}
	return bots.Reason{Words: "Slack has trouble just now. Try again in a few minutes, or paste the log", Cause: err}
}

// file downloads a file of Slack's. Given says that whoever asks handed it to us; otherwise it must be one that they can see.
func (b *Bot) file(ctx context.Context, t task, id, dir string, given bool) ([]fetch.Log, error) {
	if b.BotToken == "" {
		return nil, bots.Reason{Words: "I cannot read files in this workspace, because this server has no bot token. Paste the log"}
	}
	info, _, _, err := b.api.GetFileInfoContext(ctx, id, 0, 0)
	if err != nil {
		return nil, unseen("file", "files:read", err)
	}
	places := slices.Concat(info.Channels, info.Groups, info.IMs)
	if !given && !info.IsPublic && info.User != t.User && !slices.Contains(places, t.Channel) {
		return nil, errNotShared
	}
	address := info.URLPrivateDownload
	if address == "" {
		address = info.URLPrivate
	}
	log, err := b.Fetch.Get(ctx, address, b.tokenFor(address), dir)
	if err != nil {
		return nil, bots.Reason{Name: info.Name, Words: bots.Why(err), Cause: err}
	}
	if info.Name != "" {
		log.Name = info.Name
	}
	return []fetch.Log{log}, nil
}

// tokenFor is the token for a file, and nothing for one that Slack only points to elsewhere.
func (b *Bot) tokenFor(address string) string {
	u, err := url.Parse(address)
	if err != nil || !slices.Contains(append(Hosts(), b.apiHost), strings.ToLower(u.Hostname())) {
		return ""
	}
	return b.BotToken
}

// message reads a message and its files, of this channel or a public one.
func (b *Bot) message(ctx context.Context, t task, channel, ts, thread, dir string) ([]fetch.Log, error) {
	if b.BotToken == "" {
		return nil, bots.Reason{Words: "I cannot read messages in this workspace, because this server has no bot token. Paste the log"}
	}
	if channel != t.Channel {
		info, err := b.api.GetConversationInfoContext(ctx, &slack.GetConversationInfoInput{ChannelID: channel})
		if err != nil {
			return nil, unseen("channel", "channels:read", err)
		}
		if info.IsPrivate || info.IsIM || info.IsMpIM {
			return nil, errNotShared
		}
	}
	var found []slack.Message
	var err error
	if thread != "" && thread != ts {
		found, _, _, err = b.api.GetConversationRepliesContext(ctx, &slack.GetConversationRepliesParameters{
			ChannelID: channel, Timestamp: thread, Latest: ts, Oldest: ts, Inclusive: true, Limit: 10})
	} else {
		var page *slack.GetConversationHistoryResponse
		page, err = b.api.GetConversationHistoryContext(ctx, &slack.GetConversationHistoryParameters{
			ChannelID: channel, Latest: ts, Oldest: ts, Inclusive: true, Limit: 1})
		if err == nil {
			found = page.Messages
		}
	}
	if err != nil {
		return nil, unseen("message", "channels:history", err)
	}
	for _, m := range found {
		if m.Timestamp != ts {
			continue
		}
		logs := []fetch.Log{{Name: "message", Text: []byte(unfenced(unescape(m.Text)))}}
		for _, f := range m.Files {
			more, failed := b.file(ctx, t, f.ID, dir, true)
			err = errors.Join(err, failed)
			logs = append(logs, more...)
		}
		return logs, err
	}
	return nil, bots.Reason{Words: "Slack shows me no such message. Invite me to that channel with `/invite`, or paste the log"}
}
