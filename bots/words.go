package bots

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/gpu-triage/triage/bots/fetch"
	"github.com/gpu-triage/triage/bots/queue"
	"github.com/gpu-triage/triage/matcher/source"
)

// Reason is an error that says in words for people what is wrong and what to do. What a service or the system said is its cause, which is for
// the log alone.
type Reason struct {
	Name  string // of the log, where it is known better than by whoever asks; may be empty
	Words string // without a full stop
	Cause error  // may be nil
}

func (r Reason) Error() string {
	if r.Cause == nil {
		return r.Words
	}
	return r.Words + " (" + r.Cause.Error() + ")"
}

func (r Reason) Unwrap() error { return r.Cause }

// Unread says in words which log could not be read, why, and what to do.
func Unread(name string, err error) string {
	return "I could not read " + quoted(name) + ": " + Why(err) + "."
}

// partly says the same of a log of which a part was read.
func partly(name string, err error) string {
	return "Not all of " + quoted(name) + " was read: " + Why(err) + "."
}

// longestName is how much of what a stranger wrote is quoted, in characters.
const longestName = 200

func quoted(name string) string {
	if len(name) < longestName && strings.Contains(name, " ") && !strings.Contains(name, ".") {
		return name // words
	}
	return "`" + strings.ReplaceAll(short(name), "`", "'") + "`"
}

func short(text string) string {
	if runes := []rune(text); len(runes) > longestName {
		return string(runes[:longestName-1]) + "…"
	}
	return text
}

// Why says in words why something could not be read, and what to do. It quotes nothing that a service, a stranger's machine or this
// program's libraries said.
func Why(err error) string {
	var (
		reason  Reason
		refused fetch.Refusal
		status  fetch.StatusError
		network net.Error
	)
	switch {
	case errors.As(err, &reason):
		return reason.Words
	case queue.Waits(err):
		return "too much is asked of the service that has it just now. Try again in a few minutes"
	case errors.As(err, &refused):
		return string(refused)
	case errors.As(err, &status):
		return whyStatus(status)
	case errors.Is(err, fetch.ErrTooLarge):
		return fmt.Sprintf("it is larger than %d MiB. Send the part from the first error on, or pack it", fetch.MaxDownload>>20)
	case errors.Is(err, errEnough):
		return fmt.Sprintf("it holds more than %d logs. Send those of the rank that failed first", maxLogs)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return "it took too long. Send the part from the first error on"
	case errors.Is(err, source.ErrLimit):
		return "it has too many files, or unpacks to too much. Send the part from the first error on as plain text"
	case errors.Is(err, source.ErrForm):
		return "it is packed in a form that I do not read. Send it as plain text, or as .gz, .zst, .zip or .tar"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "it ends too early, as one does that was not uploaded whole. Upload it again"
	case errors.As(err, &network):
		return "the host could not be reached. Try again later, or paste the log"
	case errors.Is(err, source.ErrFile):
		return "it is damaged, or not what its name says. Pack it again, or send it as plain text"
	}
	return "something failed on my side, which the server's log tells. Try again, or paste the log"
}

func whyStatus(status fetch.StatusError) string {
	switch code := status.Code; {
	case code == 404 || code == 410:
		return status.Host + " has no such file, or does not show it to me. Look at the link, or paste the log"
	case code == 401 || code == 403:
		return status.Host + " shows it only to those who are signed in. Paste the log, or attach it"
	}
	return status.Host + " has trouble just now. Try again later, or paste the log"
}
