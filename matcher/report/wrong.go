package report

import (
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/gpu-triage/triage/rules/pattern"
)

// IssuePage is where people say that an answer is wrong.
const IssuePage = "https://github.com/gpu-triage/triage/issues/new"

// maxLink bounds a link, in bytes: Slack takes 3000 of a button, and GitHub 8192 of an address.
const maxLink = 2900

// IssueLink is a link to an issue with this answer in it, which is written but not sent: the reader looks at it first. Besides secrets it
// leaves out what tells of a person or a place: folders, names of users and machines, addresses.
func (r *Report) IssueLink() string {
	body := r.issueBody()
	var link string
	for _, most := range []int{longest, longest / 2, longest / 4, longest / 10, 0} {
		values := url.Values{"labels": {"wrong answer"}, "title": {r.issueTitle()}, "body": {body.text(most)}}
		link = IssuePage + "?" + values.Encode()
		if len(link) <= maxLink {
			break
		}
	}
	return link
}

func (r *Report) issueTitle() string {
	if len(r.Diagnoses) == 0 {
		return "Missed: nothing was found"
	}
	return "Wrong: " + shortened(r.Diagnoses[0].ID, 80)
}

// longest is how many characters of each text an issue quotes at first.
const longest = 600

// issue is what an issue says, with texts that can be shortened.
type issue struct {
	verdict, title, end string
	evidence, facts     []string
}

func (r *Report) issueBody() issue {
	i := issue{end: fmt.Sprintf("\ntriage %s, knowledge %s\n\n**What was it really?**\n\n\n**The log, as much of it as you can show**\n\n", r.Program, r.Knowledge)}
	if len(r.Diagnoses) == 0 {
		i.verdict = fmt.Sprintf("triage found no failure in %d lines.", r.Stats.Lines)
		return i
	}
	d := r.Diagnoses[0]
	i.verdict = fmt.Sprintf("triage said: **%s**, `%s`: ", d.Certainty, shortened(d.ID, 80))
	i.title = impersonal(d.Title)
	for _, e := range d.Evidence[:min(len(d.Evidence), 3)] {
		i.evidence = append(i.evidence, fmt.Sprintf("%d: %s", e.Line, strings.ReplaceAll(impersonal(e.Text), "```", "'''")))
	}
	for _, f := range d.Facts[:min(len(d.Facts), 12)] {
		i.facts = append(i.facts, f.Name+": "+factValue(f.Value))
	}
	return i
}

// text quotes at most so many characters of each text.
func (i issue) text(most int) string {
	var out strings.Builder
	out.WriteString("<!-- Please read this before you send it, and take out what should not be public. -->\n\n")
	out.WriteString(i.verdict + shortened(i.title, most) + "\n")
	if len(i.evidence) > 0 {
		out.WriteString("\n```text\n")
		for _, line := range i.evidence {
			out.WriteString(shortened(line, most) + "\n")
		}
		out.WriteString("```\n")
	}
	for _, fact := range i.facts {
		if most > 0 {
			out.WriteString("- " + shortened(fact, min(most, longest/10)) + "\n")
		}
	}
	return out.String() + i.end
}

// factValue is what a fact says. A version of four numbers is no address.
func factValue(value any) string {
	text := fmt.Sprint(value)
	if strings.Trim(text, "0123456789.") == "" {
		return text
	}
	return impersonal(text)
}

// shortened is text on one line, of at most so many characters.
func shortened(text string, most int) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return string(runes)
}

var (
	longPath     = pattern.Lazy(`(?:[A-Za-z]:\\|~?/|\\\\)[^\s"'<>|:,;()\[\]{}]*[/\\][^\s"'<>|:,;()\[\]{}]*`)
	loginName    = pattern.Lazy(`\b[\w.-]+@[\w.-]+`)
	ipAddress    = pattern.Lazy(`\b\d{1,3}(?:\.\d{1,3}){3}\b|\b(?:[0-9a-fA-F]{1,4}:){4,7}[0-9a-fA-F]{1,4}\b`)
	webAddress   = pattern.Lazy(`\b[a-z][a-z0-9+]*://[^\s"'<>]+`)
	domainName   = pattern.Lazy(`\b[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|edu|gov|io|ai|dev|local|internal|lan|corp|cloud|cluster|intra|de|uk|fr|ch|cn|jp)\b`)
	installation = []string{"/site-packages/", "/dist-packages/", `\site-packages\`}
)

// impersonal is the beginning of a text without secrets and without what tells of a person or a place. A path keeps its last name, and what
// is installed its place in the installation.
func impersonal(text string) string {
	text = Redact(strings.ToValidUTF8(text[:min(len(text), 4*longest)], ""))
	if strings.Contains(text, "://") {
		text = webAddress().ReplaceAllString(text, address)
	}
	if strings.ContainsAny(text, `/\`) {
		text = longPath().ReplaceAllStringFunc(text, lastName)
	}
	if strings.Contains(text, "@") {
		text = loginName().ReplaceAllString(text, address)
	}
	if strings.Contains(text, ".") {
		text = domainName().ReplaceAllString(text, address)
	}
	return ipAddress().ReplaceAllString(text, address)
}

// address stands for what leads to a person or a machine.
const address = "[address]"

// lastName is what a path keeps.
func lastName(found string) string {
	for _, root := range installation {
		if i := strings.LastIndex(found, root); i >= 0 {
			return "…" + found[i:]
		}
	}
	return "…/" + path.Base(strings.ReplaceAll(found, `\`, "/"))
}
