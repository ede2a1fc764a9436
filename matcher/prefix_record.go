package matcher

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"
	"time"
)

// stampPattern is a date and a time as logging libraries print it.
const stampPattern = `(?:\d{4}[-/]\d\d[-/]\d\d|\d\d/\d\d/\d{4}|\d\d[-/]\d\d)[ T_]\d\d:\d\d:\d\d(?:[.,:]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?`

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
	[3]string{"[", "", `\[[A-Za-z]\w* (?P<level>[DIWE]) (?P<time>` + stampPattern + `) [^\]\[]*\] ?`},
	// transformers and its like: [INFO|trainer.py:2926] 2024-05-24 03:30:22,799 >>, [DEBUG    | name]:, [WARNING] [comm.py:152:name]
	[3]string{"[", "DIWECFS", `\[(?P<level>` + levelPattern + `) *(?:\|[^\]\[]*)?\]:? ?(?:(?P<time>` + stampPattern + `) )?(?:>> )?(?:\[[^\]\[ ]+:\d+[^\]\[]*\] ?)?`},
	// logging, loguru, TensorFlow: 2024-05-24 03:30:22,123 - name - ERROR -, 2024-05-24 03:30:22.1 | ERROR | name:f:12 -, 2023-.. E file.cc:1]
	[3]string{digits, digits, stamp + `: (?P<level>[DIWEF]) [^\]\[ ]+:\d+\] ?`},
	[3]string{digits, digits, stamp + `(?:\s*[-|:,]?\s+|[:|])(?:\[?[\w./-]+\]?\s*[-|:]\s+)?\[?(?P<level>` + levelPattern + `)\]?(?:\s*[-|:]\s*|\s+)(?:\[[^\]\[]*\]:?\s*|[\w.<>]+(?::[\w.<>]+)*(?: - |: | \| ))?`},
	// vLLM: ERROR 12-29 15:21:11 [file.py:751], ERROR 12-29 15:21:11 file.py:751]
	[3]string{"DIWECFS", "EINARX", `(?P<level>` + levelPattern + `)\s+(?P<time>` + stampPattern + `)\s+\[?[^\]\[]{1,120}\] ?`},
	// logging's default and its relatives: ERROR:name:, DEBUG:2025-05-24 03:30:22,799:, ERROR: text
	[3]string{"DIWECFS", "EINARX", `(?P<level>` + levelPattern + `):(?:(?P<time>` + stampPattern + `):|[\w.-]+: ?| )`},
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
				line.Time = parseTime(stamp)
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

// stampLen is the length of what stampPattern matches at the start of text, 0 for nothing.
func stampLen(text string) int {
	n := 0
	for _, form := range dateForms {
		if n = shaped(text, form); n > 0 {
			break
		}
	}
	if n == 0 || !strings.ContainsRune(" T_", rune((text + "\x00")[n])) || shaped(text[n+1:], "00:00:00") == 0 {
		return 0
	}
	n += len(" 00:00:00")
	if digits := digitsIn(text[min(n+1, len(text)):]); n < len(text) && strings.IndexByte(".,:", text[n]) >= 0 && digits > 0 {
		n += 1 + min(digits, 9)
	}
	for _, zone := range zoneForms {
		if z := shaped(text[n:], zone); z > 0 {
			return n + z
		}
	}
	return n
}

// Forms of dates and zones: 0 stands for any digit, - for a dash or a slash, + for either sign.
var (
	dateForms = []string{"0000-00-00", "00/00/0000", "00-00"}
	zoneForms = []string{"Z", "+00:00", "+0000"}
)

// shaped is the length of form if text begins like it, else 0.
func shaped(text, form string) int {
	if len(text) < len(form) {
		return 0
	}
	for i := range len(form) {
		c := text[i]
		switch form[i] {
		case '0':
			if !isDigit(c) {
				return 0
			}
		case '-':
			if c != '-' && c != '/' {
				return 0
			}
		case '+':
			if c != '+' && c != '-' {
				return 0
			}
		default:
			if c != form[i] {
				return 0
			}
		}
	}
	return len(form)
}

// digitsIn is how many digits text begins with.
func digitsIn(text string) int {
	n := 0
	for n < len(text) && isDigit(text[n]) {
		n++
	}
	return n
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

// parseTime reads a timestamp of a form that stampPattern or glog's header lets through; zero when it is none.
func parseTime(s string) time.Time {
	year, month, day, s := parseDate(s)
	if len(s) < 9 || s[3] != ':' || s[6] != ':' {
		return time.Time{}
	}
	hour, minute, second := number(s[1:3]), number(s[4:6]), number(s[7:9])
	if month < 1 || month > 12 || day < 1 || day > 31 || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60 {
		return time.Time{}
	}
	fraction, s := time.Duration(0), s[9:]
	if s != "" && strings.IndexByte(".,:", s[0]) >= 0 {
		n := 1
		for n < len(s) && isDigit(s[n]) {
			n++
		}
		fraction, s = fractionOf(s[1:n]), s[n:]
	}
	return time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC).Add(fraction - offsetOf(s))
}

// parseDate reads the date that s begins with and gives the rest. A month that is no number is -1.
func parseDate(s string) (year, month, day int, rest string) {
	switch {
	case len(s) > 10 && (s[4] == '-' || s[4] == '/'): // 2006-01-02
		return number(s[:4]), number(s[5:7]), number(s[8:10]), s[10:]
	case len(s) > 10 && s[2] == '/' && s[5] == '/': // 01/02/2006
		return number(s[6:10]), number(s[:2]), number(s[3:5]), s[10:]
	case len(s) > 5 && (s[2] == '-' || s[2] == '/'): // 01-02
		return 0, number(s[:2]), number(s[3:5]), s[5:]
	case len(s) > 4 && s[4] == ' ': // 0102
		return 0, number(s[:2]), number(s[2:4]), s[4:]
	case len(s) > 3 && s[3] == ' ': // 102: c10d leaves out the leading zero
		return 0, number(s[:1]), number(s[1:3]), s[3:]
	}
	return 0, -1, 0, ""
}

// number reads a few digits; anything else is -1.
func number(s string) int {
	n := 0
	for i := range len(s) {
		if !isDigit(s[i]) {
			return -1
		}
		n = n*10 + int(s[i]-'0')
	}
	return n
}

// fractionOf reads the digits after a decimal point as a part of a second.
func fractionOf(digits string) time.Duration {
	n, unit := time.Duration(0), time.Second
	for i := 0; i < len(digits) && i < 9 && digits[i] >= '0' && digits[i] <= '9'; i++ {
		n, unit = n*10+time.Duration(digits[i]-'0'), unit/10
	}
	return n * unit
}

// offsetOf reads a zone like +02:00; anything else is UTC.
func offsetOf(zone string) time.Duration {
	zone = strings.ReplaceAll(zone, ":", "")
	if len(zone) != 5 {
		return 0
	}
	t, err := time.Parse("-0700", zone)
	if err != nil {
		return 0
	}
	_, seconds := t.Zone()
	return time.Duration(seconds) * time.Second
}

// transportStamp reads the RFC 3339 time that GitHub Actions, kubectl and container runtimes put before each line, and gives its
// length with the space after it; a container runtime's stream and flag ("stdout F ") belong to it.
func transportStamp(s string) (time.Time, int) {
	if len(s) < 20 || s[0] < '0' || s[0] > '9' || s[10] != 'T' || s[4] != '-' {
		return time.Time{}, 0
	}
	n := strings.IndexByte(s[:min(len(s), 40)], ' ')
	if n < 0 {
		n = len(s)
		if n > 36 {
			return time.Time{}, 0
		}
	}
	t, err := time.Parse(time.RFC3339Nano, s[:n])
	if err != nil {
		return time.Time{}, 0
	}
	n = min(n+1, len(s))
	for _, stream := range []string{"stdout F ", "stderr F ", "stdout P ", "stderr P "} {
		if strings.HasPrefix(s[n:], stream) {
			n += len(stream)
		}
	}
	return t.UTC(), n
}

// dockerLog is how a line begins that Docker's json-file driver wrote.
const dockerLog = `{"log":"`

// unwrap takes a line out of the JSON that Docker's json-file driver puts around it.
func unwrap(text string) (string, time.Time) {
	var entry struct {
		Log  string    `json:"log"`
		Time time.Time `json:"time"`
	}
	if err := json.Unmarshal([]byte(text), &entry); err != nil {
		return text, time.Time{}
	}
	line := strings.TrimRight(entry.Log, "\r\n")
	line = strings.ReplaceAll(line[strings.LastIndexByte(line, '\r')+1:], "\n", " ")
	return printable([]byte(line)), entry.Time.UTC()
}
