package githubbot

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/gpu-triage/triage/matcher/report"

	"github.com/gpu-triage/triage/bots"
	"github.com/gpu-triage/triage/bots/fetch"
	"github.com/gpu-triage/triage/bots/queue"
)

// gather collects the logs: of the issue, of the comments with a command, and of failed jobs.
func (b *Bot) gather(ctx context.Context, s *snapshot) (err error) {
	s.dir, err = os.MkdirTemp(b.Data, "look")
	if err != nil {
		return err
	}
	if !s.Pull || len(s.asked) > 0 {
		b.text(ctx, s, fmt.Sprintf("%s #%d", s.kind(), s.Number), s.Body)
	}
	for _, c := range s.asked {
		b.text(ctx, s, fmt.Sprintf("comment %d", c.GetID()), c.GetBody())
	}
	if s.Pull && (len(s.asked) > 0 || s.settings.WorkflowRuns) {
		return b.failedJobs(ctx, s)
	}
	return nil
}

func (s *snapshot) kind() string {
	if s.Pull {
		return "pull request"
	}
	return "issue"
}

// text takes the logs that a Markdown text holds or links.
func (b *Bot) text(ctx context.Context, s *snapshot, name, body string) {
	if strings.Contains(body, markerHead) {
		return // our own words, quoted
	}
	code, prose := split(body)
	if strings.TrimSpace(code) != "" {
		s.logs = append(s.logs, fetch.Log{Name: name, Text: []byte(code)})
	}
	for _, address := range links(prose) {
		logs, err := b.linked(ctx, s.client, address, s.dir)
		if err != nil {
			b.Log.Info("a linked log was not read", "repository", s.Repository, "number", s.Number, "error", err)
			b.Metrics.Dropped(Kind, "link not read")
			s.unread = append(s.unread, bots.Unread(nameOf(address), err))
		}
		s.logs = append(s.logs, logs...)
	}
}

// answer diagnoses what was gathered and sees to the comment.
func (b *Bot) answer(ctx context.Context, s *snapshot) error {
	report := report.Report{Schema: report.Schema}
	if len(s.logs) > 0 && s.settings.wrong == nil {
		var err error
		report, err = s.settings.engine.Answer(ctx, s.logs, s.facts)
		if err != nil {
			return err
		}
	}
	report.Notes = append(report.Notes, s.unread...)
	queue.CrashPoint("diagnosed")
	b.keepBack(s, &report)
	if len(report.Diagnoses) == 0 && len(s.ours) == 0 && len(s.asked) == 0 {
		return overUnknown
	}
	seen, err := b.Recurrence.Tell(ctx, bots.Place{Scope: Kind + ":" + s.Repository, Question: strconv.Itoa(s.Number)}, &report)
	if err != nil {
		return err
	}
	if err := b.comment(ctx, s, report); err != nil {
		return err
	}
	s.memory.Answered = s.newest()
	return b.Recurrence.Keep(ctx, seen, fmt.Sprintf("#%d", s.Number))
}

// keepBack takes out what this repository does not want to hear unasked.
func (b *Bot) keepBack(s *snapshot, answer *report.Report) {
	if len(s.asked) > 0 || len(answer.Diagnoses) == 0 {
		return
	}
	first := answer.Diagnoses[0]
	unsure := s.settings.Certainty == string(report.Confirmed) && first.Certainty != report.Confirmed
	if unsure || !answer.Explained() {
		answer.Diagnoses = nil
	}
}
