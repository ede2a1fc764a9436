package githubbot

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/gpu-triage/triage/bots"
	"github.com/gpu-triage/triage/bots/queue"
)

// command is what a comment tells us to do: "/triage name=value ..." asks, "/triage off" silences an issue, "/triage on" asks again.
type command struct {
	facts map[string]string
	off   bool
}

// commandIn finds the command of a comment, outside of fenced code and quotations; of several the last, with the facts of all.
func commandIn(body string) (c command, ok bool) {
	_, prose := split(body)
	for line := range strings.Lines(prose) {
		rest, found := strings.CutPrefix(strings.TrimRight(line, " \r\n"), "/triage")
		if !found || rest != "" && !strings.HasPrefix(rest, " ") && !strings.HasPrefix(rest, "\t") {
			continue
		}
		words := strings.Fields(rest)
		ok, c.off = true, len(words) > 0 && strings.EqualFold(words[0], "off")
		for name, value := range bots.AllFacts(rest) {
			if c.facts == nil {
				c.facts = map[string]string{}
			}
			c.facts[name] = value
		}
	}
	return c, ok
}

// commands are what those who may told us in the comments of an issue.
type commands struct {
	asked []*github.IssueComment // those that want an answer
	given map[string]string      // facts, the later outweighing the earlier
	off   bool                   // the last word
}

// commandsIn takes the commands out of the comments of an issue. What somebody of the repository switched off, its author alone does not
// switch on.
func commandsIn(comments []*github.IssueComment, author string) commands {
	found, lasting := commands{given: map[string]string{}}, false
	for _, c := range comments {
		user := account{c.GetUser().GetLogin(), c.GetUser().GetType()}
		said, ok := commandIn(c.GetBody())
		if !ok || user.bot() || !mayAsk(user.Login, c.GetAuthorAssociation(), author) {
			continue
		}
		ours := belongs(c.GetAuthorAssociation())
		switch {
		case said.off:
			found.off, lasting = true, lasting && found.off || ours
			continue
		case found.off && lasting && !ours:
			continue
		}
		found.off = false
		found.asked = append(found.asked, c)
		maps.Copy(found.given, said.facts)
	}
	return found
}

// newest is the last command that asks, 0 when none does.
func (c commands) newest() int64 {
	if len(c.asked) == 0 {
		return 0
	}
	return c.asked[len(c.asked)-1].GetID()
}

// pending tells whether somebody waits for an answer.
func (s *snapshot) pending() bool {
	edited := func(c *github.IssueComment) bool { return c.GetID() == s.Command }
	return s.newest() > s.memory.Answered || s.Command != 0 && slices.ContainsFunc(s.asked, edited)
}

// receipt shows whoever gave a command that it was heard, and then asks for the look: neither the settings nor a log that is being read for
// the same issue are waited for.
func (b *Bot) receipt(ctx context.Context, s *snapshot, job queue.Job) error {
	_, _, err := s.client.Reactions.CreateIssueCommentReaction(ctx, s.owner, s.repo, s.Command, "eyes")
	if paused := (&pausedError{}); errors.As(err, &paused) {
		return judge(err)
	}
	if err != nil { // the answer will show it
		b.Log.Info("a command was not acknowledged with a reaction", "repository", s.Repository, "number", s.Number, "error", err)
	}
	to := s.visit
	to.Receipt = false
	return b.store(ctx, job.ID+"-look", []visit{to})
}
