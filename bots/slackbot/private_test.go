package slackbot

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gpu-triage/triage/bots"
	"github.com/gpu-triage/triage/bots/fetch"
	"github.com/gpu-triage/triage/bots/queue"
)

// newBot returns a bot that speaks to a Slack of the test's: answer gets the method's name and the form.
func newBot(t *testing.T, answer func(method string, form url.Values) map[string]any) (b *Bot, slackAt string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		if !strings.HasPrefix(r.URL.Path, "/api/") {
			http.Error(w, "expired_url", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer(strings.TrimPrefix(r.URL.Path, "/api/"), r.Form))
	}))
	t.Cleanup(server.Close)
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	store, err := queue.Open(t.Context(), queue.Options{Dir: t.TempDir(), Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	files, err := fetch.New(nil, []string{strings.TrimPrefix(server.URL, "http://")})
	if err != nil {
		t.Fatal(err)
	}
	b, err = New(Config{BotToken: "xoxb-1", APIURL: server.URL + "/api", Store: store, Metrics: bots.NewMetrics(), Fetch: files, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	return b, server.URL
}

// However many ways to the reader are closed, what only they may see is never posted for others.
func TestPrivateAnswerStaysPrivate(t *testing.T) {
	var mu sync.Mutex
	var tried []string
	open := map[string]bool{}
	b, slackAt := newBot(t, func(method string, form url.Values) map[string]any {
		mu.Lock()
		defer mu.Unlock()
		to := fmt.Sprintf("%s %s %s", method, form.Get("channel"), form.Get("user"))
		tried = append(tried, to)
		if open[to] {
			return map[string]any{"ok": true, "message_ts": "1.1"}
		}
		return map[string]any{"ok": false, "error": "user_not_in_channel"}
	})
	ask := task{Do: doAnswer, Channel: "C1", User: "U1", ResponseURL: slackAt + "/commands/1", Issued: time.Now()}
	for _, id := range []string{"nobody can be reached", "the channel can"} {
		open["chat.postEphemeral C1 U1"] = id == "the channel can"
		if _, err := b.deliver(t.Context(), id, ask, letter{text: "for U1 alone"}); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	want := "[chat.postMessage U1  chat.postEphemeral C1 U1 chat.postMessage U1  chat.postEphemeral C1 U1]"
	if got := fmt.Sprint(tried); got != want {
		t.Errorf("tried %s, want %s", got, want)
	}
}

// The bot may read more than whoever asks. What is in no channel at all, its owner alone gets to see.
func TestFilesOfOthers(t *testing.T) {
	var file map[string]any
	b, _ := newBot(t, func(string, url.Values) map[string]any { return map[string]any{"ok": true, "file": file} })
	for _, c := range []struct {
		about   string
		file    map[string]any
		refused bool
	}{
		{"in no channel, of somebody else", map[string]any{"user": "U2"}, true},
		{"in no channel, of who asks", map[string]any{"user": "U1"}, false},
		{"in another channel", map[string]any{"user": "U2", "groups": []string{"G9"}}, true},
		{"in this channel", map[string]any{"user": "U2", "groups": []string{"C1"}}, false},
		{"public", map[string]any{"user": "U2", "is_public": true}, false},
	} {
		file = c.file
		_, err := b.file(t.Context(), task{Channel: "C1", User: "U1"}, "F1", t.TempDir(), false)
		if errors.Is(err, errNotShared) != c.refused {
			t.Errorf("a file %s: %v", c.about, err)
		}
	}
}
