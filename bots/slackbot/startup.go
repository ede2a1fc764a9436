package slackbot

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/slack-go/slack"

	"github.com/gpu-triage/triage/bots"
	"github.com/gpu-triage/triage/bots/manifests"
)

// refusedTokens are Slack's words for a token that no second try makes good, and what to do.
var refusedTokens = map[string]string{
	"invalid_auth":           "Slack does not know this token: copy it again from the app's settings, OAuth & Permissions, Bot User OAuth Token",
	"not_authed":             "Slack does not see a token in it: copy it again from the app's settings, OAuth & Permissions, Bot User OAuth Token",
	"account_inactive":       "the app was removed from the workspace, or the workspace is closed: install the app again",
	"token_revoked":          "the token was revoked: install the app again and copy its new token",
	"token_expired":          "the token has expired: switch token rotation off in the app's settings, and install the app again",
	"not_allowed_token_type": "this is no bot token: take the one that begins with xoxb-",
}

// Check asks Slack once whether it takes our tokens, and says in words what is wrong with them and what to do.
func (b *Bot) Check(ctx context.Context) (c bots.Checked) {
	if b.AppToken != "" {
		_, _, err := b.api.StartSocketModeContext(ctx) // an address to connect to, which is left alone
		var said slack.SlackErrorResponse
		if errors.As(err, &said) && (refusedTokens[said.Err] != "" || said.Err == "missing_scope") {
			c.Wrong = errors.New("SLACK_APP_TOKEN: Slack refuses it (" + said.Err + "): make another in the app's settings, Basic Information, App-Level Tokens, with connections:write")
		}
	}
	if b.BotToken != "" && c.Wrong == nil {
		b.checkBot(ctx, &c)
	}
	return c
}

func (b *Bot) checkBot(ctx context.Context, c *bots.Checked) {
	me, err := b.api.AuthTestContext(ctx)
	var said slack.SlackErrorResponse
	switch refused := errors.As(err, &said); {
	case refused && refusedTokens[said.Err] != "":
		c.Wrong = errors.New("SLACK_BOT_TOKEN: " + refusedTokens[said.Err])
		return
	case err != nil:
		c.Warnings = append(c.Warnings, "Slack cannot be asked just now, so SLACK_BOT_TOKEN was not checked")
		return
	}
	b.identity.mu.Lock()
	b.identity.team = me.TeamID
	b.identity.mu.Unlock()
	c.Clock("Slack", &http.Response{Header: me.Header})
	if lacking := lackingScopes(me.Header); len(lacking) > 0 {
		c.Warnings = append(c.Warnings, "SLACK_BOT_TOKEN lacks the scopes "+strings.Join(lacking, ", ")+
			": add them in the app's settings, OAuth & Permissions, Bot Token Scopes, then Reinstall to Workspace")
	}
}

// lackingScopes are those of the manifest that a token does not have, by Slack's answer to it.
func lackingScopes(header http.Header) (lacking []string) {
	given := header.Values("X-Oauth-Scopes")
	if len(given) == 0 {
		return nil // a stand-in for Slack does not tell
	}
	has := strings.FieldsFunc(strings.Join(given, ","), func(r rune) bool { return r == ',' || r == ' ' })
	for _, want := range manifests.SlackScopes() {
		if !slices.Contains(has, want) {
			lacking = append(lacking, want)
		}
	}
	return lacking
}
