package githubbot

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gpu-triage/triage/bots"
	"github.com/gpu-triage/triage/bots/queue"
)

// A state is kept for 30 days. That a comment was removed is kept for longer, and is noticed also where nothing happens in the issue.
func TestRemovedCommentsAreRemembered(t *testing.T) {
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"message":"Not Found"}`)
	}))
	defer api.Close()
	ctx, log := context.Background(), slog.New(slog.DiscardHandler)
	store, err := queue.Open(ctx, queue.Options{Dir: t.TempDir(), Bytes: 16 << 20, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	b, err := New(Config{APIURL: api.URL, Token: "x", Store: store, Log: log, Metrics: bots.NewMetrics()})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for number, m := range []memory{
		{Comment: 5, Looked: now.Add(-25 * 24 * time.Hour), Removed: now.Add(-20 * 24 * time.Hour)},
		{Comment: 6, Looked: now.Add(-time.Hour)},
		{Comment: 7, Looked: now.Add(-time.Hour), Removed: now.Add(-time.Hour)},
	} {
		m.Repository, m.Number = "o/r", number
		if err := store.Save(ctx, memoryKey("o/r", number), m); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.collect(ctx); err != nil {
		t.Fatal(err)
	}
	for number, renewed := range []bool{true, true, false} {
		var m memory
		if _, err := store.Load(ctx, memoryKey("o/r", number), &m); err != nil || m.Removed.Before(now) == renewed {
			t.Errorf("issue %d: removed at %v, %v", number, m.Removed, err)
		}
	}
}
