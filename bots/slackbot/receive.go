package slackbot

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/gpu-triage/triage/bots"
	"github.com/gpu-triage/triage/bots/queue"
)

// What a task asks for.
const (
	doAnswer   = "answer"
	doModal    = "modal"
	doShare    = "share"
	doFeedback = "feedback"
	doTell     = "tell" // the text, to one person
)

// task is the data of a job.
type task struct {
	place
	Do          string            `json:"do"`
	Channel     string            `json:"channel,omitempty"`
	User        string            `json:"user,omitempty"`
	ResponseURL string            `json:"response_url,omitempty"`
	Issued      time.Time         `json:"issued,omitzero"` // of ResponseURL
	Trigger     string            `json:"trigger,omitempty"`
	Text        string            `json:"text,omitempty"`
	Facts       map[string]string `json:"facts,omitempty"`
	Files       []string          `json:"files,omitempty"`  // ids
	Thread      string            `json:"thread,omitempty"` // answer there, for all to see
	Ours        bool              `json:"ours,omitempty"`   // the message to triage is one of our own
	Report      string            `json:"report,omitempty"`
	Verdict     string            `json:"verdict,omitempty"`
}

// add stores a task. Slack sends some requests again: id is the same then.
func (b *Bot) add(ctx context.Context, id string, t task) error {
	data, err := json.Marshal(t)
	if err != nil {
		return err
	}
	id = t.in(id)
	key := id
	if t.Do == doShare { // several people, or one in a hurry, may press the button of one report: it is shared once
		key = t.shareID()
	}
	return b.Queue.Add(ctx, queue.Job{ID: id, Kind: Kind, Key: key, Data: data})
}

// slash is a slash command, as a form over HTTP or JSON in Socket Mode.
type slash struct {
	Team        string `json:"team_id"`
	Enterprise  string `json:"enterprise_id"`
	Channel     string `json:"channel_id"`
	User        string `json:"user_id"`
	Text        string `json:"text"`
	ResponseURL string `json:"response_url"`
	Trigger     string `json:"trigger_id"`
}

func commandOf(form url.Values) slash {
	return slash{Team: form.Get("team_id"), Enterprise: form.Get("enterprise_id"), Channel: form.Get("channel_id"), User: form.Get("user_id"),
		Text: form.Get("text"), ResponseURL: form.Get("response_url"), Trigger: form.Get("trigger_id")}
}

// reply is the body of an acknowledgement that shows a message to whoever asked.
type reply struct {
	Type   string        `json:"response_type"`
	Text   string        `json:"text"`
	Blocks []slack.Block `json:"blocks,omitempty"`
}

// command takes a slash command and returns the body of its acknowledgement.
func (b *Bot) command(ctx context.Context, c slash, digest string) (any, error) {
	if c.User == "" && c.ResponseURL == "" || c.ResponseURL != "" && !b.trusted(c.ResponseURL) {
		return nil, errMalformed
	}
	t := task{place: place{c.Team, c.Enterprise}, Do: doAnswer, Channel: c.Channel, User: c.User, ResponseURL: c.ResponseURL, Issued: time.Now().UTC(), Trigger: c.Trigger, Text: c.Text}
	id := c.Trigger
	if id == "" {
		id = digest
	}
	switch text := strings.TrimSpace(c.Text); {
	case strings.EqualFold(text, "help") || text == "?":
		return reply{Type: slack.ResponseTypeEphemeral, Text: helpText}, nil
	case text == "":
		t.Do = doModal
	default:
		if words := b.over(t); words != "" {
			return overReply(words), nil
		}
	}
	if err := b.add(ctx, id, t); err != nil {
		return nil, err
	}
	if t.Do == doAnswer && len(linksIn(t.Text)) > 0 {
		return reply{Type: slack.ResponseTypeEphemeral, Text: "Reading that log…"}, nil
	}
	return nil, nil
}

// trusted tells whether an address for answers is Slack's, or of the server that stands in for it.
func (b *Bot) trusted(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.User != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	if b.apiHost != "" && host == b.apiHost {
		return true
	}
	return u.Scheme == "https" && (host == "hooks.slack.com" || host == "hooks.slack-gov.com") && u.Port() == ""
}

// payload is what is read of an interaction.
type payload struct {
	Type        string `json:"type"`
	Trigger     string `json:"trigger_id"`
	ResponseURL string `json:"response_url"`
	AppID       string `json:"api_app_id"`
	Team        struct {
		ID         string `json:"id"`
		Enterprise string `json:"enterprise_id"`
	} `json:"team"` // null where an organization installed the app
	Enterprise struct {
		ID string `json:"id"`
	} `json:"enterprise"`
	User struct {
		ID   string `json:"id"`
		Team string `json:"team_id"`
	} `json:"user"`
	Channel struct {
		ID string `json:"id"`
	} `json:"channel"`
	Message message `json:"message"`
	Actions []struct {
		ID    string `json:"action_id"`
		Value string `json:"value"`
		Time  string `json:"action_ts"`
	} `json:"actions"`
	View struct {
		ID       string `json:"id"`
		Team     string `json:"app_installed_team_id"`
		Metadata string `json:"private_metadata"`
		State    struct {
			Values map[string]map[string]struct {
				Value string `json:"value"`
				Files []file `json:"files"`
			} `json:"values"`
		} `json:"state"`
	} `json:"view"`
}

// place is where the app that was asked is installed. In a channel that two workspaces share, the person may be of the other one.
func (p payload) place() place {
	return place{cmp.Or(p.View.Team, p.Team.ID, p.User.Team), cmp.Or(p.Enterprise.ID, p.Team.Enterprise)}
}

type file struct {
	ID string `json:"id"`
}

// message is a message that was posted in Slack.
type message struct {
	Text   string `json:"text"`
	TS     string `json:"ts"`
	Thread string `json:"thread_ts"`
	AppID  string `json:"app_id"`
	Files  []file `json:"files"`
}

// interaction takes a button, a shortcut or a filled-in modal.
func (b *Bot) interaction(ctx context.Context, data []byte, digest string) (any, error) {
	var p payload
	if json.Unmarshal(data, &p) != nil || p.User.ID == "" || p.ResponseURL != "" && !b.trusted(p.ResponseURL) {
		return nil, errMalformed
	}
	t := task{place: p.place(), Channel: p.Channel.ID, User: p.User.ID, ResponseURL: p.ResponseURL, Issued: time.Now().UTC(), Trigger: p.Trigger}
	id := p.Trigger
	if id == "" {
		id = digest
	}
	switch {
	case p.Type == "block_actions" && len(p.Actions) > 0:
		t.Report, t.Thread = p.Actions[0].Value, p.Message.Thread
		switch p.Actions[0].ID {
		case actionShare:
			t.Do = doShare
		case actionHelped, actionWrong:
			t.Do, t.Verdict = doFeedback, verdicts[p.Actions[0].ID]
		default:
			return nil, nil // a link button
		}
	case p.Type == "message_action":
		t.Do, t.Text, t.Files = doAnswer, unescape(p.Message.Text), idsOf(p.Message.Files)
		t.Thread = p.Message.TS
		if p.Message.Thread != "" {
			t.Thread = p.Message.Thread
		}
		t.Ours = p.AppID != "" && p.Message.AppID == p.AppID
		return nil, b.ask(ctx, id, t)
	case p.Type == "shortcut":
		t.Do = doModal
	case p.Type == "view_submission" && metadataOf(p.View.Metadata).Callback == callbackModal:
		return b.submission(ctx, p, t, id)
	default:
		return nil, nil
	}
	return nil, b.add(ctx, id, t)
}

// submission takes a filled-in modal: facts that cannot be used are shown in it.
func (b *Bot) submission(ctx context.Context, p payload, t task, id string) (any, error) {
	m := metadataOf(p.View.Metadata)
	t.Do, t.Channel, t.ResponseURL, t.Issued = doAnswer, m.Channel, m.ResponseURL, m.Issued
	if t.ResponseURL != "" && !b.trusted(t.ResponseURL) {
		return nil, errMalformed
	}
	for block, actions := range p.View.State.Values {
		for _, a := range actions {
			switch block {
			case blockLog:
				t.Text = a.Value
			case blockFacts:
				t.Facts = bots.AllFacts(strings.ReplaceAll(a.Value, "\n", " "))
				if _, complaints := b.Engine.Usable(t.Facts); len(complaints) > 0 {
					return slack.NewErrorsViewSubmissionResponse(map[string]string{blockFacts: strings.ReplaceAll(strings.Join(complaints, " "), "`", "")}), nil
				}
			case blockFiles:
				t.Files = append(t.Files, idsOf(a.Files)...)
			}
		}
	}
	if strings.TrimSpace(t.Text) == "" && len(t.Files) == 0 {
		return slack.NewErrorsViewSubmissionResponse(map[string]string{blockLog: "Paste a log or a link, or add a file below."}), nil
	}
	if words := b.over(t); words != "" {
		return slack.NewErrorsViewSubmissionResponse(map[string]string{blockLog: words}), nil
	}
	if p.View.ID != "" {
		id = "view-" + p.View.ID // a modal is handed in once, however often Slack says so
	}
	return nil, b.add(ctx, id, t)
}

func idsOf(files []file) (ids []string) {
	for _, f := range files {
		if f.ID != "" && len(ids) < 10 {
			ids = append(ids, f.ID)
		}
	}
	return ids
}

// unescape gives a message's text as it was typed: Slack escapes three characters and wraps addresses.
func unescape(text string) string {
	text = wrapped.ReplaceAllString(text, "$1")
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(text)
}
