package bots

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gpu-triage/triage/bots/queue"
)

// What comes back must have begun in the same browser, for the same purpose, not too long ago, and is used once.
func TestTrip(t *testing.T) {
	store, err := queue.Open(t.Context(), queue.Options{Dir: t.TempDir(), Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	begin := func(trip Trip) (state string, cookie *http.Cookie) {
		t.Helper()
		w := httptest.NewRecorder()
		state, err := trip.Begin(w, httptest.NewRequest(http.MethodGet, "/", nil))
		if err != nil {
			t.Fatal(err)
		}
		return state, w.Result().Cookies()[0]
	}
	end := func(trip Trip, state string, cookie *http.Cookie) error {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		if cookie != nil {
			r.AddCookie(cookie)
		}
		return trip.End(httptest.NewRecorder(), r, state)
	}
	trip := Trip{Store: store, Name: "here", Path: "/", Time: time.Minute, Secure: true}
	late, other := trip, trip
	late.Time, other.Name = -2*time.Second, "there"
	state, cookie := begin(trip)
	if !cookie.HttpOnly || !cookie.Secure || cookie.SameSite != http.SameSiteLaxMode || cookie.MaxAge != 60 {
		t.Errorf("the cookie is %v", cookie)
	}
	_, another := begin(trip)
	lateState, lateCookie := begin(late)
	longer := strings.Replace(lateState, ".", ".9", 1)
	for about, err := range map[string]error{
		"no cookie":               end(trip, state, nil),
		"another browser's":       end(trip, state, another),
		"too late":                end(late, lateState, lateCookie),
		"a time that was changed": end(late, longer, &http.Cookie{Name: lateCookie.Name, Value: longer}),
		"for another purpose":     end(other, state, &http.Cookie{Name: "triage_there", Value: state}),
		"made up":                 end(trip, "x", &http.Cookie{Name: cookie.Name, Value: "x"}),
		"empty":                   end(trip, "", &http.Cookie{Name: cookie.Name}),
	} {
		if !errors.Is(err, ErrNotBegun) {
			t.Errorf("%s: %v", about, err)
		}
	}
	if err := errors.Join(end(trip, state, cookie), trip.Once(t.Context(), state)); err != nil {
		t.Error(err)
	}
	if err := trip.Once(t.Context(), state); !errors.Is(err, ErrNotBegun) {
		t.Errorf("a second time: %v", err)
	}
}

func TestLimits(t *testing.T) {
	limits := NewLimits(2, time.Hour, 2)
	for i, want := range []bool{true, true, false} {
		if wait := limits.Wait("a"); (wait == 0) != want || wait > 31*time.Minute {
			t.Errorf("%d: %v", i, wait)
		}
	}
	if limits.Wait("b") > 0 {
		t.Error("one takes from another")
	}
	if none := NewLimits(0, time.Hour, 0); none.Wait("a") > 0 || none.Count() != 0 {
		t.Error("no limit limits")
	}
}
