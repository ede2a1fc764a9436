package githubbot

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/gpu-triage/triage/bots"
	"github.com/gpu-triage/triage/bots/fetch"
	"github.com/gpu-triage/triage/bots/queue"
)

// linked fetches what an address in an issue leads to, when it is an attachment, a gist, or on a host that the operator added.
func (b *Bot) linked(ctx context.Context, c *github.Client, address, dir string) ([]fetch.Log, error) {
	if m := gist.FindStringSubmatch(address); m != nil {
		return b.gist(ctx, c, m[1], dir)
	}
	if !attachment(address) && !b.Fetch.Local(address) || picture.MatchString(address) {
		return nil, nil
	}
	log, err := b.Fetch.Get(ctx, address, "", dir)
	if err != nil {
		return nil, err
	}
	return []fetch.Log{log}, nil
}

// gist reads the files of a gist, which anybody who knows its address may.
func (b *Bot) gist(ctx context.Context, c *github.Client, id, dir string) ([]fetch.Log, error) {
	g, _, err := c.Gists.Get(ctx, id)
	if err != nil {
		return nil, unseen("gist", err)
	}
	var logs []fetch.Log
	for name, file := range g.Files {
		if len(logs) == 20 || picture.MatchString(string(name)) {
			continue
		}
		if content := file.GetContent(); len(content) >= file.GetSize() {
			logs = append(logs, fetch.Log{Name: string(name), Text: []byte(content)})
			continue
		}
		log, err := b.Fetch.Get(ctx, file.GetRawURL(), "", dir)
		if err != nil {
			return logs, err
		}
		log.Name = string(name)
		logs = append(logs, log)
	}
	return logs, nil
}

var (
	issueLink = regexp.MustCompile(`^https://github\.com/([\w.-]+)/([\w.-]+)/(?:issues|pull)/(\d+)(?:#issuecomment-(\d+))?`)
	jobLink   = regexp.MustCompile(`^https://github\.com/([\w.-]+)/([\w.-]+)/actions/runs/(\d+)(?:/(?:attempts/\d+/)?job/(\d+))?`)
	blobLink  = regexp.MustCompile(`^https://github\.com/([\w.-]+)/([\w.-]+)/blob/(.+)$`)
)

// ErrPrivate says that somebody outside of GitHub asked for what only some may read there.
var ErrPrivate error = bots.Reason{Words: "that repository is private. Ask there, with a comment `/triage`"}

// unseen says in words what an error of GitHub's means for somebody who gave a link.
func unseen(what string, err error) error {
	err = judge(err)
	var end over
	switch {
	case queue.Waits(err):
		return err
	case errors.As(err, &end), isStatus(err, http.StatusForbidden, http.StatusUnprocessableEntity):
		return bots.Reason{Words: "GitHub shows me no such " + what + ": it is private, or not there. Paste the log, or ask there with a comment `/triage`", Cause: err}
	}
	return bots.Reason{Words: "GitHub has trouble just now. Try again later, or paste the log", Cause: err}
}

// Read fetches the logs behind a link to GitHub that somebody gave elsewhere: an issue, a comment, a gist, a CI job, a file. Of
// repositories only public ones, since our token may read more than whoever asks. Ok is false for an address that is not GitHub's.
func (b *Bot) Read(ctx context.Context, address, dir string) (logs []fetch.Log, ok bool, err error) {
	u, err := url.Parse(address)
	if err != nil || u.Host != "github.com" && u.Host != "gist.github.com" && !strings.HasSuffix(u.Host, ".githubusercontent.com") {
		return nil, false, nil
	}
	if m := issueLink.FindStringSubmatch(address); m != nil {
		logs, err = b.readIssue(ctx, m[1], m[2], m[3], m[4], dir)
		return logs, true, err
	}
	if m := jobLink.FindStringSubmatch(address); m != nil {
		logs, err = b.readJobs(ctx, m[1], m[2], m[3], m[4], dir)
		return logs, true, err
	}
	if m := blobLink.FindStringSubmatch(address); m != nil {
		address = "https://raw.githubusercontent.com/" + m[1] + "/" + m[2] + "/" + m[3]
	}
	logs, err = b.linked(ctx, b.client(0), address, dir)
	return logs, true, err
}

// public returns a client for a repository that everybody may read.
func (b *Bot) public(ctx context.Context, owner, repo string) (*github.Client, error) {
	c := b.client(0)
	if app := b.asApp(); app != nil {
		if installation, _, err := app.Apps.FindRepositoryInstallation(ctx, owner, repo); err == nil {
			c = b.client(installation.GetID())
		}
	}
	repository, _, err := c.Repositories.Get(ctx, owner, repo)
	if err != nil {
		return nil, unseen("repository", err)
	}
	if repository.GetPrivate() || repository.GetVisibility() != "" && repository.GetVisibility() != "public" {
		return nil, ErrPrivate
	}
	return c, nil
}

func (b *Bot) readIssue(ctx context.Context, owner, repo, number, comment, dir string) ([]fetch.Log, error) {
	c, err := b.public(ctx, owner, repo)
	if err != nil {
		return nil, err
	}
	body, name := "", fmt.Sprintf("%s/%s#%s", owner, repo, number)
	if comment != "" {
		id, _ := strconv.ParseInt(comment, 10, 64)
		said, _, err := c.Issues.GetComment(ctx, owner, repo, id)
		if err != nil {
			return nil, unseen("comment", err)
		}
		body, name = said.GetBody(), name+" comment "+comment
	} else {
		n, _ := strconv.Atoi(number)
		issue, _, err := c.Issues.Get(ctx, owner, repo, n)
		if err != nil {
			return nil, unseen("issue", err)
		}
		body = issue.GetBody()
	}
	s := &snapshot{visit: visit{Repository: owner + "/" + repo}, client: c, dir: dir}
	b.text(ctx, s, name, body)
	if len(s.logs) == 0 && len(s.unread) > 0 {
		return nil, bots.Reason{Words: "there is no log in it but in what it links. " + strings.TrimSuffix(s.unread[0], ".")}
	}
	return s.logs, nil
}

func (b *Bot) readJobs(ctx context.Context, owner, repo, run, job, dir string) ([]fetch.Log, error) {
	c, err := b.public(ctx, owner, repo)
	if err != nil {
		return nil, err
	}
	var ids []int64
	if job != "" {
		id, _ := strconv.ParseInt(job, 10, 64)
		ids = append(ids, id)
	} else {
		id, _ := strconv.ParseInt(run, 10, 64)
		jobs, _, err := c.Actions.ListWorkflowJobs(ctx, owner, repo, id, &github.ListWorkflowJobsOptions{Filter: "latest"})
		if err != nil {
			return nil, unseen("workflow run", err)
		}
		for _, j := range jobs.Jobs {
			if j.GetConclusion() == "failure" && len(ids) < maxFailedJobs {
				ids = append(ids, j.GetID())
			}
		}
	}
	var logs []fetch.Log
	for _, id := range ids {
		log, err := b.jobLog(ctx, c, owner, repo, id, dir)
		if err != nil {
			return logs, err
		}
		logs = append(logs, log)
	}
	return logs, nil
}

func ownerOf(repository string) (owner, repo string) {
	owner, repo, _ = strings.Cut(repository, "/")
	return owner, repo
}

// nameOf is what people call a linked file.
func nameOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || path.Base(u.Path) == "." || path.Base(u.Path) == "/" {
		return "the linked file"
	}
	return path.Base(u.Path)
}
