package slackbot

import (
	"context"
	"encoding/json"
	"time"

	"github.com/slack-go/slack"

	"github.com/gpu-triage/triage/bots/queue"
)

// Names within the modal and the messages.
const (
	callbackModal = "triage_modal"
	blockLog      = "log"
	blockFacts    = "facts"
	blockFiles    = "files"
	actionShare   = "triage_share"
	actionHelped  = "triage_helped"
	actionWrong   = "triage_wrong"
)

var verdicts = map[string]string{actionHelped: "helpful", actionWrong: "wrong"}

// metadata travels with a modal and says where its answer goes.
type metadata struct {
	Callback    string    `json:"callback"`
	Channel     string    `json:"channel,omitempty"`
	ResponseURL string    `json:"response_url,omitempty"`
	Issued      time.Time `json:"issued,omitzero"`
}

func metadataOf(text string) (m metadata) {
	_ = json.Unmarshal([]byte(text), &m)
	return m
}

// triggerTime is how long Slack lets a modal be opened after the click.
const triggerTime = 3 * time.Second

// openModal shows the form for a log. When it comes too late, it says how else to send one.
func (b *Bot) openModal(ctx context.Context, job queue.Job, t task) error {
	var p progress
	if found, err := b.Store.Load(ctx, progressKey(job.ID), &p); err != nil || found {
		return err // tried before: a trigger opens one modal
	}
	if err := b.Store.Save(ctx, progressKey(job.ID), progress{Stage: stageDone}); err != nil {
		return err
	}
	if time.Since(job.Received) < triggerTime && b.BotToken != "" && t.Trigger != "" {
		data, err := json.Marshal(metadata{callbackModal, t.Channel, t.ResponseURL, t.Issued})
		if err != nil {
			return err
		}
		if _, err = b.api.OpenViewContext(ctx, t.Trigger, form(string(data))); err == nil {
			return nil
		}
		b.Log.Warn("the form could not be opened", "delivery", job.ID, "error", err)
	}
	_, err := b.deliver(ctx, job.ID+"-late", t, letter{text: "The form did not open in time. Paste the log right after the command: `/triage <log or link>`, or try again."})
	return err
}

func form(data string) slack.ModalViewRequest {
	text := func(s string) *slack.TextBlockObject {
		return slack.NewTextBlockObject(slack.PlainTextType, s, false, false)
	}
	log := slack.NewPlainTextInputBlockElement(text("Paste the log, or a link to it"), "text").WithMultiline(true)
	log.MaxLength = 3000
	facts := slack.NewPlainTextInputBlockElement(text("transformer_engine=2.1.0 gpu=\"NVIDIA A100\""), "text")
	files := slack.NewFileInputBlockElement("files").WithMaxFiles(5)
	return slack.ModalViewRequest{
		Type: slack.VTModal, CallbackID: callbackModal, PrivateMetadata: data,
		Title: text("Triage a log"), Submit: text("Triage"), Close: text("Cancel"),
		Blocks: slack.Blocks{BlockSet: []slack.Block{
			slack.NewInputBlock(blockLog, text("Log"), text("From the first error on; up to 3,000 characters. Longer ones as a file."), log).WithOptional(true),
			slack.NewInputBlock(blockFiles, text("Files"), nil, files).WithOptional(true),
			slack.NewInputBlock(blockFacts, text("Facts"), text("What the log does not say: name=value, separated by spaces"), facts).WithOptional(true),
		}},
	}
}

const helpText = "*`/triage`* names the root cause of a failed training job and a fix.\n" +
	"• `/triage` opens a form for a log, files and facts\n" +
	"• `/triage <pasted log>`\n" +
	"• `/triage <link>` to a Slack file or message, a GitHub issue, comment, gist or CI job\n" +
	"• `/triage name=value … <log or link>` adds facts, such as `transformer_engine=2.1.0`\n" +
	"• the message shortcut *Triage this message* reads a message and its files and answers in its thread\n" +
	"Only you see the answer until you share it. Secrets are taken out of every quote."
