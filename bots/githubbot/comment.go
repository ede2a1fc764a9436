package githubbot

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gpu-triage/triage/matcher/report"

	"github.com/google/go-github/v60/github"

	"github.com/gpu-triage/triage/bots"
	"github.com/gpu-triage/triage/bots/queue"
	"github.com/gpu-triage/triage/matcher/render"
)

// markerHead begins the hidden line by which our comment is found again. A seal follows that only we can make.
const markerHead = "<!-- triage:report "

// maxComment leaves room for our own lines within GitHub's limit.
const maxComment = render.GitHubLimit - 4096

func (b *Bot) marker(ctx context.Context, s *snapshot) (string, error) {
	seal, err := b.Store.Seal(ctx, "marker", strings.ToLower(s.Repository), fmt.Sprint(s.Number))
	return markerHead + seal + " -->", err
}

// ownComments finds our comments among others by marker and author. Where GitHub does not tell who we are, the marker must bear our seal.
func (b *Bot) ownComments(ctx context.Context, s *snapshot, among []*github.IssueComment) (ours []*github.IssueComment, err error) {
	marker, err := b.marker(ctx, s)
	if err != nil {
		return nil, err
	}
	me := b.me(ctx)
	for _, c := range among {
		body := strings.TrimLeft(c.GetBody(), " \r\n")
		sealed := strings.HasPrefix(body, marker)
		if me != "" && strings.HasPrefix(body, markerHead) && strings.EqualFold(c.GetUser().GetLogin(), me) || me == "" && sealed {
			ours = append(ours, c)
		}
	}
	return ours, nil
}

// page keeps a report and gives the address of its page; "" when it names nothing, or people do not reach this server. key is the question, as
// [bots.Reports.Save] has it.
func (b *Bot) page(ctx context.Context, key string, report report.Report) (string, error) {
	if b.PublicURL == "" || len(report.Diagnoses) == 0 {
		return "", nil
	}
	id, err := b.Reports.Save(ctx, key, report)
	return bots.ReportURL(b.PublicURL, id), err
}

// comment writes or edits our one comment.
func (b *Bot) comment(ctx context.Context, s *snapshot, report report.Report) error {
	marker, err := b.marker(ctx, s)
	if err != nil {
		return err
	}
	page, err := b.page(ctx, memoryKey(s.Repository, s.Number), report)
	if err != nil {
		return err
	}
	body := marker + "\n" + s.compose(report, page)
	queue.CrashPoint("before-post")
	changed, err := b.post(ctx, s, body)
	if err != nil {
		return judge(err)
	}
	queue.CrashPoint("after-post")
	if err := b.tidy(ctx, s, report); err != nil {
		return judge(err)
	}
	b.fold(ctx, s, s.outdated(report))
	s.memory.Signature = ""
	if len(report.Diagnoses) > 0 {
		s.memory.Signature = report.Diagnoses[0].ID
	}
	if changed {
		b.Metrics.Answered(Kind, report)
	}
	return nil
}

// post creates our comment, or edits it when it says something else.
func (b *Bot) post(ctx context.Context, s *snapshot, body string) (changed bool, err error) {
	if len(s.ours) == 0 {
		created, _, err := s.client.Issues.CreateComment(ctx, s.owner, s.repo, s.Number, &github.IssueComment{Body: &body})
		if err != nil {
			return false, err
		}
		s.memory.Comment, s.memory.Removed, s.memory.Folded = created.GetID(), time.Time{}, false
		if login := created.GetUser().GetLogin(); login != "" && b.me(ctx) == "" {
			b.remember(ctx, login)
		}
		return true, b.meet(ctx, s, created)
	}
	s.memory.Comment, s.memory.Removed = s.ours[0].GetID(), time.Time{}
	if strings.TrimSpace(s.ours[0].GetBody()) == strings.TrimSpace(body) {
		return false, nil
	}
	_, _, err = s.client.Issues.EditComment(ctx, s.owner, s.repo, s.memory.Comment, &github.IssueComment{Body: &body})
	if gone(err) {
		s.memory.Removed = time.Now().UTC()
		return false, fmt.Errorf("%w: %w", overRemoved, err)
	}
	return err == nil, err
}

// meetSpan is how long before ours another worker's comment may have been written that did not know of ours.
const meetSpan = 10 * time.Minute

// meet looks whether another worker wrote a comment at the same moment: one that was too slow to keep its lease may be in the midst of it. The
// oldest stays.
func (b *Bot) meet(ctx context.Context, s *snapshot, created *github.IssueComment) error {
	since := created.GetCreatedAt().Time
	if !since.IsZero() {
		since = since.Add(-meetSpan)
	}
	written, err := b.comments(ctx, s, since)
	if err != nil {
		return err
	}
	s.ours, err = b.ownComments(ctx, s, written)
	if len(s.ours) > 0 {
		s.memory.Comment = s.ours[0].GetID()
	}
	return err
}

// tidy removes what an accident left double, and sets labels.
func (b *Bot) tidy(ctx context.Context, s *snapshot, report report.Report) error {
	for i, extra := range s.ours {
		if i == 0 {
			continue
		}
		if _, err := s.client.Issues.DeleteComment(ctx, s.owner, s.repo, extra.GetID()); err != nil && !isStatus(err, http.StatusNotFound) {
			return err
		}
	}
	if len(report.Diagnoses) > 0 && len(s.settings.Labels) > 0 {
		if _, _, err := s.client.Issues.AddLabelsToIssue(ctx, s.owner, s.repo, s.Number, s.settings.Labels); err != nil {
			b.Log.Warn("labels were not set", "repository", s.Repository, "number", s.Number, "error", err)
		}
	}
	return nil
}

// compose writes the comment below the marker.
func (s *snapshot) compose(report report.Report, page string) string {
	var out strings.Builder
	switch {
	case s.settings.wrong != nil:
		fmt.Fprintf(&out, "I cannot follow this repository's settings, `%s`, so I diagnosed nothing:\n\n%s\n\nMend that file on the default branch, then comment "+
			"`/triage` again. Until then I say nothing unasked.\n", settingsFile, fenced(s.settings.wrong.Error()))
		return out.String()
	case s.outdated(report):
		out.WriteString("This issue has changed, and nothing in it now is a failure that I know.\n")
	case len(report.Diagnoses) == 0:
		out.WriteString(s.nothing())
		for _, note := range report.Notes[:min(len(report.Notes), 20)] {
			out.WriteString("\n> " + render.Inline(note) + "\n")
		}
	default:
		out.WriteString(render.Markdown(&report, maxComment-out.Len()))
	}
	if len(s.complaints) > 0 {
		fmt.Fprintf(&out, "\nNot understood:\n\n%s\n", fenced(strings.Join(s.complaints, "\n")))
	}
	if len(report.Diagnoses) > 0 {
		fmt.Fprintf(&out, "\n---\n<sub>React with 👍 if this helped or 👎 if it is wrong. A comment with `/triage %s` asks again with more facts; `/triage off` silences me here.",
			question(report.Diagnoses[0]))
		if page != "" {
			fmt.Fprintf(&out, " [Report](%s), kept 30 days.", page)
		}
		out.WriteString("</sub>\n")
	}
	return cut(out.String(), render.GitHubLimit-256)
}

// outdated tells whether our comment is about what the issue said once, and nobody asked for it.
func (s *snapshot) outdated(report report.Report) bool {
	return len(report.Diagnoses) == 0 && len(s.asked) == 0
}

// nothing says why a question that somebody asked gets no answer, and what to send.
func (s *snapshot) nothing() string {
	if strings.Contains(s.Body, markerHead) && len(s.logs) == 0 {
		return "This is a triage report already. Paste the log that it is about, then comment `/triage`.\n"
	}
	if len(s.logs) == 0 {
		return "I found no log here. Paste it between two lines of three backticks, attach it as a text file, or link a gist; then comment `/triage`.\n"
	}
	return "I know none of the failures in this log. The part from the first error on, of the rank that failed first, usually tells most; " +
		"`/triage name=value` adds facts such as versions.\n"
}

// question is the fact that would turn a likely diagnosis into a certain one, as one gives it.
func question(d report.Diagnosis) string {
	if d.Certainty == report.Confirmed || len(d.Missing) == 0 || !factName.MatchString(d.Missing[0].Name) || d.Missing[0].Name == "log" {
		return "name=value"
	}
	return d.Missing[0].Name + "=…"
}

var factName = regexp.MustCompile(`^[A-Za-z][\w.\[\]]{0,100}$`)

// fenced quotes a text so that nothing in it comes alive.
func fenced(text string) string {
	text = strings.ReplaceAll(report.Redact(text), "@", "@\u200b")
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "text\n" + cut(text, 4000) + "\n" + fence
}

func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
