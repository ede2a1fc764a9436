package githubbot

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"path"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/gpu-triage/triage/bots/queue"
	"github.com/gpu-triage/triage/matcher/render"
	"github.com/gpu-triage/triage/matcher/report"
)

// Limits of a check run. https://docs.github.com/rest/checks/runs
const (
	maxAnnotations = 50 // of a request
	maxSummary     = 65_000
	maxAttempts    = 10 // of which the check runs are marked as outdated
)

// check sees to the check run of a failed workflow run. An App that may not make any, or not read logs, leaves it at that.
func (b *Bot) check(ctx context.Context, s *snapshot) error {
	do := b.checkRun
	if s.Passed {
		do = b.outdate
	}
	err := do(ctx, s)
	if isStatus(err, http.StatusForbidden) {
		return fmt.Errorf("%w: %w", overForbidden, err)
	}
	return err
}

// checkRun puts the cause of a failed workflow run beside it, with annotations at the lines of the repository's own code. It is neutral: the
// run itself says that it failed. Where no cause is known, there is none.
func (b *Bot) checkRun(ctx context.Context, s *snapshot) (err error) {
	if b.App == nil {
		return overNoApp // GitHub takes check runs from Apps alone
	}
	s.settings, err = b.settings(ctx, s.client, s.Repository)
	switch {
	case err != nil:
		return err
	case s.settings.wrong != nil:
		return overSettings
	case !s.settings.Enabled || !s.settings.Checks:
		return overOptedOut
	}
	s.dir, err = os.MkdirTemp(b.Data, "look")
	if err != nil {
		return err
	}
	defer os.RemoveAll(s.dir)
	if err := b.jobsOf(ctx, s, s.Run); err != nil {
		return err
	}
	if len(s.logs) == 0 {
		return overUnknown
	}
	queue.CrashPoint("fetched")
	answer, err := s.settings.engine.Answer(ctx, s.logs, nil)
	if err != nil {
		return err
	}
	b.keepBack(s, &answer)
	if len(answer.Diagnoses) == 0 {
		return overUnknown
	}
	return b.showCheck(ctx, s, answer)
}

// showCheck makes the check run of a workflow run, or changes the one that is there.
func (b *Bot) showCheck(ctx context.Context, s *snapshot, answer report.Report) error {
	page, err := b.page(ctx, s.key(), answer)
	if err != nil {
		return err
	}
	key, made := "check:"+s.key(), madeCheck{}
	again, err := b.Store.Load(ctx, key, &made)
	if err != nil {
		return err
	}
	if again && made.ID == 0 { // a kill came between
		made, err = b.ownCheck(ctx, s)
		if err != nil {
			return err
		}
	}
	annotations := b.annotations(ctx, s, answer)
	for made.ID == 0 || made.Shown < len(annotations) {
		if err := b.Store.Save(ctx, key, made); err != nil {
			return err
		}
		some := annotations[made.Shown:min(len(annotations), made.Shown+maxAnnotations)]
		made.ID, err = b.putCheck(ctx, s, made.ID, page, output(answer, some))
		if err != nil {
			return judge(err)
		}
		made.Shown += len(some)
		queue.CrashPoint("after-check")
	}
	b.Metrics.Answered(Kind, answer)
	return b.Store.Save(ctx, key, made)
}

// outdate says in the check runs of earlier attempts that they no longer matter.
func (b *Bot) outdate(ctx context.Context, s *snapshot) error {
	title := fmt.Sprintf("Outdated: attempt %d passed", s.Attempt)
	summary := "What stood here was about an earlier attempt."
	for earlier := max(1, s.Attempt-maxAttempts); earlier < s.Attempt; earlier++ {
		before, made := s.visit, madeCheck{}
		before.Attempt = earlier
		if _, err := b.Store.Load(ctx, "check:"+before.key(), &made); err != nil {
			return err
		}
		if made.ID == 0 {
			continue
		}
		_, _, err := s.client.Checks.UpdateCheckRun(ctx, s.owner, s.repo, made.ID, github.UpdateCheckRunOptions{Name: s.checkName(),
			Status: github.String("completed"), Conclusion: github.String("skipped"), Output: &github.CheckRunOutput{Title: &title, Summary: &summary}})
		if err != nil {
			return judge(err)
		}
	}
	return nil
}

// madeCheck is what there is of the check run of an attempt at a workflow run. It is kept before each step, since GitHub adds annotations and
// takes none away.
type madeCheck struct {
	ID    int64 `json:"id"`
	Shown int   `json:"shown"` // annotations
}

func (s *snapshot) checkName() string {
	return strings.TrimSpace("triage " + render.Line(s.Workflow))
}

// ownCheck finds the check run that an earlier look made which did not come to keep its id; 0 when there is none.
func (b *Bot) ownCheck(ctx context.Context, s *snapshot) (made madeCheck, err error) {
	name := s.checkName()
	list, _, err := s.client.Checks.ListCheckRunsForRef(ctx, s.owner, s.repo, s.Commit,
		&github.ListCheckRunsOptions{CheckName: &name, AppID: &b.App.id, ListOptions: github.ListOptions{PerPage: 100}})
	if err != nil {
		return made, judge(err)
	}
	for _, run := range list.CheckRuns {
		if run.GetExternalID() == s.attempt() {
			made = madeCheck{run.GetID(), run.GetOutput().GetAnnotationsCount()}
		}
	}
	return made, nil
}

// attempt names a workflow run and the attempt at it.
func (l visit) attempt() string { return fmt.Sprintf("%d/%d", l.Run, l.Attempt) }

// putCheck writes a check run, or adds annotations to one, and returns its id.
func (b *Bot) putCheck(ctx context.Context, s *snapshot, id int64, page string, shown *github.CheckRunOutput) (int64, error) {
	var details *string
	if page != "" {
		details = &page
	}
	if id != 0 {
		_, _, err := s.client.Checks.UpdateCheckRun(ctx, s.owner, s.repo, id, github.UpdateCheckRunOptions{
			Name: s.checkName(), DetailsURL: details, Status: github.String("completed"), Conclusion: github.String("neutral"), Output: shown})
		return id, err
	}
	made, _, err := s.client.Checks.CreateCheckRun(ctx, s.owner, s.repo, github.CreateCheckRunOptions{
		Name: s.checkName(), HeadSHA: s.Commit, DetailsURL: details, ExternalID: github.String(s.attempt()),
		Status: github.String("completed"), Conclusion: github.String("neutral"), Output: shown})
	return made.GetID(), err
}

func output(answer report.Report, annotations []*github.CheckRunAnnotation) *github.CheckRunOutput {
	title := cut(cmp.Or(render.Line(answer.Diagnoses[0].Title), answer.Diagnoses[0].ID), 200)
	summary := render.Markdown(&answer, maxSummary)
	return &github.CheckRunOutput{Title: &title, Summary: &summary, Annotations: annotations}
}

// annotations are those of an answer at lines of the repository.
func (b *Bot) annotations(ctx context.Context, s *snapshot, answer report.Report) (all []*github.CheckRunAnnotation) {
	files, err := b.tree(ctx, s)
	inside := func(file string) (string, bool) { return inTree(file, files) }
	if err != nil {
		b.Log.Info("the files of a repository were not read", "repository", s.Repository, "error", err)
		inside = func(file string) (string, bool) { return inCheckout(file, s.repo) }
	}
	placed := withPytest(answer, s.logs)
	for _, a := range render.Annotations(&placed, inside) {
		level := "warning"
		if a.Certain {
			level = "failure"
		}
		all = append(all, &github.CheckRunAnnotation{Path: &a.File, StartLine: &a.Line, EndLine: &a.Line, AnnotationLevel: &level, Title: &a.Title, Message: &a.Message})
	}
	return all
}

// tree are the files of the commit.
func (b *Bot) tree(ctx context.Context, s *snapshot) (map[string]bool, error) {
	tree, _, err := s.client.Git.GetTree(ctx, s.owner, s.repo, s.Commit, true)
	if err != nil {
		return nil, err
	}
	if tree.GetTruncated() {
		return nil, fmt.Errorf("the tree of %s is too large", s.Commit)
	}
	files := map[string]bool{}
	for _, entry := range tree.Entries {
		if entry.GetType() == "blob" {
			files[entry.GetPath()] = true
		}
	}
	return files, nil
}

// inTree finds the file of a repository that a frame names, wherever a machine had checked it out: the longest end of the path that is one.
// A package that was installed is none, even where the repository has a file of that name.
func inTree(file string, files map[string]bool) (string, bool) {
	file = slashed(file)
	if installed(file) {
		return "", false
	}
	for rest := strings.TrimPrefix(file, "/"); ; {
		if files[rest] {
			return rest, true
		}
		_, after, more := strings.Cut(rest, "/")
		if !more {
			return "", false
		}
		rest = after
	}
}

// inCheckout is inTree where the files are not known: a repository is mostly checked out below a folder of its name, as GitHub's runners do,
// or below a folder named workspace, as its containers do.
// https://docs.github.com/actions/reference/workflows-and-actions/variables
func inCheckout(file, repository string) (string, bool) {
	file = slashed(file)
	if installed(file) {
		return "", false
	}
	for _, folder := range []string{"/" + repository + "/", "/workspace/"} {
		if at := strings.LastIndex(file, folder); at >= 0 {
			return file[at+len(folder):], true
		}
	}
	return file, !path.IsAbs(file) && !strings.HasPrefix(file, "..") && !strings.HasPrefix(file, "<") && !strings.Contains(file, ":")
}

func slashed(file string) string { return path.Clean(strings.ReplaceAll(file, `\`, "/")) }

func installed(file string) bool {
	return strings.Contains(file, "/site-packages/") || strings.Contains(file, "/dist-packages/")
}
