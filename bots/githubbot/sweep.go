package githubbot

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"
)

const (
	sweepSoon     = time.Minute // after the first, when also a proxy before us knows that we are there
	sweepEvery    = 15 * time.Minute
	sweepBack     = 72 * time.Hour // GitHub delivers again what is no older
	maxSweepPages = 50
	maxDeliveries = 6 // of one event, ours and GitHub's tries together
)

// Sweep asks GitHub, now and from time to time, to deliver again what did not arrive: it never does so by itself. It returns when the
// context ends.
func (b *Bot) Sweep(ctx context.Context) {
	for pause := sweepSoon; ; pause = sweepEvery {
		if err := b.Store.Alone(ctx, "sweep", b.sweep); err != nil && ctx.Err() == nil {
			b.Log.Warn("missed deliveries could not be asked for", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// hook is a place where GitHub keeps the deliveries of one webhook.
type hook struct {
	list    func(ctx context.Context, options *github.ListCursorOptions) ([]*github.HookDelivery, *github.Response, error)
	deliver func(ctx context.Context, id int64) error
}

func (b *Bot) sweep(ctx context.Context) error {
	if app := b.asApp(); app != nil {
		return b.sweepHook(ctx, hook{app.Apps.ListHookDeliveries, func(ctx context.Context, id int64) error {
			_, _, err := app.Apps.RedeliverHookDelivery(ctx, id)
			return err
		}})
	}
	var repositories []string
	err := b.Store.Each(ctx, "repository", func(data []byte) bool {
		var name string
		if json.Unmarshal(data, &name) == nil {
			repositories = append(repositories, name)
		}
		return len(repositories) < 1000
	})
	for _, repository := range repositories {
		if err := b.sweepRepository(ctx, repository); err != nil {
			b.Log.Info("a repository's webhook deliveries cannot be read: the token may not administer webhooks", "repository", repository, "error", err)
		}
	}
	return err
}

// sweepRepository looks at those webhooks of a repository that lead here.
func (b *Bot) sweepRepository(ctx context.Context, repository string) error {
	owner, repo := ownerOf(repository)
	c := b.client(0)
	hooks, _, err := c.Repositories.ListHooks(ctx, owner, repo, nil)
	if err != nil {
		return err
	}
	for _, h := range hooks {
		address := h.GetURL()
		if h.Config != nil {
			address = h.Config.GetURL()
		}
		if !h.GetActive() || !strings.HasSuffix(address, "/github/webhook") {
			continue
		}
		id := h.GetID()
		err := b.sweepHook(ctx, hook{
			func(ctx context.Context, options *github.ListCursorOptions) ([]*github.HookDelivery, *github.Response, error) {
				return c.Repositories.ListHookDeliveries(ctx, owner, repo, id, options)
			},
			func(ctx context.Context, delivery int64) error {
				_, _, err := c.Repositories.RedeliverHookDelivery(ctx, owner, repo, id, delivery)
				return err
			}})
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *Bot) sweepHook(ctx context.Context, h hook) error {
	type fate struct {
		arrived bool
		tries   int
		last    int64
	}
	fates, order := map[string]*fate{}, []string{}
	options := &github.ListCursorOptions{PerPage: 100}
	for range maxSweepPages {
		page, response, err := h.list(ctx, options)
		if err != nil {
			return err
		}
		old := false
		for _, d := range page {
			old = old || !d.GetDeliveredAt().IsZero() && time.Since(d.GetDeliveredAt().Time) > sweepBack
			if old || !ofInterest(d.GetEvent()) {
				continue
			}
			f := fates[d.GetGUID()]
			if f == nil {
				f = &fate{last: d.GetID()}
				fates[d.GetGUID()] = f
				order = append(order, d.GetGUID())
			}
			f.tries++
			f.arrived = f.arrived || settled(d.GetStatusCode())
		}
		if old || response.Cursor == "" {
			break
		}
		options.Cursor = response.Cursor
	}
	count := 0
	for _, guid := range order {
		f := fates[guid]
		if f.arrived || f.tries >= maxDeliveries {
			continue
		}
		// GitHub answers 202, which go-github takes for an error of its own kind.
		if err := h.deliver(ctx, f.last); err != nil && !isAccepted(err) {
			return err
		}
		count++
	}
	if count > 0 {
		b.Log.Info("asked GitHub for deliveries that did not arrive", "count", count)
	}
	return nil
}

func ofInterest(event string) bool {
	return event == "issues" || event == "issue_comment" || event == "workflow_run"
}

// settled tells whether a delivery was answered in a way that another try would not change.
func settled(code int) bool {
	return code >= 200 && code < 300 || code == http.StatusBadRequest || code == http.StatusRequestEntityTooLarge
}

func isAccepted(err error) bool {
	var accepted *github.AcceptedError
	return errors.As(err, &accepted)
}
