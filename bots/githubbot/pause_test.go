package githubbot

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func answered(code int, body string, headers ...string) *http.Response {
	r := &http.Response{StatusCode: code, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

func TestDemandsToWait(t *testing.T) {
	now := time.Now().Truncate(time.Second)
	behind := now.Add(-10 * time.Minute) // GitHub's clock, by which a reset is told
	for name, c := range map[string]struct {
		response *http.Response
		want     time.Duration // -1 for no demand
	}{
		"seconds":       {answered(403, "", "Retry-After", "60"), time.Minute},
		"a date":        {answered(429, "", "Date", now.UTC().Format(http.TimeFormat), "Retry-After", now.Add(time.Hour).UTC().Format(http.TimeFormat)), time.Hour},
		"reset":         {answered(403, "", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", fmt.Sprint(behind.Add(30*time.Second).Unix()), "Date", behind.UTC().Format(http.TimeFormat)), 31 * time.Second},
		"429 alone":     {answered(429, ""), 0},
		"secondary":     {answered(403, `{"message":"You have exceeded a secondary rate limit. Please wait a few minutes"}`), 0},
		"by its page":   {answered(403, `{"message":"Slow down","documentation_url":"https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits"}`), 0},
		"not allowed":   {answered(403, `{"message":"Resource not accessible by integration"}`, "X-RateLimit-Remaining", "12"), -1},
		"out of order":  {answered(503, ""), -1},
		"busy":          {answered(503, "", "Retry-After", "5"), 5 * time.Second},
		"fine":          {answered(200, "", "X-RateLimit-Remaining", "0"), -1},
		"years":         {answered(403, "", "Retry-After", "999999999"), 999999999 * time.Second},
		"not a number":  {answered(429, "", "Retry-After", "soon"), 0},
		"a past moment": {answered(403, "", "Retry-After", now.Add(-time.Hour).UTC().Format(http.TimeFormat)), time.Second},
	} {
		wait, limited := demanded(c.response)
		if !limited {
			wait = -1
		}
		if wait != c.want {
			t.Errorf("%s: %v, want %v", name, wait, c.want)
		}
	}
}

// A refusal's words are there to read after they were looked at; without a time the pauses grow, and end with an answer.
func TestPauseGrowsAndEnds(t *testing.T) {
	p := &pause{}
	said := `{"message":"secondary rate limit"}`
	for i, want := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute} {
		r := answered(403, said)
		err := p.take(r)
		var paused *pausedError
		if !errors.As(err, &paused) || time.Until(paused.until).Round(time.Second) != want {
			t.Fatalf("demand %d: %v, want %v", i, err, want)
		}
		if body, _ := io.ReadAll(r.Body); string(body) != said {
			t.Errorf("the body became %q", body)
		}
	}
	p = &pause{refused: 2}
	if err := p.take(answered(200, "")); err != nil || p.refused != 0 || p.check() != nil {
		t.Errorf("after an answer: %v, %+v", err, p.refused)
	}
	if err := p.take(answered(403, "", "Retry-After", "999999999")); err == nil || time.Until(p.until) > maxPause {
		t.Errorf("it waits for %v", time.Until(p.until))
	}
}
