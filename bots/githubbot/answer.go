package githubbot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/gpu-triage/triage/matcher/report"

	"github.com/google/go-github/v60/github"

	"github.com/gpu-triage/triage/bots/fetch"
	"github.com/gpu-triage/triage/bots/queue"
)

// memory is what is kept of an issue between looks.
type memory struct {
	Installation int64     `json:"installation,omitempty"`
	Repository   string    `json:"repository"`
	Number       int       `json:"number"`
	Looked       time.Time `json:"looked"`            // when the last look began
	Updated      time.Time `json:"updated"`           // of the issue then
	Comment      int64     `json:"comment,omitempty"` // our comment
	Signature    string    `json:"signature,omitempty"`
	Helpful      int       `json:"helpful,omitempty"` // reactions counted so far
	Wrong        int       `json:"wrong,omitempty"`
}

func memoryKey(repository string, number int) string {
	return fmt.Sprintf("issue:%s#%d", strings.ToLower(repository), number)
}

// snapshot is everything that one look sees.
type snapshot struct {
	visit
	owner, repo string
	client      *github.Client
	settings    cachedSettings
	memory      memory
	comments    []*github.IssueComment
	ours        []*github.IssueComment
	asked       []*github.IssueComment // commands of those who may give them
	facts       map[string]string
	complaints  []string
	logs        []fetch.Log
	dir         string // for downloads
}

// Handle does one job: it reads the issue, diagnoses its logs, and sees to it that our comment says so.
func (b *Bot) Handle(ctx context.Context, job queue.Job) error {
	s := &snapshot{}
	if err := json.Unmarshal(job.Data, &s.visit); err != nil {
		return queue.Permanent(err)
	}
	s.owner, s.repo, _ = strings.Cut(s.Repository, "/")
	if err := b.act(ctx, s); err != nil {
		return err
	}
	s.client = b.client(s.Installation)
	if s.Number == 0 {
		return b.findPulls(ctx, s, job)
	}
	key := memoryKey(s.Repository, s.Number)
	if _, err := b.Store.Load(ctx, key, &s.memory); err != nil {
		return err
	}
	if since := time.Since(s.memory.Looked); since < b.Debounce && since >= 0 {
		return queue.Later(errors.New("looked at a moment ago"), b.Debounce-since)
	}
	stale := s.memory.Updated
	s.memory.Installation, s.memory.Repository, s.memory.Number, s.memory.Looked = s.Installation, s.Repository, s.Number, time.Now().UTC()
	if err := b.Store.Save(ctx, key, s.memory); err != nil {
		return err
	}
	b.noteRepository(ctx, s.Repository)
	if ok, err := b.fetch(ctx, s, stale); err != nil || !ok {
		return err
	}
	if err := b.gather(ctx, s); err != nil {
		return err
	}
	defer os.RemoveAll(s.dir)
	queue.CrashPoint("fetched")
	if err := b.answer(ctx, s); err != nil {
		return err
	}
	return b.Store.Save(ctx, key, s.memory)
}

// noteRepository keeps a repository's name for the sweep, which with a plain token cannot ask GitHub where webhooks are.
func (b *Bot) noteRepository(ctx context.Context, repository string) {
	if _, noted := b.noted.LoadOrStore(repository, true); !noted && b.App == nil {
		_ = b.Store.Save(ctx, "repository:"+repository, repository)
	}
}

// act finds the installation to act for, when the delivery did not name it.
func (b *Bot) act(ctx context.Context, s *snapshot) error {
	if b.App == nil || s.Installation != 0 {
		return nil
	}
	installation, _, err := b.asApp().Apps.FindRepositoryInstallation(ctx, s.owner, s.repo)
	if err != nil {
		return judge(fmt.Errorf("the App is not installed on %s: %w", s.Repository, err))
	}
	s.Installation = installation.GetID()
	return nil
}

// fetch reads the issue and its comments, and tells whether there is anything to do.
func (b *Bot) fetch(ctx context.Context, s *snapshot, stale time.Time) (ok bool, err error) {
	s.settings, err = b.settings(ctx, s.client, s.Repository)
	if err != nil || !s.settings.Enabled && s.settings.wrong == nil {
		return false, err
	}
	issue, _, err := s.client.Issues.Get(ctx, s.owner, s.repo, s.Number)
	switch {
	case err == nil:
		s.Body, s.Pull, s.Updated = issue.GetBody(), issue.IsPullRequest(), issue.GetUpdatedAt().Time
		s.Author = account{issue.GetUser().GetLogin(), issue.GetUser().GetType()}
	case !isStatus(err, http.StatusNotFound):
		return false, judge(err)
	case s.Updated.Before(stale):
		return false, nil // an older delivery than one already done, and GitHub does not tell what is true now
	}
	s.memory.Updated = s.Updated
	if s.Author.bot() || strings.Contains(s.Body, markerHead) {
		return false, nil
	}
	s.comments, err = b.comments(ctx, s)
	if err != nil {
		return false, err
	}
	s.ours, err = b.ownComments(ctx, s)
	if err != nil {
		return false, err
	}
	s.takeCommands()
	b.feedback(s)
	if s.settings.wrong != nil && len(s.asked) == 0 {
		b.Log.Warn("a repository's settings are wrong: it is left alone", "repository", s.Repository, "error", s.settings.wrong)
		return false, nil
	}
	return true, nil
}

// maxPages of a hundred comments are read of one issue.
const maxPages = 30

func (b *Bot) comments(ctx context.Context, s *snapshot) (all []*github.IssueComment, err error) {
	options := &github.IssueListCommentsOptions{ListOptions: github.ListOptions{PerPage: 100}}
	for range maxPages {
		page, response, err := s.client.Issues.ListComments(ctx, s.owner, s.repo, s.Number, options)
		if err != nil {
			return nil, judge(err)
		}
		all = append(all, page...)
		if response.NextPage == 0 {
			break
		}
		options.Page = response.NextPage
	}
	return all, nil
}

// takeCommands takes the commands and their facts out of the comments, the later outweighing the earlier.
func (s *snapshot) takeCommands() {
	facts := map[string]string{}
	for _, c := range s.comments {
		user := account{c.GetUser().GetLogin(), c.GetUser().GetType()}
		said, asked := command(c.GetBody())
		if !asked || user.bot() || !mayAsk(user.Login, c.GetAuthorAssociation(), s.Author.Login) {
			continue
		}
		s.asked = append(s.asked, c)
		maps.Copy(facts, said)
	}
	s.facts, s.complaints = s.settings.engine.Usable(facts)
}

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
			// Whoever reads the comment cannot mend it, so it stands in our log only; what was pasted is answered.
			b.Log.Info("a linked log was not read", "repository", s.Repository, "number", s.Number, "error", err)
			b.Metrics.Dropped(Kind, "link not read")
		}
		s.logs = append(s.logs, logs...)
	}
}

// answer diagnoses what was gathered and sees to the comment.
func (b *Bot) answer(ctx context.Context, s *snapshot) error {
	report := report.Report{Schema: report.Schema}
	if len(s.logs) > 0 {
		var err error
		report, err = s.settings.engine.Answer(ctx, s.logs, s.facts)
		if err != nil {
			return err
		}
	}
	queue.CrashPoint("diagnosed")
	b.keepBack(s, &report)
	if len(report.Diagnoses) == 0 && len(s.ours) == 0 && len(s.asked) == 0 {
		b.Metrics.Dropped(Kind, "nothing known")
		return nil
	}
	if len(s.ours) == 0 && s.memory.Comment != 0 && len(s.asked) == 0 {
		b.Metrics.Dropped(Kind, "comment removed")
		return nil // someone took our comment away: silence until asked
	}
	return b.comment(ctx, s, report)
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
