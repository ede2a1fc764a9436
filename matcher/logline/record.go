package logline

import (
	"regexp"
	"strings"
	"sync"

	"github.com/gpu-triage/triage/rules/wrapper"
)

// minRecordLen is how many bytes a line with a header has, at least.
const minRecordLen = 8

// levelWords are the words of wrapper.Level.
var levelWords = func() map[string]bool {
	words := map[string]bool{}
	for word := range strings.SplitSeq(strings.Trim(wrapper.Level, "(?:)"), "|") {
		words[word] = true
	}
	return words
}()

// recordShortcut is what spares most lines the expression of a form.
type recordShortcut struct {
	timed      bool                    // the header begins with a time,
	before     int                     // behind so many bytes,
	then       string                  // which this must follow at once, "" for anything,
	worded     bool                    // and a level in words
	expression func() recordExpression // of what follows that time, or of all; compiled when a line may have the form
}

// recordExpression is the compiled expression of a form.
type recordExpression struct {
	*regexp.Regexp
	levels []int // groups, of which one takes part
	time   int   // a group, or less than 1
}

// literalStart is what an expression begins with that stands for itself.
var literalStart = regexp.MustCompile(`^[:, ]*`)

func newRecordForm(form *wrapper.Form) *recordForm {
	f := &recordForm{Form: form}
	source, cut := form.Source, &f.shortcut
	before, after, timed := strings.Cut(source, wrapper.Time)
	if timed {
		source = after
		cut.timed, cut.before = true, len(strings.ReplaceAll(before, `\`, ""))
		cut.then = literalStart.FindString(after)
		cut.worded = cut.before == 0 && strings.Contains(after, wrapper.Level)
	}
	cut.expression = sync.OnceValue(func() recordExpression { return recordExpressionOf(source) })
	return f
}

// recordExpressionOf compiles the expression of a form.
func recordExpressionOf(source string) recordExpression {
	e := recordExpression{Regexp: wrapper.Compile(source)}
	e.time = e.SubexpIndex("time")
	for n, name := range e.SubexpNames() {
		if name == "level" {
			e.levels = append(e.levels, n)
		}
	}
	return e
}

// parseRecord finds the header of a log record at the start of the line's text.
func parseRecord(line *Line) {
	text, skipped := line.Text, 0
	if strings.HasPrefix(text, " ") {
		skipped = setIn(text)
		text = text[skipped:]
	}
	if len(text) < minRecordLen || strings.IndexByte("[DIWEFVCSt0123456789-", text[0]) < 0 {
		return
	}
	window := text[:min(len(text), maxPrefixLen)]
	if strings.IndexByte(window, ':') < 0 && text[0] != '[' {
		return
	}
	for _, form := range forms().recordsAt[text[0]] {
		if !form.Begins(window) {
			continue
		}
		if n, level, time := form.match(window); n > 0 {
			line.Head, line.Level = n+skipped, levelOf(level)
			if time != "" && line.Time.IsZero() {
				line.Time = parseTime(time)
			}
			return
		}
	}
}

// maxSetIn is how many blanks somebody may have put before a record with a time, so that it shows as code.
const maxSetIn = 8

// setIn is how many blanks stand before the header of a record: one before a bracket, more before a time.
func setIn(text string) int {
	if strings.HasPrefix(text, " [") {
		return 1
	}
	blanks := len(text) - len(strings.TrimLeft(text, " "))
	if blanks <= maxSetIn && stampLen(text[blanks:]) > 0 {
		return blanks
	}
	return 0
}

// match gives the length of the header of that form that a possible text begins with, 0 for none, and what stands there as level and time.
func (f *recordForm) match(text string) (length int, level, time string) {
	cut := &f.shortcut
	if cut.timed {
		n := stampLen(text[cut.before:])
		if n == 0 {
			return 0, "", ""
		}
		length = cut.before + n
		time = text[cut.before:length]
	}
	if !strings.HasPrefix(text[length:], cut.then) || cut.worded && !hasLevel(text[length:]) {
		return 0, "", ""
	}
	expression := cut.expression()
	m := expression.FindStringSubmatchIndex(text[length:])
	if m == nil {
		return 0, "", ""
	}
	group := func(i int) string {
		if m[2*i] < 0 {
			return ""
		}
		return text[length+m[2*i] : length+m[2*i+1]]
	}
	for _, i := range expression.levels {
		level += group(i)
	}
	if expression.time > 0 {
		time = group(expression.time)
	}
	return length + m[1], level, time
}

// hasLevel tells whether a text has one of the levels as a word.
func hasLevel(text string) bool {
	for i := 0; i < len(text); i++ {
		start := i
		for i < len(text) && 'A' <= text[i] && text[i] <= 'Z' {
			i++
		}
		if i-start >= len("INFO") && levelWords[text[start:i]] {
			return true
		}
	}
	return false
}

// levelOf is the level that a word or a letter means, "" for none.
func levelOf(word string) Level {
	if word == "" {
		return ""
	}
	switch word[0] {
	case 'D', 'V', 'd':
		return Debug
	case 'I', 'i':
		return Info
	case 'W', 'w':
		return Warning
	case 'F', 'C', 'c':
		return Fatal
	}
	return Error
}
