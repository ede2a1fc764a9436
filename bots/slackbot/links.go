package slackbot

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/slack-go/slack"

	"github.com/gpu-triage/triage/bots/fetch"
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

var errNotShared = errors.New("not shared with you where I can see it: use it in the channel it is in")

// file downloads a file of Slack's. Given says that whoever asks handed it to us; otherwise it must be one that they can see.
func (b *Bot) file(ctx context.Context, t task, id, dir string, given bool) ([]fetch.Log, error) {
	if b.BotToken == "" {
		return nil, errors.New("Slack files need SLACK_BOT_TOKEN with files:read")
	}
	info, _, _, err := b.api.GetFileInfoContext(ctx, id, 0, 0)
	if err != nil {
		return nil, judge(fmt.Errorf("Slack file %s: %w", id, err))
	}
	places := slices.Concat(info.Channels, info.Groups, info.IMs)
	if !given && !info.IsPublic && info.User != t.User && !slices.Contains(places, t.Channel) {
		return nil, fmt.Errorf("the file %s is %w", id, errNotShared)
	}
	address := info.URLPrivateDownload
	if address == "" {
		address = info.URLPrivate
	}
	log, err := b.Fetch.Get(ctx, address, b.tokenFor(address), dir)
	if err != nil {
		return nil, err
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
		return nil, errors.New("Slack messages need SLACK_BOT_TOKEN with channels:history")
	}
	if channel != t.Channel {
		info, err := b.api.GetConversationInfoContext(ctx, &slack.GetConversationInfoInput{ChannelID: channel})
		if err != nil {
			return nil, judge(fmt.Errorf("Slack channel: %w", err))
		}
		if info.IsPrivate || info.IsIM || info.IsMpIM {
			return nil, fmt.Errorf("the message is %w", errNotShared)
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
		return nil, judge(fmt.Errorf("Slack message: %w", err))
	}
	for _, m := range found {
		if m.Timestamp != ts {
			continue
		}
		logs := []fetch.Log{{Name: "message", Text: []byte(unfenced(unescape(m.Text)))}}
		for _, f := range m.Files {
			more, err := b.file(ctx, t, f.ID, dir, true)
			if err != nil {
				return logs, err
			}
			logs = append(logs, more...)
		}
		return logs, nil
	}
	return nil, errors.New("Slack shows me no such message: invite me to that channel")
}
