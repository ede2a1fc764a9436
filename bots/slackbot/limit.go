package slackbot

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/slack-go/slack"
)

// over says in words that somebody asked too often, and "" while they may ask, which is then counted.
func (b *Bot) over(t task) string {
	wait := b.Limits.Wait(t.in(t.User))
	if wait == 0 {
		return ""
	}
	b.Metrics.Dropped(Kind, "limit")
	return fmt.Sprintf("You may have %d logs read in an hour, and have had them. Ask again in %d min.", b.Limits.Count(), int(math.Ceil(wait.Minutes())))
}

// ask stores the question for an answer, unless whoever asks did so too often. Then they alone are told, once a minute.
func (b *Bot) ask(ctx context.Context, id string, t task) error {
	words := b.over(t)
	if words == "" {
		return b.add(ctx, id, t)
	}
	told := task{place: t.place, Do: doTell, Channel: t.Channel, User: t.User, ResponseURL: t.ResponseURL, Issued: t.Issued, Text: words}
	return b.add(ctx, fmt.Sprintf("limit:%s:%d", t.User, time.Now().Unix()/60), told)
}

// overReply acknowledges a command of somebody who asked too often.
func overReply(words string) reply { return reply{Type: slack.ResponseTypeEphemeral, Text: words} }
