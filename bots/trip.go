package bots

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gpu-triage/triage/bots/queue"
)

// Trip guards a way that a browser takes to another site and back, as to Slack to install an app: what comes back must have begun here,
// in the same browser, not long ago, and comes once. https://www.rfc-editor.org/rfc/rfc6749#section-10.12
type Trip struct {
	Store  *queue.Store
	Name   string // what the trip is for
	Path   string // below which it ends
	Time   time.Duration
	Secure bool // this server is reached over https
}

// ErrNotBegun says that a trip did not begin here, or took too long.
var ErrNotBegun = errors.New("this did not begin here in this browser, or it was used before, or it took too long: begin again")

func (t Trip) cookie(value string, age int) *http.Cookie {
	return &http.Cookie{Name: "triage_" + t.Name, Value: value, Path: t.Path, MaxAge: age, HttpOnly: true, Secure: t.Secure, SameSite: http.SameSiteLaxMode}
}

// Begin ties a trip to the browser that asks, and returns the state to send along.
func (t Trip) Begin(w http.ResponseWriter, r *http.Request) (state string, err error) {
	head := rand.Text() + "." + strconv.FormatInt(time.Now().Add(t.Time).Unix(), 10)
	seal, err := t.Store.Seal(r.Context(), "trip", t.Name, head)
	if err != nil {
		return "", err
	}
	state = head + "." + seal
	http.SetCookie(w, t.cookie(state, int(t.Time.Seconds())))
	return state, nil
}

// End checks the state that came back. ErrNotBegun is the only error that the browser is to blame for. Nothing is stored yet: what the trip
// brought is to be looked at first, and Once asked before it is used.
func (t Trip) End(w http.ResponseWriter, r *http.Request, state string) error {
	cookie, err := r.Cookie("triage_" + t.Name)
	if err != nil || subtle.ConstantTimeCompare([]byte(cookie.Value), []byte(state)) != 1 {
		return ErrNotBegun
	}
	http.SetCookie(w, t.cookie("", -1))
	return t.sealed(r.Context(), state)
}

// Once is ErrNotBegun when a state was used before.
func (t Trip) Once(ctx context.Context, state string) error {
	first, err := t.Store.First(ctx, "trip:"+state)
	if err == nil && !first {
		return ErrNotBegun
	}
	return err
}

func (t Trip) sealed(ctx context.Context, state string) error {
	i := strings.LastIndexByte(state, '.')
	if i < 0 {
		return ErrNotBegun
	}
	head, given := state[:i], state[i+1:]
	seal, err := t.Store.Seal(ctx, "trip", t.Name, head)
	if err != nil {
		return fmt.Errorf("check what came back: %w", err)
	}
	_, until, _ := strings.Cut(head, ".")
	end, _ := strconv.ParseInt(until, 10, 64)
	if subtle.ConstantTimeCompare([]byte(seal), []byte(given)) != 1 || time.Now().Unix() > end {
		return ErrNotBegun
	}
	return nil
}
