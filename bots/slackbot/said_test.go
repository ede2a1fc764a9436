package slackbot

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// What the address for an answer says counts, whatever the status: taken, closed, worth another try, or never.
func TestWhatSlackSays(t *testing.T) {
	const taken, closedWay, again, wait, never, withoutBlocks = "taken", "closed", "again", "wait", "never", "without blocks"
	for _, c := range []struct {
		code int
		body string
		want string
	}{
		{200, "ok", taken}, {200, "", taken}, {200, `{"ok":true}`, taken}, {200, `{"status":"fine"}`, taken},
		{200, "expired_url", closedWay}, {404, "expired_url", closedWay}, {200, "used_url", closedWay}, {404, "used_url\n", closedWay}, {500, "used_url", closedWay},
		{200, `{"ok":false,"error":"expired_url"}`, closedWay}, {404, `{"ok":false,"error":"used_url"}`, closedWay},
		{200, "no_service", closedWay}, {404, "no_service", closedWay}, {404, "<html>", closedWay}, {403, "action_prohibited", closedWay},
		{410, "channel_is_archived", closedWay}, {200, `{"ok":false}`, closedWay}, {200, `{"ok":false,"error":"of_tomorrow"}`, closedWay},
		{500, "rollup_error", again}, {200, `{"ok":false,"error":"internal_error"}`, again}, {503, "", again}, {302, "", again}, {200, "<!DOCTYPE html>", again},
		{429, "", wait}, {200, `{"ok":false,"error":"ratelimited"}`, wait}, {200, "rate_limited", wait},
		{400, "invalid_payload", never}, {200, "no_text", never}, {400, "what?", never},
		{400, "invalid_blocks", withoutBlocks}, {200, `{"ok":false,"error":"invalid_blocks_format"}`, withoutBlocks}, {400, `{"ok":false,"error":"msg_blocks_too_long"}`, withoutBlocks},
	} {
		t.Run(strconv.Itoa(c.code)+" "+c.body, func(t *testing.T) {
			err := refusal(&http.Response{StatusCode: c.code, Header: http.Header{}}, []byte(c.body), true)
			got := again
			switch {
			case err == nil:
				got = taken
			case errors.Is(err, errNoWay):
				got = closedWay
			case errors.Is(err, errBlocks):
				got = withoutBlocks
			case strings.Contains(err.Error(), "rate limited"):
				got = wait
			case strings.Contains(err.Error(), "not as Slack wants it"):
				got = never
			}
			if got != c.want {
				t.Errorf("%s, want %s: %v", got, c.want, err)
			}
		})
	}
}
