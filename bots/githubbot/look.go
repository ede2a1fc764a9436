package githubbot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/gpu-triage/triage/bots/fetch"
	"github.com/gpu-triage/triage/bots/queue"
)

// memory is what is kept of an issue between looks.
type memory struct {
	Installation int64     `json:"installation,omitempty"`
	Repository   string    `json:"repository"`
	Number       int       `json:"number"`
	Looked       time.Time `json:"looked"`             // when the last look began
	Updated      time.Time `json:"updated"`            // of the issue then
	Comment      int64     `json:"comment,omitempty"`  // our comment
	Removed      time.Time `json:"removed,omitzero"`   // when it was last seen to be gone
	Folded       bool      `json:"folded,omitempty"`   // it was minimised by us
	Answered     int64     `json:"answered,omitempty"` // the last command that was answered
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
	commands
	owner, repo string
	client      *github.Client
	settings    cachedSettings
	memory      memory
	locked      bool
	comments    []*github.IssueComment
	ours        []*github.IssueComment
	facts       map[string]string
	complaints  []string
	unread      []string // what was linked and could not be read, in words
	logs        []fetch.Log
	jobs        int    // that failed and were read
	dir         string // for downloads
}

// Handle does one job: it reads the issue, diagnoses its logs, and sees to it that our comment says so.
func (b *Bot) Handle(ctx context.Context, job queue.Job) error {
	s := &snapshot{}
	if err := json.Unmarshal(job.Data, &s.visit); err != nil {
		return queue.Permanent(err)
	}
	s.owner, s.repo = ownerOf(s.Repository)
	err := b.look(ctx, s, job)
	b.tell(ctx, s.Installation)
	var end over
	if errors.As(err, &end) {
		b.Metrics.Dropped(Kind, string(end))
		b.Log.Info("a look ended", "delivery", job.ID, "repository", s.Repository, "number", s.Number, "reason", err)
		return nil
	}
	return err
}

// look does what a visit asks for.
func (b *Bot) look(ctx context.Context, s *snapshot, job queue.Job) error {
	if err := b.act(ctx, s); err != nil {
		return err
	}
	if err := b.awaited(ctx, s.Installation); err != nil {
		return err
	}
	s.client = b.client(s.Installation)
	switch {
	case s.Receipt:
		return b.receipt(ctx, s, job)
	case s.Run != 0:
		return b.check(ctx, s)
	case s.Number == 0:
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
	err := b.seeTo(ctx, s, job, stale)
	var end over
	if err == nil || errors.As(err, &end) {
		if err := b.Store.Save(ctx, key, s.memory); err != nil {
			return err
		}
	}
	return err
}

// seeTo reads an issue and answers it.
func (b *Bot) seeTo(ctx context.Context, s *snapshot, job queue.Job, stale time.Time) error {
	if err := b.fetch(ctx, s, job, stale); err != nil {
		return err
	}
	if err := b.welcome(ctx, s); err != nil {
		return err
	}
	if err := b.gather(ctx, s); err != nil {
		return err
	}
	defer os.RemoveAll(s.dir)
	queue.CrashPoint("fetched")
	return b.answer(ctx, s)
}

// noteRepository keeps a repository's name for the sweep, which with a plain token cannot ask GitHub where webhooks are.
func (b *Bot) noteRepository(ctx context.Context, repository string) {
	if _, noted := b.noted.LoadOrStore(repository, true); !noted && b.App == nil {
		_ = b.Store.Save(ctx, "repository:"+repository, repository)
	}
}

// act finds the installation to act for, when the delivery did not name it.
func (b *Bot) act(ctx context.Context, s *snapshot) error {
	if b.App == nil {
		s.Installation = 0
	}
	if b.App == nil || s.Installation != 0 {
		return nil
	}
	installation, _, err := b.asApp().Apps.FindRepositoryInstallation(ctx, s.owner, s.repo)
	if gone(err) {
		return fmt.Errorf("%w on %s: %w", overUninstall, s.Repository, err)
	}
	if err != nil {
		return judge(err)
	}
	s.Installation = installation.GetID()
	return nil
}

// fetch reads the settings, the issue and its comments.
func (b *Bot) fetch(ctx context.Context, s *snapshot, job queue.Job, stale time.Time) (err error) {
	s.settings, err = b.settings(ctx, s.client, s.Repository)
	if err != nil {
		return err
	}
	if !s.settings.Enabled && s.settings.wrong == nil {
		return overOptedOut
	}
	issue, response, err := s.client.Issues.Get(ctx, s.owner, s.repo, s.Number)
	switch {
	case err == nil && redirected(response, s):
		return b.follow(ctx, s, job, issue)
	case err == nil:
		s.Body, s.Pull, s.Updated, s.locked = issue.GetBody(), issue.IsPullRequest(), issue.GetUpdatedAt().Time, issue.GetLocked()
		s.Author = account{issue.GetUser().GetLogin(), issue.GetUser().GetType()}
	case gone(err) || !isStatus(err, http.StatusNotFound):
		return judge(err)
	case s.Updated.Before(stale):
		return overStale // and GitHub does not tell what is true now
	}
	s.memory.Updated = s.Updated
	s.comments, err = b.comments(ctx, s, time.Time{})
	if err != nil {
		return err
	}
	s.ours, err = b.ownComments(ctx, s, s.comments)
	if err != nil {
		return err
	}
	s.commands = commandsIn(s.comments, s.Author.Login)
	s.facts, s.complaints = s.settings.engine.Usable(s.given)
	b.feedback(s)
	return nil
}

// redirected tells whether GitHub answered with what stands elsewhere now.
func redirected(response *github.Response, s *snapshot) bool {
	return response.Request != nil && !strings.HasSuffix(response.Request.URL.Path, fmt.Sprintf("/repos/%s/issues/%d", s.Repository, s.Number))
}

// follow looks again under a repository's new name. An issue that somebody moved to another repository is left alone: nobody asked there.
func (b *Bot) follow(ctx context.Context, s *snapshot, job queue.Job, issue *github.Issue) error {
	if issue.GetNumber() != s.Number || strings.HasSuffix(job.ID, "-renamed") {
		return overMoved
	}
	repository, _, err := s.client.Repositories.Get(ctx, s.owner, s.repo)
	if err != nil {
		return judge(err)
	}
	to, name := s.visit, repository.GetFullName()
	if name == "" || strings.EqualFold(name, s.Repository) {
		return overMoved
	}
	to.Repository = name
	return b.store(ctx, job.ID+"-renamed", []visit{to})
}

// welcome returns why nothing is to be said, or nil. A new command of somebody who may asks for an answer where silence is the rule.
func (b *Bot) welcome(ctx context.Context, s *snapshot) error {
	if s.off {
		b.fold(ctx, s, true)
		return overOff
	}
	removed := len(s.ours) == 0 && s.memory.Comment != 0
	switch {
	case s.pending():
		return nil
	case s.settings.wrong != nil:
		return overSettings
	case s.Author.bot():
		return overBot
	case strings.Contains(s.Body, markerHead):
		return overReport
	case s.locked:
		return overLocked
	case removed:
		s.memory.Removed = time.Now().UTC()
		return overRemoved
	}
	return nil
}

// maxPages of a hundred comments are read of one issue.
const maxPages = 30

// comments are those of an issue that were written or edited since then, the oldest first; the zero time asks for all.
func (b *Bot) comments(ctx context.Context, s *snapshot, since time.Time) (all []*github.IssueComment, err error) {
	options := &github.IssueListCommentsOptions{ListOptions: github.ListOptions{PerPage: 100}}
	if !since.IsZero() {
		options.Since = &since
	}
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
