package githubbot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/gpu-triage/triage/bots/queue"
)

// A pause is what GitHub demanded of one installation: no request before a time. All who act for the installation share one, so that what
// one worker was told the others need not be told again.
type pause struct {
	mu      sync.Mutex
	until   time.Time
	refused int // demands without a time, one after the other
}

// pausedError is the error of a request that a pause forbids, or that was answered with one.
type pausedError struct{ until time.Time }

func (e *pausedError) Error() string {
	return "GitHub's rate limit: no request before " + e.until.UTC().Format(time.RFC3339)
}

// later puts a job off until the pause is over, and a moment longer, so that not all come back at once.
func (e *pausedError) later() error {
	wait := max(time.Until(e.until), 0)
	return queue.Later(e, wait+rand.N(min(wait/10, 10*time.Second)+100*time.Millisecond))
}

// check returns the pausedError that holds now, or nil.
func (p *pause) check() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Now().Before(p.until) {
		return &pausedError{p.until}
	}
	return nil
}

// extend makes the pause last until a time, unless it lasts longer already.
func (p *pause) extend(until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until.After(p.until) {
		p.until = until
	}
}

// maxPause bounds what an answer can demand.
const maxPause = 24 * time.Hour

// take learns from an answer of GitHub's. Where it refuses a request because of a limit, the pause is returned as an error.
// https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api#handle-rate-limit-errors-appropriately
func (p *pause) take(response *http.Response) error {
	wait, limited := demanded(response)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !limited {
		if response.StatusCode < http.StatusBadRequest {
			p.refused = 0
		}
		return nil
	}
	if wait == 0 { // at least a minute, and longer each time
		wait = min(time.Minute<<min(p.refused, 10), time.Hour)
		p.refused++
	}
	if until := time.Now().Add(min(wait, maxPause)); until.After(p.until) {
		p.until = until
	}
	return &pausedError{p.until}
}

// demanded tells whether an answer refuses a request because of a limit, and for how long; 0 where it does not say.
func demanded(response *http.Response) (wait time.Duration, limited bool) {
	code := response.StatusCode
	if code != http.StatusForbidden && code != http.StatusTooManyRequests && code != http.StatusServiceUnavailable {
		return 0, false
	}
	now, err := http.ParseTime(response.Header.Get("Date")) // the clock that a reset is told by
	if err != nil {
		now = time.Now()
	}
	after := response.Header.Get("Retry-After")
	if seconds, err := strconv.ParseInt(after, 10, 32); err == nil {
		return time.Duration(max(seconds, 1)) * time.Second, true
	}
	if at, err := http.ParseTime(after); err == nil {
		return max(at.Sub(now), time.Second), true
	}
	if code == http.StatusServiceUnavailable {
		return 0, false
	}
	reset, err := strconv.ParseInt(response.Header.Get("X-RateLimit-Reset"), 10, 64)
	if err == nil && response.Header.Get("X-RateLimit-Remaining") == "0" {
		return max(time.Unix(reset, 0).Sub(now), 0) + time.Second, true
	}
	return 0, code == http.StatusTooManyRequests || saysLimit(response)
}

// limitWords stand in the message of such a refusal, or in the address of its documentation.
var limitWords = regexp.MustCompile(`(?i)secondary[- ]rate[- ]limit|abuse[- ](?:detection|rate[- ]limit)|rate limit exceeded`)

// saysLimit tells whether a refusal's words are about the secondary limit. The body is there to read again.
func saysLimit(response *http.Response) bool {
	body := response.Body
	said, _ := io.ReadAll(io.LimitReader(body, 16<<10))
	response.Body = closing{io.NopCloser(io.MultiReader(bytes.NewReader(said), body)), func() { body.Close() }}
	return limitWords.Match(said)
}

// pauseOf returns the pause that an installation's client shares.
func (b *Bot) pauseOf(installation int64) *pause {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.pauseLocked(installation)
}

func (b *Bot) pauseLocked(installation int64) *pause {
	p := b.pauses[installation]
	if p == nil {
		p = &pause{}
		b.pauses[installation] = p
	}
	return p
}

// awaited returns an error that puts a job off while a pause of its installation lasts, here or in another replica.
func (b *Bot) awaited(ctx context.Context, installation int64) error {
	p := b.pauseOf(installation)
	var until time.Time
	if _, err := b.Store.Load(ctx, pauseKey(installation), &until); err != nil {
		return err
	}
	p.extend(until)
	return judge(p.check())
}

// tell keeps a pause that an answer demanded, for the other replicas and for a restart.
func (b *Bot) tell(ctx context.Context, installation int64) {
	paused := &pausedError{}
	if !errors.As(b.pauseOf(installation).check(), &paused) {
		return
	}
	var known time.Time
	_, err := b.Store.Load(ctx, pauseKey(installation), &known)
	if err == nil && known.Before(paused.until) {
		b.Log.Warn("GitHub demands a pause", "installation", installation, "until", paused.until.UTC())
		err = b.Store.Save(ctx, pauseKey(installation), paused.until)
	}
	if err != nil {
		b.Log.Warn("a pause could not be kept", "error", err)
	}
}

func pauseKey(installation int64) string { return fmt.Sprintf("pause:%d", installation) }
