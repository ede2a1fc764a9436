package logline

import (
	"regexp"
	"strings"

	"github.com/gpu-triage/triage/rules/pattern"
)

// A person who asks about a failure quotes in the midst of a sentence what a program printed on a line of its own. In a post it gets one:
//
//	and get the error ```No such file or directory: 'a.pth'```

// Bounds of a post, in bytes.
const (
	maxPost     = 60 << 10 // all of it
	maxSentence = 2000     // a line of it
)

var (
	// asks finds what no program says of itself.
	asks = pattern.Lazy(`(?mi)^[^\n]{0,300}(?:^|[\s(])(?:i|i['’](?:m|ve)|we|my)\s[a-z]+[ ,.?!]|^\W{0,3}(?:hi|hello|hey|dear)\b[ ,!a-z]{0,40}$|\b(?:thanks|thank you|please help|any (?:idea|help|advice|suggestion))\b|^\W{0,6}(?:describe the bug|to reproduce|steps to reproduce|expected behaviou?r|environment|system info)\W{0,6}$`)
	// failing are words of which each message has one that says what failed.
	failing = pattern.Lazy(`(?i)\b(?:error|exception|no such|not found|fail(?:s|ed|ure)?|can ?not|can['’]t|could ?n['o]t|denied|fatal|killed|invalid|unable|undefined|out of memory|timed out|refused|not recognized|unrecognized|fault|aborted|not supported|unsupported|missing|mismatch|not (?:a|an|in|installed|available|allowed|defined))\b`)
	// ofProgram begins lines that a program printed, or that are an exception.
	ofProgram = pattern.Lazy(`^\s*(?:\S*(?:Error|Exception|Warning)\b[^ ]*: |[A-Z]{4,}\b|[\[{<]|\d|[\w./-]+: |File ")`)
	// quotations are how a person sets apart what was printed: as code, in bold, in quotes, or behind words that announce it.
	quotations = []func() *regexp.Regexp{
		pattern.Lazy("()`{1,3}([^`\\n]{12,800})`{1,3}"),
		pattern.Lazy(`()\*\*([^*\n]{12,800})\*\*`),
		pattern.Lazy(`()["“]([^"“”\n]{12,800})["”]`),
		pattern.Lazy(`((?i:\b(?:gives?|giving|gave|gets?|getting|got|returns?|returning|shows?|showing|see|seeing|saw|says?|saying|prints?|throws?|with|have|having|following|this|encounter(?:ed|ing)?|receiv(?:e|ed|ing)|produces?)\b[^:\n]{0,40}\b(?:errors?|messages?|exception|issue|problem|output)\b[^:\n]{0,20}): ?)(\S[^\n]{12,800})$`),
	}
)

// minWords is how many words a message has, at least, that is taken out of a sentence.
const minWords = 3

// isPost tells whether a source is what a person wrote, with what was printed in it.
func isPost(head []byte) bool {
	return len(head) <= maxPost && asks().Match(head)
}

// heading is what makes a line a heading in Markdown.
var heading = pattern.Lazy(`^#{1,6} `)

// openMarks are those of Markdown that begin or end what is set apart over several lines. A fence has a line of its own.
var openMarks = []string{"**", "`"}

// withoutMarks is a line without the mark of a heading, and of what goes on in the next lines or began before.
func withoutMarks(line string) string {
	line = line[len(heading().FindString(line)):]
	if strings.HasPrefix(line, "```") {
		return line
	}
	for _, mark := range openMarks {
		if strings.Count(line, mark) == 1 {
			line = strings.TrimSuffix(strings.TrimPrefix(line, mark), mark)
		}
	}
	return line
}

// quotedLines puts what a sentence quotes of a failure on lines of their own.
func quotedLines(sentence string) string {
	if len(sentence) > maxSentence || ofProgram().MatchString(sentence) || !failing().MatchString(sentence) {
		return sentence
	}
	for _, quotation := range quotations {
		text := quotation().ReplaceAllStringFunc(sentence, func(whole string) string {
			m := quotation().FindStringSubmatch(whole)
			said := strings.TrimSpace(m[2])
			if len(strings.Fields(said)) < minWords || !failing().MatchString(said) {
				return whole
			}
			return m[1] + "\n" + said + "\n"
		})
		if text != sentence {
			return strings.TrimRight(text, "\n")
		}
	}
	return sentence
}
