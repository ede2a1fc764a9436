package traceback

import (
	"regexp"
	"strings"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/rules/pattern"
)

// quotedType is an exception behind the words of a program that caught it: "Task failed: RuntimeError: ...", "job 3 raised ValueError: ...", or behind a progress bar.
var quotedType = pattern.Lazy(`[A-Za-z].*?(?:(?:it/s|s/it)[^\]]*\]|[:|>)\]-][ "'(]+|\b(?:raised|raises|raising|with|got|caught|threw|thrown|by|error|exception|failed|failure|crashed)[ "'(]+)` +
	`((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit)): (.+)$`)

// quoted reads an exception that stands in the words of another program: as Python prints it, or as its repr.
func quoted(text string) (typ, msg string, ok bool) {
	if typ, msg, ok := reprOf(text); ok {
		return typ, msg, true
	}
	if !strings.Contains(text, "Error: ") && !strings.Contains(text, "Exception: ") {
		return "", "", false
	}
	m := quotedType().FindStringSubmatch(text)
	if m == nil || !looksRaised(m[1]) {
		return "", "", false
	}
	return m[1], m[2], true
}

var (
	caughtType = pattern.Lazy(`^(?:[^:]{0,60}(?i:\b(?:failed|failure|crashed|aborted|error|exception|fatal)\b)[^:]{0,60}:|(?:ERROR|CRITICAL|FATAL)(?: \S+:\d+:?)?|[^:]{0,120}\bUNAVAILABLE: [A-Z][\w ]{0,30}:|(?:worker|node|host|rank|gpu|master|slave)[\w.-]{0,40}\d:|\s{0,8}raise [\w.]+\(.{1,300}\)) ` +
		`((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)): (.+)$`)
	// toldType is an exception that a person says to have got, in Markdown's marks for code.
	toldType = pattern.Lazy("(?i:\\b(?:get(?:s|ting)?|got|gives?|giving|gave|see|saw|rais(?:es|ed|ing)|throws?|thr(?:ew|own)|fails? with|failed with|error|with|leads? to|results? in|hits?|encounter(?:s|ed)?|fac(?:es?|ed|ing)|met|meet)\\b[^`\n]{0,60}?)`{1,3}" +
		"((?:[A-Za-z_]\\w*\\.)*[A-Z]\\w*(?:Error|Exception)): ([^`\n]+)`{1,3}")
	// toldPlainly is one that a person tells of without marks; the words before it say that it is a person.
	toldPlainly = pattern.Lazy(`(?i:\b(?:I|I'm|we|my|me|you|u|plz|please|help)\b[^\n]{0,200}?\b(?:error|exception|errors|get|getting|got|meet|met|face|facing|see|saw|like|log|output|message)\b|^(?:errors? )?like|[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}：，])[ :;,"'(-]{0,4}` + toldClass + `(.+)$`)
	// toldQuoted is one that a person quotes: it appeared "RuntimeError: ...".
	toldQuoted = pattern.Lazy(toldWords + `[^\n"“]{0,40}?["“]` + toldClass + `([^\n"“”]+)["”]`)
	// toldInSingle is one between single quotes, which may stand in the message as well: the last one ends it.
	toldInSingle = pattern.Lazy(toldWords + `[^\n'‘]{0,40}?['‘]` + toldClass + `([^\n]+)['’](?:[\s.,!?)]|$)`)
	// toldInTitle is one behind the word with which a person heads a question, or in the title behind the label that a tracker puts there.
	toldInTitle = pattern.Lazy(`^[#*\s]*(?:(?i:question|bug|bug report|issue|problem|help|error|exception)\s?[:：-]?\s?|(?i:raised|threw|got|getting|(?:fail|crash|end)(?:s|ed) with) |[A-Z][^\n:]{2,80} [-–—] |` +
		`\[(?i:bug|bug report|question|issue|problem|help|help wanted|error|usage|installation)\] ?[:：]? ?(?:[^\n]{0,120}?[\s:：-])?)` + toldClass + `(.+)$`)
)

// toldClass is the class of an exception of which somebody tells, before its message.
const toldClass = `((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)): `

// toldWords are those with which a person tells of an error.
const toldWords = `(?i:\b(?:appear(?:s|ed)?|occur(?:s|red)?|show(?:s|ed|n)?|encounter(?:s|ed)?|report(?:s|ed)?|outputs?|prints?|sa(?:ys|id)|get(?:s|ting)?|got|met|meet|see|error|exception)\b)`

// goesOn is in the words before an exception that a program got over. A message itself may tell of what was tried, or advise to skip something.
var goesOn = pattern.Lazy(`(?i)retry|will try|trying|attempt|skip|ignor|fall(?:ing|s)? ?back|warn`)

// gotOver tells whether a program says that it goes on after an exception: in the words before its message, or in or after that.
func gotOver(before, message string) bool {
	return goesOn().MatchString(before) || logline.GoesOn(message)
}

// inTitle is an exception anywhere in the title of a post.
var inTitle = pattern.Lazy("(?:^|[\\s(\\[{:：,'\"`])" + toldClass + "([^`]+)")

// settled is what somebody adds to a title whose question was answered.
var settled = pattern.Lazy(`(?i)\s*[(\[](?:re)?(?:solved|closed|fixed|resolved|answered)[)\]]\s*$`)

// InTitle reads the exception that the title of a post names, or one of Python's own messages alone. It is asked for a traceback whose last
// line is not shown.
func InTitle(title string) (typ, msg string, ok bool) {
	title = settled().ReplaceAllString(title, "")
	m := inTitle().FindStringSubmatch(title)
	if m == nil {
		typ = classOfMessage(title)
		return typ, title, typ != ""
	}
	if !looksRaised(m[1]) {
		return "", "", false
	}
	msg = strings.TrimRight(m[2], " ")
	if strings.Count(msg, ")") > strings.Count(msg, "(") { // the title set it in brackets
		msg = strings.TrimSuffix(msg, ")")
	}
	return m[1], msg, true
}

// statusName is what C++ libraries write for a status. Python 3 prints OSError.
const statusName = "IOError"

// caughtRepr ends with an exception as repr writes it, behind the words with which a program that caught it says that it failed.
var caughtRepr = pattern.Lazy(`^[^:]{0,60}(?i:\b(?:failed|failure|crashed|aborted|error|exception|fatal)\b)[^:]{0,60}: ((?:[A-Za-z_]\w*\.)*[A-Z]\w*\(["'].+\))$`)

// caught reads an exception behind the words with which a program that caught it says that it failed: "Training failed: RuntimeError: ...",
// or with which a person tells of it: "I am getting a `RuntimeError: ...`". It reads none where the words say that it goes on.
func caught(text string) (typ, msg string, ok bool) {
	if strings.HasSuffix(text, ")") {
		if m := caughtRepr().FindStringSubmatch(text); m != nil {
			typ, msg, ok = wholeRepr(m[1])
			return typ, msg, ok && !gotOver(strings.TrimSuffix(text, m[1]), msg)
		}
	}
	if !strings.Contains(text, "Error: ") && !strings.Contains(text, "Exception: ") {
		return "", "", false
	}
	m := caughtType().FindStringSubmatch(text)
	if m == nil {
		m = told(text)
	}
	if m == nil || m[1] == statusName || !looksRaised(m[1]) || gotOver(text[:strings.Index(text, m[1])], m[2]) {
		return "", "", false
	}
	return m[1], strings.TrimRight(m[2], " |"), true // without the edge of a table
}

// maxTold is longer than any line in which a person tells of an exception.
const maxTold = 2000

// told reads an exception of which a person tells, with Markdown's marks for code or without them, as groups of its type and message.
func told(text string) []string {
	if len(text) > maxTold {
		return nil
	}
	for _, quoted := range []func() *regexp.Regexp{toldType, toldQuoted, toldInSingle, toldInTitle} {
		if m := quoted().FindStringSubmatch(text); m != nil {
			return m
		}
	}
	return toldPlainly().FindStringSubmatch(text)
}

// caughtWords are those with which a program that caught an exception says that it failed, before the message.
var caughtWords = pattern.Lazy(`^\W{0,8}(?:[\w'-]{1,20} ){0,3}(?i:failed|failure|crashed|aborted|error|exception|fatal|unable to|could not)\b[^:\t]{0,60}: +(\S.{7,})$`)

// systemWords are the operating system's alone, as a C program prints them behind the name of what they are about.
var systemWords = pattern.Lazy(`^(?:No such file or directory|Permission denied|Not a directory|Is a directory|File exists|Read-only file system|Connection refused|Address already in use)\.?$`)

// CaughtMessage is the message of an exception of which a program that caught it prints neither type nor traceback, only that it failed: "Error
// during training: CUDA out of memory", or a log record of an error. Alone says that there is no other line: then somebody pasted the
// message itself. Whether it is one is to be asked of those who know messages.
func CaughtMessage(line logline.Line, alone bool) (msg string, ok bool) {
	body := line.Body()
	logged := line.Level == logline.Error || line.Level == logline.Fatal
	if line.Level != "" && !logged || logline.OfLibrary(line.Text) {
		return "", false
	}
	before, msg, failed := "", body, logged || alone
	if m := caughtWords().FindStringSubmatch(body); m != nil {
		before, msg, failed = strings.TrimSuffix(body, m[1]), m[1], true
		if systemWords().MatchString(msg) {
			msg = body
		}
	}
	return msg, failed && !gotOver(before, msg)
}

// reprOf reads the repr of an exception with one argument: RuntimeError('...'). The outermost is what was raised last.
func reprOf(text string) (typ, msg string, ok bool) {
	for _, quote := range []string{"'", `"`} {
		before, after, found := strings.Cut(text, "("+quote)
		if !found {
			continue
		}
		typ := before[lastName(before):]
		if !looksRaised(typ) || typ != strings.TrimLeft(typ, ".") {
			continue
		}
		end := closing(after, quote[0])
		if end < 0 || !strings.HasPrefix(after[end+1:], ")") && !strings.HasPrefix(after[end+1:], ",)") {
			continue
		}
		if typ == keyError { // Python prints the key as it is written
			return typ, quote + after[:end] + quote, true
		}
		return typ, escapes.Replace(after[:end]), true
	}
	return "", "", false
}

// wholeRepr reads a line that is nothing but the repr of an exception, as Hydra prints what a target raised. Of several arguments, as an error
// number and its words or another exception, the message is what Python would print of them.
func wholeRepr(text string) (typ, msg string, ok bool) {
	name, args, found := strings.Cut(text, "(")
	if !found || lastName(name) != 0 {
		return "", "", false
	}
	typ, msg, ok = reprOf(text)
	if ok && typ == name && strings.HasSuffix(text, ")") {
		return typ, msg, true
	}
	if !looksRaised(name) || strings.HasPrefix(name, ".") || closingParen(args) != len(args)-1 {
		return "", "", false
	}
	if m := errnoArgs().FindStringSubmatch(args); m != nil {
		return name, "[Errno " + m[1] + "] " + m[2], true
	}
	return name, strings.TrimSuffix(args, ")"), exceptionArg().MatchString(args)
}

var (
	// errnoArgs are the arguments of an OSError: its number and the system's words.
	errnoArgs = pattern.Lazy(`^(\d{1,5}), '([^'\\]+)'\)$`)
	// exceptionArg begins with an exception in an exception's arguments.
	exceptionArg = pattern.Lazy(`^[A-Z]\w*(?:Error|Exception|Warning|Interrupt|Exit)\(`)
)

// closingParen is where the parenthesis closes in which a text begins, or -1; those in quotes do not count.
func closingParen(text string) int {
	for i, depth := 0, 1; i < len(text); i++ {
		switch text[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		case '\'', '"':
			end := closing(text[i+1:], text[i])
			if end < 0 {
				return -1
			}
			i += end + 1
		}
	}
	return -1
}

// lastName is where the dotted name begins that a text ends with.
func lastName(text string) int {
	i := len(text)
	for i > 0 && len(text)-i < maxTypeLen && (isLetter(text[i-1]) || isDigit(text[i-1]) || text[i-1] == '.') {
		i--
	}
	return i
}

// closing is where a quoted string ends, or -1.
func closing(text string, quote byte) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case quote:
			return i
		}
	}
	return -1
}
