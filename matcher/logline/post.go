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
	MaxPost     = 60 << 10 // all of it
	maxSentence = 2000     // a line of it
)

// Fence begins and ends what Markdown sets apart on lines of its own.
const Fence = "```"

// heading is what makes a line a heading in Markdown, or a quotation whose mark stands right before its first word.
var heading = pattern.Lazy(`^(?:#{1,6} |>\b)`)

// openMarks are those of Markdown that begin or end what is set apart over several lines. A fence has a line of its own.
var openMarks = []string{"**", "`"}

// tickedLines are lines in a row that have marks for code of their own, as somebody makes them who sets each line of a print apart.
var tickedLines = pattern.Lazy("(?m)(?:^`[^`\n]+`[ \r]*\n){3}")

// withoutMarks is a line without the mark of a heading or quotation, and of what goes on in the next lines or began before.
func withoutMarks(line string, ticked bool) string {
	line = line[len(heading().FindString(line)):]
	if strings.HasPrefix(line, Fence) {
		return line
	}
	if ticked && strings.HasPrefix(line, codeMark) && strings.HasSuffix(line, codeMark) && strings.Count(line, codeMark) == 2 {
		return strings.Trim(line, codeMark)
	}
	for _, mark := range openMarks {
		if strings.Count(line, mark) == 1 {
			line = strings.TrimSuffix(strings.TrimPrefix(line, mark), mark)
		}
	}
	return line
}

const (
	// class names an exception.
	class = `(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)`
	// exception begins the last line of a traceback.
	exception = class + `(?:: |\b)`
	// raisedText begins one with its message.
	raisedText = class + `: `
	// announced are words behind which a person gives a message without marks.
	announced = `(?i:\b(?:gives?|giving|gave|gets?|getting|got|returns?|returning|shows?|showing|see|seeing|saw|says?|saying|prints?|throws?|with|have|having|following|this|encounter(?:ed|ing)?|receiv(?:e|ed|ing)|produces?)\b` +
		`[^:\n]{0,40}\b(?:errors?|messages?|exception|issue|problem|output)\b[^:\n]{0,20}): ?|(?i:\berrors? (?:like|such as)) `
	// ofError are words that only a message follows.
	ofError = `(?i:\b(?:errors?|exception|warning|messages?)(?: \w+){0,3}:? {0,2})`
	// plain are messages that are known by their form alone: those of Python, and the last words of a process. They tell where a quotation
	// ends; which class raises them, package traceback knows (builtin.txt).
	plain = `cannot import name '?\w+'?(?: from '[\w.]+')?(?: \([^()\n]+\))?|No module named '?[\w.]+'?|'[\w.]+' object (?:has no attribute '\w+'|is not (?:subscriptable|iterable|callable))|module '[\w.]+' has no attribute '\w+'|` +
		`[\w.]+\(\) (?:got an unexpected keyword argument '\w+'|missing \d+ required [\w-]+ arguments?: '\w+'(?:(?:,| and) '\w+')*|takes (?:from \d+ to )?\d+ positional arguments? but \d+ (?:was|were) given)|` +
		`name '\w+' is not defined|No such file or directory: '[^'\n]+'|(?:Illegal instruction|Segmentation fault)(?: \(core dumped\))?`
)

// quotation is a way in which a person sets apart what was printed. What was said before it is the first group, what was printed the second.
type quotation struct {
	pattern func() *regexp.Regexp
	sure    bool // what is set apart so was printed, whatever its words
}

// quotations are looked for in this order. An exception ends at the last mark of its kind, for the same may stand in its message.
var quotations = []quotation{
	{pattern.Lazy("(" + ofError + ")`{1,3}((?:[^`\\s]+ ){2,}[^`\n]{1,800})`{1,3}"), true},
	{pattern.Lazy("(" + ofError + `)["“]((?:[^"“”\s]+ ){2,}[^"“”\n]{1,800})["”]`), true},
	{pattern.Lazy("()`{1,3}(" + exception + "[^\\n]{0,800})`{1,3}(?:[\\s.,!?);:]|$)"), true},
	{pattern.Lazy(`()\*\*(` + exception + `[^\n]{0,800})\*\*(?:[\s.,!?);:]|$)`), true},
	{pattern.Lazy(`()\( ?(` + raisedText + `[^\n]{2,800}?)\)(?:[\s.,!?;:]|$)`), true},
	{pattern.Lazy(`()["“](` + exception + `[^\n]{0,800})["”](?:[\s.,!?);:]|$)`), true},
	{pattern.Lazy(`^(.{0,200}\braise \w[\w.]*\([^\n]{0,400}?) (` + exception + `[^\n]{0,800})$`), true}, // a statement, and what it raised
	{pattern.Lazy("()`{1,3}([^`\\n]{12,800})`{1,3}"), false},
	{pattern.Lazy(`()\*\*([^*\n]{12,800})\*\*`), false},
	{pattern.Lazy(`()["“]([^\s"“”][^"“”\n]{11,800})["”]`), false},
	{pattern.Lazy(`(` + announced + `)(\S[^\n]{12,800})$`), false},
	{pattern.Lazy("((?i:\\b(?:gives?|gave|giving|got|gets?|says?|said|shows?|showed|prints?|printed|returns?|returned)\\b(?: me| us)?[:,]?) )`([^`\n]{12,800})$"), false}, // it goes on in the next line
	{pattern.Lazy(`^([^\n]{1,300}?[\s'‘：])(` + raisedText + `[^\n]{2,800})$`), true},
	{pattern.Lazy(`()(` + plain + `)`), true},
}

// failing finds the words of which each message has one that says what failed.
var failing = pattern.Lazy(`(?i)(?:error|exception)\b|\b(?:no such|no module|not found|fail(?:s|ed|ure)?|can ?not|can['’]t|could ?n['o]t|denied|fatal|killed|invalid|unable|undefined|out of memory|timed out|refused|not recognized|unrecognized|` +
	`fault|illegal|no attribute|unexpected|required|aborted|not supported|unsupported|missing|mismatch|not (?:a|an|in|installed|available|allowed|defined|loaded|set|valid|accessible|enabled|detected|compatible|reachable|running))\b`)

// marked is a line that Markdown's marks set apart as a whole: of four words or more, what a program printed or a command; or an error.
var marked = pattern.Lazy("^\\s{0,3}(?:`{1,2}([^`\\s]+(?: [^`\\s]+){3,})`{1,2}[.,;]?|\\*\\*((?:[A-Za-z_.]*Error|ERROR|Exception): [^*\\n]+)\\*\\*)\\s*$")

// minWords is how many words a message has, at least, that is taken out of a sentence.
const minWords = 3

// ofProgram finds lines that a program printed, that are an exception, or a statement that raises one, as the #error of a header.
var ofProgram = pattern.Lazy(`^\s*(?:raise|assert) [^\n]*["'(),]\s*$|^\s*(?:\S*(?:Error|Exception|Warning)\b[^ ]*: |[A-Z]{4,}\b|[\[{<]|\d|[\w./-]+: |File "|(?:> )?#? ?error "|(?i:error|exception) \w+ was: )`)

// linked begins a sentence with a link of Markdown.
var linked = pattern.Lazy(`^\[[^\]\n]*\]\(https?://`)

// quotedLines puts what a sentence quotes of a failure on lines of their own.
func quotedLines(sentence string) string {
	if len(sentence) > maxSentence || strings.Contains(sentence, TracebackHeader) {
		return sentence
	}
	sentence = asPrinted(sentence)
	if m := marked().FindStringSubmatch(sentence); m != nil {
		return "\n" + m[1] + m[2] + ends
	}
	if ofProgram().MatchString(sentence) && !linked().MatchString(sentence) || !failing().MatchString(sentence) {
		return sentence
	}
	for _, q := range quotations {
		text := q.pattern().ReplaceAllStringFunc(sentence, q.onItsOwnLine)
		if text != sentence {
			return strings.TrimRight(text, "\n")
		}
	}
	return sentence
}

// failed finds what else says so in what is known to be a message.
var failed = pattern.Lazy(`(?i)\b(?:terminated|wrong|(?:did|does|is|was|are|were) not|(?:did|does|is|was)n['’]t)\b`)

// Failed tells whether a message has a word that says what failed.
func Failed(message string) bool {
	return failing().MatchString(message) || failed().MatchString(message)
}

// announces ends a sentence that the message of an error follows, on a line of its own.
var announces = pattern.Lazy(`(?i)\b(?:errors?|exception|messages?|fail(?:s|ed|ing|ure))\b[^.:：]{0,60}[:：]?\s*$`)

// Announces tells whether a line of a post says that the next one is the message of an error.
func Announces(line string) bool { return len(line) <= maxSentence && announces().MatchString(line) }

// ends are the empty lines that tell what follows in a sentence from what was printed, so that it is not taken for more of it.
const ends = "\n\n\n"

// ofPlace ends the words before a quotation that tells where an error came up, and not what it says: "an error on `x = f()`".
var ofPlace = pattern.Lazy(`(?i)\berrors? (?:\w+ )?(?:on|in|at|from|when|while|during|calling|running|executing)\s*$`)

// onItsOwnLine sets a quotation apart that says what failed.
func (q quotation) onItsOwnLine(whole string) string {
	m := q.pattern().FindStringSubmatch(whole)
	said := strings.TrimRight(strings.TrimSpace(m[2]), "`")
	if ofPlace().MatchString(m[1]) || !q.sure && (len(strings.Fields(said)) < minWords || !failing().MatchString(said)) {
		return whole
	}
	end := endOfCode(said, whole)
	if end < 0 {
		end = endOfMessage(said)
	}
	if end >= 0 {
		said = said[:end]
		return m[1] + "\n" + said + ends + strings.TrimLeft(whole[strings.Index(whole, said)+end:], codeMark)
	}
	return m[1] + "\n" + said + ends
}

// speechBehind is a message with a further sentence behind it, in which a person speaks of himself or asks.
var speechBehind = pattern.Lazy(`^([^\n]{8,}?[.!])["')]{0,2} +(?:[A-Z](?:[^\n.!]|[.!][^\s\n])*?)?(?:\b` + self + `|\b(?:[Ww]hat|[Hh]ow|[Ww]hy|[Aa]ny|[Ss]ome(?:one|body)) [^\n?]*\?)`)

// ownWhole is one of Python's own messages as a whole, at the beginning of what is quoted.
var ownWhole = pattern.Lazy(`^(?:` + class + `: )?(?:` + plain + `)(?:\.? Did you mean[^?\n]*\?)?`)

// endOfMessage is where a message ends that a person's words go on behind, -1 where none do.
func endOfMessage(said string) int {
	if own := ownWhole().FindString(said); own != "" && len(own) < len(said) {
		return len(own)
	}
	at := speechBehind().FindStringSubmatchIndex(said)
	if at == nil {
		return -1
	}
	return at[3]
}

// codeMark sets code apart in Markdown.
const codeMark = "`"

// endOfCode is where the first of several pieces of code ends that stand in a quotation with words of a person between them, -1 where it is
// one: `KeyError: 'x'`, because `f()` takes it out. A mark within a message stands behind a blank, or has one of its own before it.
func endOfCode(said, whole string) int {
	after := strings.Count(whole[strings.Index(whole, said):], codeMark)
	for i := range said {
		if said[i] != codeMark[0] {
			continue
		}
		after--
		if behind := strings.TrimLeft(said[i+1:], ",.;:!?)"); i > 0 && said[i-1] != ' ' && after%2 == 0 && strings.HasPrefix(behind, " ") {
			return i
		}
		return -1 // the message itself has marks
	}
	return -1
}
