package githubbot

import (
	"errors"
	"net/http"
	"strings"

	"github.com/google/go-github/v60/github"
)

// over is the end of a look that is nobody's fault, as that of an issue that was deleted: it is counted by its reason, not tried again, and
// not kept among the dead.
type over string

func (o over) Error() string { return "nothing more to do: " + string(o) }

// Reasons that end a look. Some are GitHub's answers, the others what people want.
const (
	overGone      over = "deleted"
	overMoved     over = "transferred"
	overLocked    over = "locked"
	overArchived  over = "archived"
	overRemoved   over = "comment removed"
	overOptedOut  over = "opted out"
	overOff       over = "switched off"
	overSettings  over = "settings unreadable"
	overBot       over = "written by a bot"
	overReport    over = "a report of ours"
	overStale     over = "older than the last look"
	overUnknown   over = "nothing known"
	overUninstall over = "not installed"
	overNoApp     over = "not an App"
	overForbidden over = "check runs not permitted"
)

// ending returns the reason for which an answer of GitHub's ends a look, or "".
func ending(refused *github.ErrorResponse) over {
	said := strings.ToLower(refused.Message)
	switch code := refused.Response.StatusCode; {
	case code == http.StatusNotFound, code == http.StatusGone, code == http.StatusUnavailableForLegalReasons:
		return overGone
	case code == http.StatusUnprocessableEntity && strings.Contains(said, "no commit found"): // as of a branch that was deleted
		return overGone
	case code == http.StatusMovedPermanently, code == http.StatusTemporaryRedirect, code == http.StatusPermanentRedirect:
		return overMoved
	case code == http.StatusForbidden && strings.Contains(said, "lock"):
		return overLocked
	case code == http.StatusForbidden && strings.Contains(said, "archived"):
		return overArchived
	}
	return ""
}

// gone tells whether GitHub says in its own words that something is not there. A bare 404 may come from a proxy.
func gone(err error) bool {
	var refused *github.ErrorResponse
	return errors.As(err, &refused) && refused.Response != nil && ending(refused) == overGone &&
		(refused.Message != "" || refused.Response.StatusCode != http.StatusNotFound)
}
