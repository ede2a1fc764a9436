package slackbot

import (
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"
)

// A way that a killed process had not tried yet is not taken for tried, and what it may have posted where nobody may look is not posted
// again.
func TestDoubtIsAboutOneWay(t *testing.T) {
	var mu sync.Mutex
	var posted []string
	b, _ := newBot(t, func(method string, form url.Values) map[string]any {
		mu.Lock()
		defer mu.Unlock()
		to := form.Get("channel")
		switch {
		case method == "conversations.history" && to == "C1":
			return map[string]any{"ok": true, "messages": []any{}}
		case method == "conversations.history":
			return map[string]any{"ok": false, "error": "channel_not_found"}
		case method == "chat.postMessage" && to == "C1":
			return map[string]any{"ok": false, "error": "not_in_channel"}
		}
		posted = append(posted, method+" "+to)
		return map[string]any{"ok": true, "channel": "D1", "ts": "1.2"}
	})
	long := time.Now().Add(-time.Hour)
	for _, c := range []struct {
		tried string
		want  []string
	}{
		{"C1", []string{"chat.postMessage U1"}},
		{"U1", nil},
	} {
		posted = nil
		id := "tried in " + c.tried
		if err := b.Store.Save(t.Context(), progressKey(id), progress{Stage: stagePosting, Channel: c.tried, Since: long, Tried: long}); err != nil {
			t.Fatal(err)
		}
		if _, err := b.deliver(t.Context(), id, task{Channel: "C1", User: "U1"}, letter{text: "answer", public: true}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(posted, c.want) {
			t.Errorf("%s: posted %q, want %q", id, posted, c.want)
		}
	}
	// A try that may still be on its way is waited for.
	now := time.Now()
	if err := b.Store.Save(t.Context(), progressKey("now"), progress{Stage: stagePosting, Channel: "C1", Since: now, Tried: now}); err != nil {
		t.Fatal(err)
	}
	_, err := b.deliver(t.Context(), "now", task{Channel: "C1", User: "U1"}, letter{text: "answer", public: true})
	if err == nil || len(posted) > 0 {
		t.Errorf("just tried: %v, posted %q", err, posted)
	}
}
