package slackbot

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"
)

// origin is where an event is from. In a channel that workspaces share, the first authorization names the one that installed the app.
type origin struct {
	Team           string `json:"team_id"`
	Enterprise     string `json:"enterprise_id"`
	Authorizations []struct {
		Team       string `json:"team_id"`
		Enterprise string `json:"enterprise_id"`
	} `json:"authorizations"`
}

func (o origin) place() place {
	if len(o.Authorizations) > 0 {
		return place{cmp.Or(o.Authorizations[0].Team, o.Team), cmp.Or(o.Authorizations[0].Enterprise, o.Enterprise)}
	}
	return place{o.Team, o.Enterprise}
}

// event takes a delivery of the Events API.
func (b *Bot) event(ctx context.Context, data []byte, digest string) (any, error) {
	var e struct {
		Type      string `json:"type"`
		Challenge string `json:"challenge"`
		ID        string `json:"event_id"`
		Time      int64  `json:"event_time"` // seconds
		origin
		Event struct {
			message
			Type        string `json:"type"`
			Subtype     string `json:"subtype"`
			ChannelType string `json:"channel_type"`
			Channel     string `json:"channel"`
			User        string `json:"user"`
			Bot         string `json:"bot_id"`
			Tokens      struct {
				Bot []string `json:"bot"`
			} `json:"tokens"` // that were revoked
		} `json:"event"`
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, errMalformed
	}
	if e.Type == "url_verification" {
		return map[string]string{"challenge": e.Challenge}, nil
	}
	m := e.Event
	if e.Type == "event_callback" && (m.Type == "app_uninstalled" || m.Type == "tokens_revoked" && len(m.Tokens.Bot) > 0) {
		return nil, b.forget(ctx, e.place(), time.Unix(e.Time, 0))
	}
	direct := m.Type == "message" && m.ChannelType == "im" && (m.Subtype == "" || m.Subtype == "file_share")
	if e.Type != "event_callback" || m.Bot != "" || m.User == "" || m.Channel == "" || !direct && m.Type != "app_mention" {
		return nil, nil
	}
	t := task{place: e.place(), Do: doAnswer, Channel: m.Channel, User: m.User, Text: unescape(withoutMention(m.Text)), Files: idsOf(m.Files), Thread: m.TS}
	if m.Thread != "" {
		t.Thread = m.Thread
	}
	id := e.ID
	if id == "" {
		id = digest
	}
	return nil, b.ask(ctx, id, t)
}

// withoutMention drops the mention of ourselves that a message begins with.
func withoutMention(text string) string {
	if rest, ok := strings.CutPrefix(strings.TrimSpace(text), "<@"); ok {
		if _, after, ok := strings.Cut(rest, ">"); ok {
			return strings.TrimSpace(after)
		}
	}
	return text
}
