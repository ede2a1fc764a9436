package githubbot

import (
	"context"
	"fmt"
	"net/http"

	"github.com/google/go-github/v60/github"

	"github.com/gpu-triage/triage/bots"
	"github.com/gpu-triage/triage/bots/fetch"
	"github.com/gpu-triage/triage/bots/queue"
)

// How much of a failed commit is read.
const (
	maxRuns       = 5
	maxFailedJobs = 10
)

// findPulls turns a look at a commit into visits at the pull requests that it belongs to.
func (b *Bot) findPulls(ctx context.Context, s *snapshot, job queue.Job) error {
	pulls, _, err := s.client.PullRequests.ListPullRequestsWithCommit(ctx, s.owner, s.repo, s.Commit, nil)
	if err != nil {
		return judge(err)
	}
	var visits []visit
	for _, pull := range pulls {
		if pull.GetState() == "open" && len(visits) < 5 {
			to := s.visit
			to.Number, to.Commit = pull.GetNumber(), ""
			visits = append(visits, to)
		}
	}
	return b.store(ctx, job.ID+"-pulls", visits)
}

// failedJobs takes the logs of the jobs that failed for a pull request's last commit.
func (b *Bot) failedJobs(ctx context.Context, s *snapshot) error {
	pull, _, err := s.client.PullRequests.Get(ctx, s.owner, s.repo, s.Number)
	if err != nil {
		return judge(err)
	}
	runs, _, err := s.client.Actions.ListRepositoryWorkflowRuns(ctx, s.owner, s.repo, &github.ListWorkflowRunsOptions{
		HeadSHA: pull.GetHead().GetSHA(), Status: "failure", ListOptions: github.ListOptions{PerPage: maxRuns}})
	if err != nil {
		return judge(err)
	}
	for i, run := range runs.WorkflowRuns {
		if i == maxRuns || run.GetConclusion() != "failure" && run.GetConclusion() != "timed_out" {
			continue
		}
		if err := b.jobsOf(ctx, s, run.GetID()); err != nil {
			return err
		}
	}
	return nil
}

// jobsOf takes the logs of the jobs that failed in a run.
func (b *Bot) jobsOf(ctx context.Context, s *snapshot, run int64) error {
	jobs, _, err := s.client.Actions.ListWorkflowJobs(ctx, s.owner, s.repo, run,
		&github.ListWorkflowJobsOptions{Filter: "latest", ListOptions: github.ListOptions{PerPage: 100}})
	if err != nil {
		return judge(err)
	}
	for _, failed := range jobs.Jobs {
		if failed.GetConclusion() != "failure" && failed.GetConclusion() != "timed_out" || s.jobs == maxFailedJobs {
			continue
		}
		s.jobs++
		log, err := b.jobLog(ctx, s.client, s.owner, s.repo, failed.GetID(), s.dir)
		if queue.Waits(err) {
			return err
		}
		name := fmt.Sprintf("%s (job %d)", failed.GetName(), failed.GetID())
		if err != nil {
			b.Log.Info("a job's log was not read", "repository", s.Repository, "job", failed.GetID(), "error", err)
			s.unread = append(s.unread, bots.Unread(name, err))
			continue
		}
		log.Name = name
		s.logs = append(s.logs, log)
	}
	return nil
}

// jobLog fetches the log of one job from where GitHub keeps it, without our credentials.
func (b *Bot) jobLog(ctx context.Context, c *github.Client, owner, repo string, job int64, dir string) (fetch.Log, error) {
	address, response, err := c.Actions.GetWorkflowJobLogs(ctx, owner, repo, job, 2)
	if response != nil && (response.StatusCode == http.StatusGone || response.StatusCode == http.StatusNotFound) {
		return fetch.Log{}, bots.Reason{Words: fmt.Sprintf("GitHub no longer keeps the log of job %d. Run it again", job)}
	}
	if err != nil {
		return fetch.Log{}, unseen("job", err)
	}
	log, err := b.Logs.Get(ctx, address.String(), "", dir)
	log.Name = fmt.Sprintf("job %d", job)
	return log, err
}
