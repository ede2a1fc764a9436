package report

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"
)

// IssuePage is where people say that an answer is wrong.
const IssuePage = "https://github.com/gpu-triage/triage/issues/new"

// maxLink bounds a link, in bytes: Slack takes 3000 of a button, and GitHub 8192 of an address.
const maxLink = 2900

// IssueLink is a link to an issue with this answer in it, which is written but not sent: the reader looks at it first. Besides secrets it
// leaves out what tells of a person or a place: folders, names of users and machines, addresses.
func (r *Report) IssueLink() string {
	var link string
	for _, most := range []int{600, 300, 150, 60, 0} { // characters of each text
		values := url.Values{"labels": {"wrong answer"}, "title": {r.issueTitle()}, "body": {r.issueBody(most)}}
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

// issueBody quotes at most so many characters of each text.
func (r *Report) issueBody(most int) string {
	var out strings.Builder
	out.WriteString("<!-- Please read this before you send it, and take out what should not be public. -->\n\n")
	if len(r.Diagnoses) == 0 {
		fmt.Fprintf(&out, "triage found no failure in %d lines.\n", r.Stats.Lines)
	} else {
		d := r.Diagnoses[0]
		fmt.Fprintf(&out, "triage said: **%s**, `%s`: %s\n", d.Certainty, shortened(d.ID, 80), shortened(impersonal(d.Title), most))
		out.WriteString("\n```text\n")
		for _, e := range d.Evidence[:min(len(d.Evidence), 3)] {
			text := strings.ReplaceAll(impersonal(e.Text), "```", "'''")
			fmt.Fprintf(&out, "%d: %s\n", e.Line, shortened(text, most))
		}
		out.WriteString("```\n")
		for _, f := range d.Facts[:min(len(d.Facts), 12)] {
			if most >= 60 {
				fmt.Fprintf(&out, "- %s: %s\n", f.Name, shortened(factValue(f.Value), 60))
			}
		}
	}
	fmt.Fprintf(&out, "\ntriage %s, knowledge %s\n\n**What was it really?**\n\n\n**The log, as much of it as you can show**\n\n", r.Program, r.Knowledge)
	return out.String()
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
	longPath     = regexp.MustCompile(`(?:[A-Za-z]:\\|~?/|\\\\)[^\s"'<>|:,;()\[\]{}]*[/\\][^\s"'<>|:,;()\[\]{}]*`)
	mailAddress  = regexp.MustCompile(`[\w.+-]+@[\w-]+\.[\w.-]+`)
	loginName    = regexp.MustCompile(`\b[\w.-]+@[\w.-]+`)
	ipAddress    = regexp.MustCompile(`\b\d{1,3}(?:\.\d{1,3}){3}\b|\b(?:[0-9a-fA-F]{1,4}:){4,7}[0-9a-fA-F]{1,4}\b`)
	webAddress   = regexp.MustCompile(`\b[a-z][a-z0-9+]*://[^\s"'<>]+`)
	domainName   = regexp.MustCompile(`\b[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|edu|gov|io|ai|dev|local|internal|lan|corp|cloud|cluster|intra|de|uk|fr|ch|cn|jp)\b`)
	installation = []string{"/site-packages/", "/dist-packages/", `\site-packages\`}
)

// impersonal is text without secrets and without what tells of a person or a place. A path keeps its last name, and what is installed its
// place in the installation.
func impersonal(text string) string {
	text = Redact(text)
	text = webAddress.ReplaceAllString(text, "[address]")
	text = longPath.ReplaceAllStringFunc(text, func(found string) string {
		for _, root := range installation {
			if i := strings.LastIndex(found, root); i >= 0 {
				return "…" + found[i:]
			}
		}
		return "…/" + path.Base(strings.ReplaceAll(found, `\`, "/"))
	})
	text = mailAddress.ReplaceAllString(text, "[address]")
	text = loginName.ReplaceAllString(text, "[address]")
	text = domainName.ReplaceAllString(text, "[address]")
	return ipAddress.ReplaceAllString(text, "[address]")
}
