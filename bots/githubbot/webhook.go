package githubbot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/gpu-triage/triage/bots"
	"github.com/gpu-triage/triage/bots/queue"
)

// maxPayload is the most that GitHub sends, in bytes.
const maxPayload = 25 << 20

// event is what is read of a webhook's payload.
type event struct {
	Action string `json:"action"`
	Issue  *struct {
		Number      int             `json:"number"`
		Title       string          `json:"title"`
		Body        string          `json:"body"`
		User        account         `json:"user"`
		UpdatedAt   time.Time       `json:"updated_at"`
		PullRequest json.RawMessage `json:"pull_request"`
	} `json:"issue"`
	Comment *struct {
		ID          int64   `json:"id"`
		Body        string  `json:"body"`
		User        account `json:"user"`
		Association string  `json:"author_association"`
	} `json:"comment"`
	WorkflowRun *struct {
		ID           int64  `json:"id"`
		Name         string `json:"name"`
		Attempt      int    `json:"run_attempt"`
		Conclusion   string `json:"conclusion"`
		HeadSHA      string `json:"head_sha"`
		PullRequests []struct {
			Number int `json:"number"`
		} `json:"pull_requests"`
	} `json:"workflow_run"`
	Repository struct {
		FullName string `json:"full_name"`
	} `json:"repository"`
	Installation struct {
		ID int64 `json:"id"`
	} `json:"installation"`
	Sender account `json:"sender"`
}

// account is who did something.
type account struct {
	Login string `json:"login"`
	Type  string `json:"type"`
}

func (a account) bot() bool { return a.Type == "Bot" || strings.HasSuffix(a.Login, "[bot]") }

// visit is the data of a job: where to look, and what the delivery said in case that GitHub does not tell it again.
type visit struct {
	Installation int64     `json:"installation,omitempty"`
	Repository   string    `json:"repository"`
	Number       int       `json:"number,omitempty"`  // of the issue or pull request
	Command      int64     `json:"command,omitempty"` // the comment that asks
	Receipt      bool      `json:"receipt,omitempty"` // acknowledge Command, then look
	Run          int64     `json:"run,omitempty"`     // a failed run that gets a check run, of Commit
	Attempt      int       `json:"attempt,omitempty"` // at that run
	Passed       bool      `json:"passed,omitempty"`  // it passed at that attempt
	Workflow     string    `json:"workflow,omitempty"`
	Commit       string    `json:"commit,omitempty"` // of a failed run; without Run, the pull request has to be found first
	Action       string    `json:"action"`
	Body         string    `json:"body,omitempty"`
	Author       account   `json:"author"`
	Pull         bool      `json:"pull,omitempty"`
	Updated      time.Time `json:"updated"`
}

// ServeHTTP takes a webhook delivery: 200 once what it asks for is stored or when it asks for nothing.
func (b *Bot) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxPayload))
	if tooLarge := (&http.MaxBytesError{}); errors.As(err, &tooLarge) {
		http.Error(w, "the payload is too large", http.StatusRequestEntityTooLarge)
		return
	}
	if errors.Is(err, bots.ErrBusy) {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	if err != nil {
		http.Error(w, "the body cannot be read", http.StatusBadRequest)
		return
	}
	if !b.signed(body, r.Header.Get("X-Hub-Signature-256")) {
		b.Metrics.Dropped(Kind, "signature")
		http.Error(w, "the signature X-Hub-Signature-256 is missing or wrong", http.StatusUnauthorized)
		return
	}
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		http.Error(w, "set the webhook's content type to application/json", http.StatusUnsupportedMediaType)
		return
	}
	delivery := r.Header.Get("X-GitHub-Delivery")
	if delivery == "" || len(delivery) > 200 {
		http.Error(w, "X-GitHub-Delivery is missing", http.StatusBadRequest)
		return
	}
	var e event
	if err := json.Unmarshal(body, &e); err != nil {
		http.Error(w, "the payload is no JSON of a webhook", http.StatusBadRequest)
		return
	}
	queue.CrashPoint("received")
	visits, ignored := e.visits(r.Header.Get("X-GitHub-Event"))
	if ignored == "" && b.Limits.Wait(strings.ToLower(e.Repository.FullName)) > 0 {
		ignored = "limit"
	}
	if ignored != "" {
		b.Metrics.Dropped(Kind, ignored)
		fmt.Fprintln(w, "nothing to do:", ignored)
		return
	}
	if err := b.store(r.Context(), delivery, visits); err != nil {
		b.Log.Error("a delivery could not be stored", "delivery", delivery, "error", err)
		http.Error(w, "cannot be stored just now", http.StatusServiceUnavailable)
		return
	}
	queue.CrashPoint("stored")
	fmt.Fprintln(w, "stored")
}

func (b *Bot) store(ctx context.Context, delivery string, visits []visit) error {
	for i, l := range visits {
		data, err := json.Marshal(l)
		if err != nil {
			return err
		}
		job := queue.Job{ID: delivery, Kind: Kind, Key: l.key(), Data: data}
		if i > 0 {
			job.ID = fmt.Sprintf("%s-%d", delivery, i)
		}
		if err := b.Queue.Add(ctx, job); err != nil {
			return err
		}
	}
	return nil
}

// key is what a visit is about.
func (l visit) key() string {
	switch {
	case l.Receipt:
		return fmt.Sprintf("%s#%d command %d", l.Repository, l.Number, l.Command)
	case l.Run != 0:
		return l.Repository + " run " + l.attempt()
	}
	return fmt.Sprintf("%s#%d%s", l.Repository, l.Number, l.Commit)
}

// signed checks the SHA-256 signature over the raw body. The library takes GitHub's old SHA-1 too, and an empty secret.
func (b *Bot) signed(body []byte, signature string) bool {
	return b.Secret != "" && strings.HasPrefix(signature, "sha256=") && github.ValidateSignature(signature, body, []byte(b.Secret)) == nil
}

// visits tells where an event asks to look, or why it asks nothing.
func (e event) visits(kind string) (visits []visit, ignored string) {
	to := visit{Installation: e.Installation.ID, Repository: e.Repository.FullName, Action: kind + "." + e.Action}
	if owner, name, ok := strings.Cut(to.Repository, "/"); !ok || owner == "" || name == "" || strings.ContainsAny(to.Repository, "?#% ") {
		return nil, "no repository"
	}
	if e.Sender.bot() {
		return nil, "sent by a bot"
	}
	if e.Issue != nil {
		to.Number, to.Body, to.Author, to.Updated = e.Issue.Number, e.Issue.Body, e.Issue.User, e.Issue.UpdatedAt
		to.Pull = len(e.Issue.PullRequest) > 0 && string(e.Issue.PullRequest) != "null"
		to.Body = to.Body[:min(len(to.Body), 300_000)]
	}
	switch {
	case kind == "issues" && e.Issue != nil:
		return e.issue(to)
	case kind == "issue_comment" && e.Issue != nil && e.Comment != nil:
		return e.comment(to)
	case kind == "workflow_run" && e.WorkflowRun != nil && e.Action == "completed":
		return e.runs(to)
	}
	return nil, notOurs
}

// notOurs is why most events ask nothing.
const notOurs = "not an event to act on"

// issue is a visit to an issue that a person wrote.
func (e event) issue(to visit) (visits []visit, ignored string) {
	switch {
	case !slices.Contains([]string{"opened", "edited", "reopened"}, e.Action):
		return nil, notOurs
	case e.Issue.User.bot():
		return nil, "written by a bot"
	}
	return []visit{to}, ""
}

// comment is a visit to an issue where somebody who may asked for it.
func (e event) comment(to visit) (visits []visit, ignored string) {
	_, asked := commandIn(e.Comment.Body)
	switch {
	case !slices.Contains([]string{"created", "edited"}, e.Action):
		return nil, notOurs
	case !asked:
		return nil, "no command"
	case e.Comment.User.bot(), !mayAsk(e.Comment.User.Login, e.Comment.Association, e.Issue.User.Login):
		return nil, "not allowed"
	}
	to.Command, to.Receipt = e.Comment.ID, true
	return []visit{to}, ""
}

// runs are the visits that a failed run asks for: one to its commit, for a check run, and those to its pull requests. Of a fork's, GitHub
// names none: they are found by the commit. One that passed when it was run again makes the check run outdated.
func (e event) runs(to visit) (visits []visit, ignored string) {
	run := e.WorkflowRun
	commit, failed := run.HeadSHA, run.Conclusion == "failure" || run.Conclusion == "timed_out"
	known := len(commit) >= 40 && len(commit) <= 64 && strings.Trim(commit, "0123456789abcdef") == ""
	check := to
	check.Run, check.Attempt, check.Commit, check.Workflow = run.ID, run.Attempt, commit, run.Name[:min(len(run.Name), 100)]
	switch {
	case run.Conclusion == "success" && run.Attempt > 1 && known && run.ID != 0:
		check.Passed = true
		return []visit{check}, ""
	case !failed:
		return nil, "the run did not fail"
	case known && run.ID != 0:
		visits = append(visits, check)
	}
	to.Pull = true
	for _, pull := range run.PullRequests {
		to.Number = pull.Number
		visits = append(visits, to)
	}
	if len(run.PullRequests) == 0 && known {
		to.Commit = commit
		visits = append(visits, to)
	}
	if len(visits) == 0 {
		return nil, "no pull request"
	}
	return visits, ""
}

// mayAsk tells whether someone may run the bot on an issue: its author, and who belongs to the repository.
func mayAsk(login, association, author string) bool {
	return belongs(association) || login != "" && strings.EqualFold(login, author)
}

// belongs tells whether somebody belongs to a repository, by what GitHub says of the author of a comment.
func belongs(association string) bool {
	return slices.Contains([]string{"OWNER", "MEMBER", "COLLABORATOR"}, association)
}
