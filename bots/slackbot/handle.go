package slackbot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/matcher/report"

	"github.com/gpu-triage/triage/bots"
	"github.com/gpu-triage/triage/bots/fetch"
	"github.com/gpu-triage/triage/bots/queue"
	"github.com/gpu-triage/triage/matcher/render"
)

// Handle does one job.
func (b *Bot) Handle(ctx context.Context, job queue.Job) error {
	var t task
	if err := json.Unmarshal(job.Data, &t); err != nil {
		return queue.Permanent(err)
	}
	b, err := b.at(ctx, t.place)
	if err != nil {
		return err
	}
	switch t.Do {
	case doAnswer:
		return b.answer(ctx, job, t)
	case doModal:
		return b.openModal(ctx, job, t)
	case doShare:
		return b.share(ctx, t)
	case doFeedback:
		return b.feedback(ctx, job, t)
	case doTell:
		_, err := b.deliver(ctx, job.ID, t, letter{text: t.Text})
		return err
	}
	return queue.Permanent(fmt.Errorf("unknown task %q", t.Do))
}

// answer diagnoses what a task brings.
func (b *Bot) answer(ctx context.Context, job queue.Job, t task) error {
	dir, err := os.MkdirTemp(b.Data, "look")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	facts, text := b.Engine.LeadingFacts(t.Text)
	for name, value := range t.Facts {
		facts[name] = value
	}
	facts, complaints := b.Engine.Usable(facts)
	if t.Ours || strings.Contains(text, "triage:report") {
		_, err := b.deliver(ctx, job.ID, t, letter{text: "That is a triage report already."})
		return err
	}
	logs, notes, err := b.gather(ctx, t, text, dir)
	if err != nil {
		return err
	}
	queue.CrashPoint("fetched")
	if len(logs) == 0 {
		said := append(complaints, notes...)
		if len(said) == 0 {
			said = []string{"There is no log in that. Paste one, link one, or use `/triage` alone for a form."}
		}
		_, err := b.deliver(ctx, job.ID, t, letter{text: strings.Join(neutralAll(said), "\n")})
		return err
	}
	report, err := b.Engine.Answer(ctx, logs, facts)
	if err != nil {
		return err
	}
	report.Notes = slices.Concat(complaints, notes, report.Notes)
	queue.CrashPoint("diagnosed")
	seen, err := b.Recurrence.Tell(ctx, bots.Place{Scope: t.scope(), Question: job.ID}, &report)
	if err != nil {
		return err
	}
	id, err := b.Reports.Save(ctx, job.ID, report)
	if err != nil {
		return err
	}
	if err := b.Recurrence.Keep(ctx, seen, bots.ReportURL(b.PublicURL, id)); err != nil {
		return err
	}
	fresh, err := b.deliver(ctx, job.ID, t, b.letter(report, id, t.Thread == ""))
	if fresh {
		b.Metrics.Answered(Kind, report)
	}
	return err
}

// scope is where what an answer says of others may be read: the channel, or for an answer that only one person sees, what they asked there.
func (t task) scope() string {
	scope := strings.Join([]string{Kind, t.place.Team, t.Channel}, ":")
	if t.Thread == "" {
		scope += ":" + t.User
	}
	return scope
}

// gather collects the logs of a task: pasted, linked and attached. What cannot be read is told in notes; the error is that of a service that
// asks to wait.
func (b *Bot) gather(ctx context.Context, t task, text, dir string) (logs []fetch.Log, notes []string, err error) {
	found := linksIn(text)
	pasted := text
	for _, address := range found {
		pasted = strings.ReplaceAll(pasted, address, "")
	}
	if strings.TrimSpace(pasted) != "" && !(len(found) > 0 && len(pasted) < 200 && !strings.Contains(strings.TrimSpace(pasted), "\n")) {
		found = nil // addresses within a log are part of it
		logs = append(logs, fetch.Log{Name: "message", Text: []byte(unfenced(text))})
		notes = b.Engine.Unknown(text)
	} else {
		_, notes = b.Engine.Usable(bots.AllFacts(pasted))
	}
	take := func(name string, more []fetch.Log, failed error) {
		logs = append(logs, more...)
		if queue.Waits(failed) {
			err = failed
		}
		if failed != nil {
			b.Log.Info("a log was not read", "channel", t.Channel, "name", name, "error", failed)
			notes = append(notes, bots.Unread(name, failed))
		}
	}
	for _, address := range found {
		more, err := b.linked(ctx, t, address, dir)
		take(address, more, err)
	}
	for _, id := range t.Files {
		more, err := b.file(ctx, t, id, dir, true)
		take("the attached file", more, err)
	}
	return logs, notes, err
}

// unfenced takes the fences of a code block away, keeping the lines.
func unfenced(text string) string {
	return strings.ReplaceAll(text, "```", "")
}

// shareID is the same for all who share a report in a channel.
func (t task) shareID() string { return t.in("share:" + t.Report + ":" + t.Channel) }

// share posts a report for the whole channel, once.
func (b *Bot) share(ctx context.Context, t task) error {
	report, err := b.Reports.Get(ctx, t.Report)
	if errors.Is(err, bots.ErrNoReport) {
		_, err := b.deliver(ctx, t.in("gone:"+t.Report+t.User), t, letter{text: "That report is no longer kept: ask again."})
		return err
	}
	if err != nil {
		return err
	}
	l := b.letter(report, t.Report, false)
	l.public = true
	_, err = b.deliver(ctx, t.shareID(), t, l)
	return err
}

// feedback counts what someone says of a report, once each.
func (b *Bot) feedback(ctx context.Context, job queue.Job, t task) error {
	report, err := b.Reports.Get(ctx, t.Report)
	if err != nil && !errors.Is(err, bots.ErrNoReport) {
		return err
	}
	first, err := b.Store.First(ctx, "feedback:"+t.in(t.Report+":"+t.User))
	if err != nil {
		return err
	}
	signature := "none"
	if len(report.Diagnoses) > 0 {
		signature = report.Diagnoses[0].ID
	}
	if first {
		b.Metrics.Feedback(Kind, signature, t.Verdict, 1)
		b.Log.Info("feedback", "delivery", job.ID, "signature", signature, "verdict", t.Verdict, "report", t.Report)
	}
	t.Thread = ""
	said := "Noted, thank you."
	if link := render.Complaint(&report); t.Verdict == verdicts[actionWrong] && link != "" {
		said += " <" + escape(link) + "|Say what it was>: an issue with this answer, without names and secrets, which you see before you send it."
	}
	_, err = b.deliver(ctx, job.ID, t, letter{text: said})
	return err
}

// letter is a message to deliver, with the full report when the message does not hold all of it.
type letter struct {
	text   string // what notifications show; mrkdwn
	blocks blocks
	long   string // Markdown, "" when the blocks say everything
	public bool   // for the channel to see
}

func (b *Bot) letter(report report.Report, id string, private bool) letter {
	page := bots.ReportURL(b.PublicURL, id)
	l := letter{text: headline(report), public: !private}
	var whole bool
	l.blocks, whole = compose(report, id, page, private)
	if !whole {
		l.long = render.Markdown(&report, 200_000)
	}
	return l
}
