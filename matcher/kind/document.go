package kind

import (
	"regexp"
	"strings"

	"github.com/gpu-triage/triage/rules/pattern"
)

// prose tells whether a text is documentation, or a conversation about what was solved. People who report a failure write prose too: with
// what they ran, what they expected, and with a log that is more than a sentence.
func (t *text) prose() Kind {
	switch {
	case t.isTable():
		return Document
	case t.reports():
		return Log
	case t.isChangelog(), t.isGuide():
		return Document
	case t.isConversation():
		return Conversation
	}
	return Log
}

// isManual tells whether the text is a page for a browser, a page of a manual, or what a program says of its options.
func (t *text) isManual() bool {
	return markup().MatchString(t.filled[0]) || t.count(manual) >= 2 || t.isHelp()
}

var (
	markup    = pattern.Lazy(`(?i)^\s*<(?:!doctype html|html|article|body)\b|^\.(?:TH|Dd|SH)\b`)
	manual    = pattern.Lazy(`^(?:NAME|SYNOPSIS|DESCRIPTION|OPTIONS|EXIT STATUS|ENVIRONMENT|SEE ALSO|AUTHORS?|BUGS|FILES|EXAMPLES?)$`)
	option    = pattern.Lazy(`^\s{1,12}-{1,2}[\w?][\w\-]*(?:[ =,\[]|$)`)
	heading   = pattern.Lazy(`^#{1,5} \S|^={1,5} \S.* ={1,5}$`)
	underline = pattern.Lazy(`^(?:={4,}|-{4,}|~{4,}|\^{4,}|"{4,})$`)
	row       = pattern.Lazy(`^\s*\|.*\|$`)
	divider   = pattern.Lazy(`^\s*\|[\s:|-]*-{3,}[\s:|-]*\|$`)

	// How somebody reports a failure that is not solved.
	reportHeading = pattern.Lazy(`(?i)^(?:#+|\*\*).*\b(?:describe the|bug report|bug description|to reproduce|reproduc(?:e|tion)|(?:expected|actual|current) behavio|system info|what happened|what(?: is|'s|’s| was) the (?:issue|problem|bug)|relevant log|error log|full log|stack ?trace|traceback|your environment|issue or feature description|my )` +
		`|^(?:#+|\*\*)\W{0,4}(?:questions? (?:&|and) help|(?:what is |what's )?your question)\b|^(?:#+|\*\*) ?(?:your |the )?(?:bug|issue|problem|environment|logs?|error|versions?|question|description)\b[^/]{0,20}$` +
		`|^(?:#+|\*\*).*(?:行为|复现|问题描述|报错|运行环境)|^- \[x\] (?:I['’ ]|我)`)
	report = pattern.Lazy(`^(?:Hi|Hello|Hey)\b[^=]{0,40}$|\b(?:I['’]m|I am|I['’]ve|I have|I get|I got|I tried|I use|I was|I see|[Ww]e get|[Ww]e see|[Ww]e are seeing|(?:by|for) me)\b|(?i)\b(?:any (?:help|idea|suggestion)s?|please help|can (?:any|some)one|what (?:is|am I doing) wrong|how (?:can|do|should) I)\b`)
	solved = pattern.Lazy(`(?i)\b(?:post-?mortem|incident (?:report|review)|retrospective|lessons learned|(?:we|was|were|is|been|now|finally|fully) resolved|status: *(?:closed|solved|resolved|done))\b|^\W*resolved\b`)
)

// count is how many of the lines match.
func (t *text) count(expression func() *regexp.Regexp) (lines int) {
	for _, line := range t.filled {
		if expression().MatchString(line) {
			lines++
		}
	}
	return lines
}

// all are the lines of the sample, blank ones too.
func (t *text) all() []string {
	if t.Whole {
		return linesOf(t.Head)
	}
	return append(t.head[:len(t.head):len(t.head)], t.last...)
}

// isHelp tells whether the text is what a program says of its options.
func (t *text) isHelp() bool {
	for _, line := range t.filled[:min(3, len(t.filled))] {
		if strings.HasPrefix(strings.ToLower(line), "usage:") {
			return t.count(option)*4 >= len(t.filled) && !logRecord().MatchString(t.filled[len(t.filled)-1])
		}
	}
	return false
}

var logRecord = pattern.Lazy(logLine + `|NCCL (?:INFO|WARN) |(?i)^(?:\S+: )?(?:fatal )?error: `)

// reports tells whether somebody reports a failure, or the text is no prose at all. In a manual the author may speak of himself.
func (t *text) reports() bool {
	template, asked, logged, fences := 0, 0, 0, fence{}
	for _, line := range t.filled {
		switch {
		case fences.inside(line):
		case logRecord().MatchString(line):
			logged++
		case template == 0 && reportHeading().MatchString(line):
			template++
		case report().MatchString(line):
			asked++
		}
	}
	if logged*5 > len(t.filled) {
		return true
	}
	return t.count(solved) == 0 && (template > 0 || asked > 0 && t.headings() < manyHeadings)
}

// manyHeadings is how many headings a manual has, and hardly anything that somebody asks.
const manyHeadings = 4

var release = pattern.Lazy(`^(?:#{1,4} |\*\*|={1,3} )(?:Release |Version |v)?\[?v?\d+\.\d+\S*|^\[?v?\d+\.\d+(?:\.\d+)*\S{0,8}\]?(?: \(| - |, |$)|^(?:Release|Version) v?\d+\.\d+\S*|^(?:#{1,4} )?\[?Unreleased\]?$|(?i)^#{0,3} ?(?:changelog|change log|release notes|changes|what's new|history)\b.{0,30}$`)

// isChangelog tells whether the text says what changed from release to release.
func (t *text) isChangelog() bool {
	return t.count(release) >= 2 && t.sentences()*2 >= len(t.filled)
}

// isGuide tells whether the text is divided by headings and made of sentences, as a manual and a report of an incident are.
func (t *text) isGuide() bool { return t.headings() >= 2 && t.sentences()*5 >= len(t.filled)*2 }

// headings counts the headings: they stand after a blank line, or are underlined.
func (t *text) headings() (headings int) {
	before, fences := "", fence{}
	for _, line := range t.all() {
		quoted := fences.inside(line)
		underlined := len(line) == len(before) && underline().MatchString(line) && !underline().MatchString(before)
		if !quoted && (underlined || before == "" && heading().MatchString(line)) {
			headings++
		}
		before = line
	}
	return headings
}

var sentence = pattern.Lazy(`^\s*(?:[-*+] |\d+\. |> )?(?:\[.*\]\(|[A-Z"'` + "`" + `(*]).*\s.*[\w.,:;)` + "`" + `*!?"]$|^\s*[-*+] |^\s*\|.*\|$|^#|^[a-z]+ [a-z]+ .*[a-z.,:;)]$`)

// sentences counts the lines that a person wrote: those of prose, of lists, of tables and headings.
func (t *text) sentences() (lines int) {
	fences := fence{}
	for _, line := range t.filled {
		if !fences.inside(line) && sentence().MatchString(line) && !logRecord().MatchString(line) {
			lines++
		}
	}
	return lines
}

// isTable tells whether nearly all of the text is a table with a head.
func (t *text) isTable() bool {
	return t.count(divider) > 0 && t.count(row)*10 >= len(t.filled)*8
}

var (
	speaker = pattern.Lazy(`^(?:\[?\d{1,2}:\d{2}(?::\d{2})?(?: ?[AP]M)?\]? +)?<?@?([A-Za-z][\w.\-]{1,20})>?(?:  ?\[?\(?\d{1,2}:\d{2}(?: ?[AP]M)?\)?\]?|:) *(?:\S.*)?$`)
	past    = pattern.Lazy(`(?i)\b(?:solved|resolved|fixed|turned out|last (?:week|month|year|summer|winter|spring|autumn|fall)|back then|remember|yesterday|months? ago|weeks? ago|years? ago|in the end|closed|post-?mortem|used to)\b`)
)

// isConversation tells whether people speak in turn about what is over.
func (t *text) isConversation() bool {
	speakers, turns, over := make(map[string]int), 0, false
	for _, line := range t.filled {
		if who := speaker().FindStringSubmatch(line); who != nil && !logRecord().MatchString(line) {
			speakers[who[1]]++
			turns++
		}
		over = over || past().MatchString(line)
	}
	return over && len(speakers) >= 2 && len(speakers)*2 <= turns+1 && turns >= 3 && turns*3 >= len(t.filled)
}

// fence tells what stands between lines of three backticks or tildes.
type fence struct{ open string }

// inside tells whether a line is quoted, the marks themselves included.
func (f *fence) inside(line string) bool {
	line = strings.TrimLeft(line, " >")
	mark := ""
	if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
		mark = line[:3]
	}
	switch {
	case f.open == "" && mark != "" && !strings.Contains(line[3:], mark):
		f.open = mark
		return true
	case f.open != "" && mark == f.open:
		f.open = ""
		return true
	}
	return f.open != ""
}

// fenced tells for each of the first lines whether it is quoted.
func (t *text) fenced() (quoted []bool) {
	f := fence{}
	for _, line := range linesOf(t.Head) {
		quoted = append(quoted, f.inside(line) || strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t") || strings.Contains(line, "<pre"))
	}
	return quoted
}
