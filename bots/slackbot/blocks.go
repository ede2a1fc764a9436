package slackbot

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/slack-go/slack"

	"github.com/gpu-triage/triage/matcher/render"
	"github.com/gpu-triage/triage/matcher/report"
)

// Slack's limits, with a little room: of blocks, of characters in a section, in a header, and (undocumented) in all blocks together.
const (
	maxBlocks  = 45
	maxSection = 2900
	maxHeader  = 150
	maxAll     = 11_500
)

// blocks are the blocks of one message and how many characters they hold.
type blocks struct {
	all   []slack.Block
	chars int
}

func (b blocks) list() []slack.Block { return b.all }

// extent says how much of a report a message shows.
type extent struct {
	evidence, line, fixes, prose int
}

// extents are tried in order until the message is within Slack's limits. The last always is.
var extents = []extent{
	{evidence: 6, line: 400, fixes: 3, prose: 2000},
	{evidence: 4, line: 250, fixes: 2, prose: 1200},
	{evidence: 2, line: 150, fixes: 1, prose: 600},
}

// compose makes the message of a report, and tells whether it holds the whole of it.
func compose(report report.Report, id, page string, private bool) (b blocks, whole bool) {
	for i, e := range extents {
		c := composer{extent: e, whole: true}
		c.report(report, page)
		c.buttons(id, page, private)
		fits := c.chars <= maxAll && len(c.all) <= maxBlocks
		if fits || i == len(extents)-1 {
			return c.blocks, c.whole
		}
	}
	return b, false
}

type composer struct {
	blocks
	extent extent
	whole  bool
}

// cut shortens a text to some characters and remembers that something is missing.
func (c *composer) cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	c.whole = false
	return string([]rune(text)[:most-1]) + "…"
}

func (c *composer) section(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	object := slack.NewTextBlockObject(slack.MarkdownType, text, false, true)
	c.all = append(c.all, slack.NewSectionBlock(object, nil, nil))
	c.chars += utf8.RuneCountInString(text)
}

func (c *composer) report(r report.Report, page string) {
	if len(r.Diagnoses) == 0 {
		c.section("*Nothing known.* I know none of the failures in this log. The part from the first error on, of the rank that failed first, usually tells most.")
		c.notes(r.Notes)
		return
	}
	d := r.Diagnoses[0]
	title := slack.NewTextBlockObject(slack.PlainTextType, fit(escape(c.cut(cmp.Or(oneLine(d.Title), d.ID), maxHeader)), maxHeader), false, false)
	c.all = append(c.all, slack.NewHeaderBlock(title))
	c.chars += utf8.RuneCountInString(title.Text)
	c.section(fit(standing(d)+"\n"+neutral(c.cut(oneLine(d.Cause), c.extent.prose)), maxSection))
	if d.Certainty != report.Confirmed {
		c.question(d)
	}
	c.fixes(d)
	c.evidence(d)
	if d.Certainty == report.Confirmed {
		c.question(d)
	}
	c.notes(r.Notes)
	c.earlier(render.Earlier(&r))
	c.others(r.Diagnoses[1:], page)
	c.whole = c.whole && len(d.Backends) == 0 && len(d.Consequences) == 0
}

// earlier links earlier answers with the same cause.
func (c *composer) earlier(links []string) {
	if len(links) == 0 {
		return
	}
	for i, link := range links {
		links[i] = "<" + link + ">"
	}
	c.section("_Earlier: " + strings.Join(links, ", ") + "_")
}

// others names what else was found.
func (c *composer) others(others []report.Diagnosis, page string) {
	if len(others) == 0 {
		return
	}
	c.whole = false
	if page != "" {
		c.section(fmt.Sprintf("_%d more in the whole report._", len(others)))
		return
	}
	var titles []string
	for _, d := range others[:min(len(others), 3)] {
		titles = append(titles, neutral(c.cut(cmp.Or(oneLine(d.Title), d.ID), maxHeader)))
	}
	text := "*Also found:* " + strings.Join(titles, "; ")
	if left := len(others) - len(titles); left > 0 {
		text += fmt.Sprintf("; and %d more", left)
	}
	c.section(fit(text, maxSection))
}

func standing(d report.Diagnosis) string {
	text := map[report.Certainty]string{
		report.Confirmed: "*Confirmed*", report.Likely: "*Likely*, not certain", report.Unexplained: "*Unexplained*: no known cause fits",
	}[d.Certainty]
	if d.Rank != nil {
		text += fmt.Sprintf(" · rank %d failed first", *d.Rank)
	}
	return text + " · " + code(d.ID)
}

func (c *composer) evidence(d report.Diagnosis) {
	var lines []string
	for i, e := range d.Evidence {
		if i == c.extent.evidence {
			c.whole = false
			break
		}
		where := oneLine(e.Source)
		if e.Line > 0 { // else it is no line of a file
			where += ":" + strconv.Itoa(e.Line)
		}
		lines = append(lines, fmt.Sprintf("%s: %s", where, c.cut(oneLine(e.Text), c.extent.line)))
	}
	if len(lines) > 0 {
		c.section(block(strings.Join(lines, "\n")))
	}
}

func (c *composer) fixes(d report.Diagnosis) {
	for i, f := range d.Fixes {
		if i == c.extent.fixes {
			c.whole = false
			return
		}
		text := "*Fix* " + neutral(c.cut(oneLine(f.Do), c.extent.prose))
		for _, commands := range f.Commands() {
			text = fit(text, maxSection/2) + "\n" + c.commands(commands)
		}
		if said := render.Outcome(f); said != "" {
			text = fit(text, maxSection-outcomeRoom) + "\n" + neutral(c.cut(said, outcomeRoom/2))
		}
		c.section(fit(text, maxSection))
	}
}

// outcomeRoom is kept for what a fix does and takes away, in characters.
const outcomeRoom = 800

// commands are commands of one kind; words for a person are no block.
func (c *composer) commands(commands report.Commands) string {
	text := c.cut(strings.Join(commands.Run, "\n"), c.extent.prose/2)
	if commands.Kind == "text" {
		return neutral(text)
	}
	return block(text)
}

// openings say what the answer to a question would tell.
var openings = map[report.Certainty]string{
	report.Likely: "*One answer settles this:* what is", report.Unexplained: "*This would tell more:* what is", report.Confirmed: "*This would tell which fix is best:* what is",
}

// question asks the one thing that would decide, the first. The others stand in the whole report.
func (c *composer) question(d report.Diagnosis) {
	if len(d.Missing) == 0 {
		return
	}
	c.whole = c.whole && len(d.Missing) == 1
	m := d.Missing[0]
	why := neutral(c.cut(oneLine(m.Why), c.extent.prose/2))
	text := openings[d.Certainty] + " " + code(m.Name) + "? (" + why + ")"
	if m.Name == "log" {
		text = "*A longer log would tell:* " + why
	}
	if m.How != "" {
		text += "\n" + block(c.cut(m.How, c.extent.prose/2))
	}
	if m.Name != "log" {
		text = fit(text, maxSection-200) + "\nAsk again with " + code(m.Name+"=…") + " before the log."
	}
	c.section(fit(text, maxSection))
}

func (c *composer) notes(notes []string) {
	if len(notes) > 3 {
		c.whole, notes = false, notes[:3]
	}
	for _, n := range notes {
		c.section(fit(neutral(c.cut(oneLine(n), 400)), maxSection))
	}
}

func (c *composer) buttons(id, page string, private bool) {
	button := func(action, label string) slack.BlockElement {
		return slack.NewButtonBlockElement(action, id, slack.NewTextBlockObject(slack.PlainTextType, label, false, false))
	}
	var elements []slack.BlockElement
	if private {
		elements = append(elements, button(actionShare, "Share in channel"))
	}
	elements = append(elements, button(actionHelped, "This helped"), button(actionWrong, "Wrong"))
	if page != "" {
		link := slack.NewButtonBlockElement("triage_page", id, slack.NewTextBlockObject(slack.PlainTextType, "Whole report", false, false))
		elements = append(elements, link.WithURL(page))
	}
	c.all = append(c.all, slack.NewActionBlock("triage", elements...))
	c.chars += 60
}

// headline is what a notification shows.
func headline(r report.Report) string {
	if len(r.Diagnoses) == 0 {
		return "Nothing known in this log."
	}
	return neutral(fit(oneLine(r.Diagnoses[0].Title), 200))
}
