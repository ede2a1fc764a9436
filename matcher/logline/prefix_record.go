package logline

import (
	"regexp"
	"strings"
	"sync"
)

// levelPattern is a severity in words.
const levelPattern = `(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL|SEVERE|EXCEPTION)`

var levelWords = map[string]bool{"DEBUG": true, "INFO": true, "WARNING": true, "WARN": true, "ERROR": true, "CRITICAL": true, "FATAL": true, "SEVERE": true,
	"EXCEPTION": true}

// A recordForm is one way in which logging libraries begin a record. The groups are level and time.
type recordForm struct {
	first      string                  // the bytes with which such a record begins
	second     string                  // the bytes that can follow, "" for any
	stamped    int                     // how many bytes stand before the time that such a record begins with, -1 when it begins otherwise
	then       string                  // what must follow that time at once, "" for anything
	worded     bool                    // a level in words must follow it
	expression func() recordExpression // of what follows that time, or of all; compiled when a line may have the form
}

type recordExpression struct {
	*regexp.Regexp
	levels []int // groups, of which one takes part
	time   int   // a group, or less than 1
}

var recordForms = compileRecords(
	// glog, c10d, absl, torch: [E626 06:24:44.903 file.cpp:616], [E file.cpp:737], W1120 14:44:24.223000 4296 file.py:1012] [0/8]
	[3]string{"[", "DIWEFVC", `\[(?P<level>[DIWEFVC])(?:(?P<time>\d{3,4} \d\d:\d\d:\d\d(?:\.\d+)?))? [^\]\[ ]+:\d+\] ?`},
	[3]string{"DIWEFVC", digits, `(?P<level>[DIWEFVC])(?P<time>\d{4} \d\d:\d\d:\d\d(?:\.\d+)?)\s+\d+ [^\]\[ ]+:\d+\] ?(?:\[[\w/]+\] )?`},
	[3]string{"IWEF", "0", `(?P<level>[IWEF])0000 00:00:\d+\.\d+\s+\d+ [^\]\[ ]+:\d+\] ?`},
	// Ray: [2025-12-07 09:57:19,206 E 393463 393463] (raylet) file.cc:3277:
	// DeepSpeed, older torchelastic: [2024-09-11 17:52:18,030] [INFO] [file.py:183:name], [2024-04-24 23:07:58,741] name: [ERROR]
	[3]string{"[", digits, `\[` + stamp + `(?: (?P<level>[DIWEFC]) \d+ \d+\] (?:\([\w-]+\) )?(?:[\w./-]+:\d+: )?` +
		`|\]\s?(?:\[?(?P<level>` + levelPattern + `)\]?:?\s+(?:\[[^\]\[]*\] ?)*|[\w.]+: \[(?P<level>` + levelPattern + `)\] ?)?)`},
	// NeMo: [NeMo W 2024-05-24 03:30:22 file:12]
	[3]string{"[", "", `\[[A-Za-z]\w* (?P<level>[DIWE]) (?P<time>` + StampPattern + `) [^\]\[]*\] ?`},
	// transformers and its like: [INFO|trainer.py:2926] 2024-05-24 03:30:22,799 >>, [DEBUG    | name]:, [WARNING] [comm.py:152:name]
	[3]string{"[", "DIWECFS", `\[(?P<level>` + levelPattern + `) *(?:\|[^\]\[]*)?\]:? ?(?:(?P<time>` + StampPattern + `) )?(?:>> )?(?:\[[^\]\[ ]+:\d+[^\]\[]*\] ?)?`},
	// logging, loguru, TensorFlow: 2024-05-24 03:30:22,123 - name - ERROR -, 2024-05-24 03:30:22.1 | ERROR | name:f:12 -, 2023-.. E file.cc:1]
	[3]string{digits, digits, stamp + `: (?P<level>[DIWEF]) [^\]\[ ]+:\d+\] ?`},
	[3]string{digits, digits, stamp + `(?:\s*[-|:,]?\s+|[:|])(?:\[?[\w./-]+\]?\s*[-|:]\s+)?\[?(?P<level>` + levelPattern + `)\]?(?:\s*[-|:]\s*|\s+)(?:\[[^\]\[]*\]:?\s*|[\w.<>]+(?::[\w.<>]+)*(?: - |: | \| ))?`},
	// vLLM: ERROR 12-29 15:21:11 [file.py:751], ERROR 12-29 15:21:11 file.py:751]
	[3]string{"DIWECFS", "EINARX", `(?P<level>` + levelPattern + `)\s+(?P<time>` + StampPattern + `)\s+\[?[^\]\[]{1,120}\] ?`},
	// logging's default and its relatives: ERROR:name:, DEBUG:2025-05-24 03:30:22,799:, ERROR: text
	[3]string{"DIWECFS", "EINARX", `(?P<level>` + levelPattern + `):(?:(?P<time>` + StampPattern + `):|[\w.-]+: ?| )`},
)

// stamp stands in the expression of a form for the time that it begins with: finding that without an expression is much faster.
const stamp = "STAMP"

// literalStart is what an expression begins with that stands for itself.
var literalStart = regexp.MustCompile(`^[:, ]*`)

// compileRecords takes the first and the second bytes and an expression of each form. A group may stand twice in it: the one that
// took part counts.
func compileRecords(sources ...[3]string) []recordForm {
	forms := make([]recordForm, len(sources))
	for i, s := range sources {
		before, after, stamped := strings.Cut(s[2], stamp)
		form := recordForm{first: s[0], second: s[1], stamped: -1}
		if stamped {
			form.stamped, s[2] = len(strings.ReplaceAll(before, `\`, "")), after
			form.then = literalStart.FindString(after)
			form.worded = form.stamped == 0 && strings.Contains(after, levelPattern)
		}
		form.expression = sync.OnceValue(func() recordExpression { return recordExpressionOf(s[2]) })
		forms[i] = form
	}
	return forms
}

func recordExpressionOf(source string) recordExpression {
	e := recordExpression{Regexp: regexp.MustCompile(`^(?:` + source + `)`)}
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
	if strings.HasPrefix(text, " [") {
		text, skipped = text[1:], 1
	}
	if len(text) < 8 || strings.IndexByte("[DIWEFVCS0123456789", text[0]) < 0 {
		return
	}
	window := text[:min(len(text), maxPrefixLen)]
	if strings.IndexByte(window, ':') < 0 && text[0] != '[' {
		return
	}
	for i := range recordForms {
		form := &recordForms[i]
		if strings.IndexByte(form.first, text[0]) < 0 || form.second != "" && strings.IndexByte(form.second, text[1]) < 0 {
			continue
		}
		if n, level, stamp := form.match(window); n > 0 {
			line.Head, line.Level = n+skipped, levelOf(level)
			if stamp != "" && line.Time.IsZero() {
				line.Time = ParseTime(stamp)
			}
			return
		}
	}
}

// match gives the length of the header of that form that text begins with, 0 for none, and what stands there as level and time.
func (f *recordForm) match(text string) (length int, level, stamp string) {
	if f.stamped >= 0 {
		n := stampLen(text[f.stamped:])
		if n == 0 {
			return 0, "", ""
		}
		length = f.stamped + n
		stamp = text[f.stamped:length]
	}
	if !strings.HasPrefix(text[length:], f.then) || f.worded && !levelled(text[length:]) {
		return 0, "", ""
	}
	expression := f.expression()
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
		stamp = group(expression.time)
	}
	return length + m[1], level, stamp
}

// levelled tells whether a text has one of the levels as a word.
func levelled(text string) bool {
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

func levelOf(word string) Level {
	if word == "" {
		return ""
	}
	switch word[0] {
	case 'D', 'V':
		return Debug
	case 'I':
		return Info
	case 'W':
		return Warning
	case 'F', 'C':
		return Fatal
	}
	return Error
}
