package githubbot

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// feedback counts the reactions on our comment that are new since the last look.
func (b *Bot) feedback(s *snapshot) {
	if len(s.ours) == 0 {
		return
	}
	reactions := s.ours[0].GetReactions()
	b.count(&s.memory, reactions.GetPlusOne()+reactions.GetHooray()+reactions.GetHeart(), reactions.GetMinusOne()+reactions.GetConfused())
}

func (b *Bot) count(m *memory, helpful, wrong int) {
	signature := m.Signature
	if signature == "" {
		signature = "none"
	}
	b.Metrics.Feedback(Kind, signature, "helpful", helpful-m.Helpful)
	b.Metrics.Feedback(Kind, signature, "wrong", wrong-m.Wrong)
	m.Helpful, m.Wrong = helpful, wrong
}

const (
	feedbackEvery = 6 * time.Hour
	feedbackDays  = 14
	renewDays     = 10  // a state lives for 30: that a comment was removed is kept for as long as we run
	feedbackMost  = 500 // comments at a time
)

// Feedback counts reactions from time to time, since GitHub sends no webhook for them. It returns when the context ends.
func (b *Bot) Feedback(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(feedbackEvery):
		}
		if err := b.Store.Alone(ctx, "feedback", b.collect); err != nil && ctx.Err() == nil {
			b.Log.Warn("reactions could not be counted", "error", err)
		}
	}
}

// collect looks at the comments of the last days, and keeps in mind for longer which were removed.
func (b *Bot) collect(ctx context.Context) error {
	var recent, removed []memory
	err := b.Store.Each(ctx, "issue", func(data []byte) bool {
		var m memory
		switch {
		case json.Unmarshal(data, &m) != nil || m.Comment == 0:
		case !m.Removed.IsZero() && time.Since(m.Removed) > renewDays*24*time.Hour && len(removed) < feedbackMost:
			removed = append(removed, m)
		case m.Removed.IsZero() && time.Since(m.Looked) < feedbackDays*24*time.Hour && len(recent) < feedbackMost:
			recent = append(recent, m)
		}
		return len(recent) < feedbackMost || len(removed) < feedbackMost
	})
	for _, m := range removed {
		m.Removed = time.Now().UTC()
		if err := b.Store.Save(ctx, memoryKey(m.Repository, m.Number), m); err != nil {
			return err
		}
	}
	for _, m := range recent {
		if err := b.recount(ctx, m); err != nil {
			return err
		}
	}
	return err
}

// recount counts the reactions on a comment, or notes that it was removed. The error is that of the store, or a pause.
func (b *Bot) recount(ctx context.Context, m memory) error {
	owner, repo := ownerOf(m.Repository)
	comment, _, err := b.client(m.Installation).Issues.GetComment(ctx, owner, repo, m.Comment)
	before, paused := m, (&pausedError{})
	switch {
	case errors.As(err, &paused), ctx.Err() != nil:
		return err
	case gone(err):
		m.Removed = time.Now().UTC()
	case err == nil:
		reactions := comment.GetReactions()
		b.count(&m, reactions.GetPlusOne()+reactions.GetHooray()+reactions.GetHeart(), reactions.GetMinusOne()+reactions.GetConfused())
	}
	if m == before {
		return nil
	}
	return b.Store.Save(ctx, memoryKey(m.Repository, m.Number), m)
}
