package slackbot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gpu-triage/triage/bots/queue"
)

// What addresses for answers say when another try may help, and when no message of this kind will ever do. All else, such as expired_url,
// used_url, no_service or channel_is_archived, says that this way is closed. With some of them comes status 200.
// https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks#handling_errors
var (
	troubles = []string{"rollup_error", "internal_error", "fatal_error", "service_unavailable", "service_timeout", "request_timeout", "timeout", "server_error"}
	mistakes = []string{"invalid_payload", "invalid_arguments", "invalid_json", "no_text", "msg_too_long", "too_many_attachments"}
	limited  = []string{"rate_limited", "ratelimited", "message_limit_exceeded"}
	closed   = []string{"expired_url", "used_url", "no_service", "no_team", "team_disabled", "channel_is_archived", "channel_not_found",
		"user_not_found", "action_prohibited", "invalid_token"}
)

var saidCode = regexp.MustCompile(`^[a-z][a-z0-9]*(?:_[a-z0-9]+)+$`)

// problemIn is the code of the error that a body tells, "" for none: Slack writes it as a word or as {"ok":false,"error":"..."}.
func problemIn(said []byte) string {
	said = bytes.TrimSpace(said)
	var answer struct {
		OK    *bool  `json:"ok"`
		Error string `json:"error"`
	}
	if json.Unmarshal(said, &answer) == nil && answer.OK != nil {
		if *answer.OK {
			return ""
		}
		if answer.Error == "" {
			return "ok_false"
		}
		return answer.Error
	}
	if text := string(said); saidCode.MatchString(text) || slices.Contains(limited, text) {
		return text
	}
	return ""
}

// refusal is what the answer to a post means: nil when it was taken.
func refusal(response *http.Response, said []byte, withBlocks bool) error {
	code, problem := response.StatusCode, problemIn(said)
	tell := func(end error) error {
		return fmt.Errorf("response_url refused the message with %d %.100s: %w", code, problem, end)
	}
	switch {
	case code == http.StatusTooManyRequests, slices.Contains(limited, problem):
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
		return queue.Later(errors.New("response_url: rate limited"), time.Duration(max(seconds, 1))*time.Second)
	case withBlocks && (blocksRefused(problem) || code >= 400 && blocksRefused(string(said))):
		return errBlocks
	case slices.Contains(mistakes, problem), strings.HasPrefix(problem, "invalid_blocks"):
		return queue.Permanent(tell(errors.New("it is not as Slack wants it")))
	case slices.Contains(troubles, problem):
		return tell(errors.New("Slack has trouble"))
	case problem != "" && code < 500, slices.Contains(closed, problem):
		return tell(errNoWay)
	case code == http.StatusNotFound, code == http.StatusGone, code == http.StatusForbidden:
		return tell(errNoWay)
	case code >= 400 && code < 500:
		return queue.Permanent(tell(errors.New("it is not as Slack wants it")))
	case code >= 300:
		return fmt.Errorf("response_url answered %d", code)
	case bytes.HasPrefix(bytes.TrimSpace(said), []byte("<")):
		return errors.New("response_url answered with a page, so something stands between this server and Slack")
	}
	return nil
}
