package matcher

import (
	"regexp"
	"strings"
	"time"
)

// stampPattern is a date and a time as logging libraries print it.
const stampPattern = `(?:\d{4}[-/]\d\d[-/]\d\d|\d\d/\d\d/\d{4}|\d\d[-/]\d\d)[ T_]\d\d:\d\d:\d\d(?:[.,:]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?`

// levelPattern is a severity in words.
const levelPattern = `(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL|SEVERE|EXCEPTION)`

// A recordForm is one way in which logging libraries begin a record. The groups are level and time.
type recordForm struct {
	first       string // the bytes with which such a record begins
	re          *regexp.Regexp
	level, time int
}

var recordForms = compileRecords(
	// glog, c10d, absl, torch: [E626 06:24:44.903 file.cpp:616], [E file.cpp:737], W1120 14:44:24.223000 4296 file.py:1012] [0/8]
	`[`, `\[(?P<level>[DIWEFVC])(?:(?P<time>\d{3,4} \d\d:\d\d:\d\d(?:\.\d+)?))? [^\]\[ ]+:\d+\] ?`,
	`DIWEFVC`, `(?P<level>[DIWEFVC])(?P<time>\d{4} \d\d:\d\d:\d\d(?:\.\d+)?)\s+\d+ [^\]\[ ]+:\d+\] ?(?:\[[\w/]+\] )?`,
	`IWEF`, `(?P<level>[IWEF])0000 00:00:\d+\.\d+\s+\d+ [^\]\[ ]+:\d+\] ?`,
	// Ray: [2025-12-07 09:57:19,206 E 393463 393463] (raylet) file.cc:3277:
	`[`, `\[(?P<time>`+stampPattern+`) (?P<level>[DIWEFC]) \d+ \d+\] (?:\([\w-]+\) )?(?:[\w./-]+:\d+: )?`,
	// NeMo: [NeMo W 2024-05-24 03:30:22 file:12]
	`[`, `\[\w+ (?P<level>[DIWE]) (?P<time>`+stampPattern+`) [^\]\[]*\] ?`,
	// DeepSpeed, older torchelastic: [2024-09-11 17:52:18,030] [INFO] [file.py:183:name], [2024-04-24 23:07:58,741] name: [ERROR]
	`[`, `\[(?P<time>`+stampPattern+`)\]\s?(?:\[?(?P<level>`+levelPattern+`)\]?:?\s+(?:\[[^\]\[]*\] ?)*|[\w.]+: \[(?P<level>`+levelPattern+`)\] ?)?`,
	// transformers and its like: [INFO|trainer.py:2926] 2024-05-24 03:30:22,799 >>, [DEBUG    | name]:, [WARNING] [comm.py:152:name]
	`[`, `\[(?P<level>`+levelPattern+`) *(?:\|[^\]\[]*)?\]:? ?(?:(?P<time>`+stampPattern+`) )?(?:>> )?(?:\[[^\]\[ ]+:\d+[^\]\[]*\] ?)?`,
	// logging, loguru, TensorFlow: 2024-05-24 03:30:22,123 - name - ERROR -, 2024-05-24 03:30:22.1 | ERROR | name:f:12 -, 2023-.. E file.cc:1]
	`0123456789`, `(?P<time>`+stampPattern+`): (?P<level>[DIWEF]) [^\]\[ ]+:\d+\] ?`,
	`0123456789`, `(?P<time>`+stampPattern+`)(?:\s*[-|:,]?\s+|[:|])(?:\[?[\w./-]+\]?\s*[-|:]\s+)?\[?(?P<level>`+levelPattern+`)\]?(?:\s*[-|:]\s*|\s+)(?:\[[^\]\[]*\]:?\s*|[\w.<>]+(?::[\w.<>]+)*(?: - |: | \| ))?`,
	// vLLM: ERROR 12-29 15:21:11 [file.py:751], ERROR 12-29 15:21:11 file.py:751]
	`DIWECF`, `(?P<level>`+levelPattern+`)\s+(?P<time>`+stampPattern+`)\s+\[?[^\]\[]{1,120}\] ?`,
	// logging's default and its relatives: ERROR:name:, DEBUG:2025-05-24 03:30:22,799:, ERROR: text
	`DIWECF`, `(?P<level>`+levelPattern+`):(?:(?P<time>`+stampPattern+`):|[\w.-]+: ?| )`,
)

// compileRecords takes pairs of first bytes and an expression. A group may stand twice in it: the one that took part counts.
func compileRecords(pairs ...string) []recordForm {
	var forms []recordForm
	for i := 0; i < len(pairs); i += 2 {
		re := regexp.MustCompile(`^` + pairs[i+1])
		forms = append(forms, recordForm{first: pairs[i], re: re, level: re.SubexpIndex("level"), time: re.SubexpIndex("time")})
	}
	return forms
}

// parseRecord finds the header of a log record at the start of the line's text.
func parseRecord(line *Line) {
	text, skipped := line.Text, 0
	if strings.HasPrefix(text, " [") {
		text, skipped = text[1:], 1
	}
	if text == "" || strings.IndexByte("[DIWEFVC0123456789", text[0]) < 0 {
		return
	}
	window := text[:min(len(text), maxPrefixLen)]
	if strings.IndexByte(window, ':') < 0 && text[0] != '[' {
		return
	}
	for i := range recordForms {
		form := &recordForms[i]
		if strings.IndexByte(form.first, text[0]) < 0 {
			continue
		}
		m := form.re.FindStringSubmatchIndex(window)
		if m == nil {
			continue
		}
		line.Head = m[1] + skipped
		line.Level = levelOf(form.word(text, m))
		if t := form.time; t > 0 && m[2*t] >= 0 && line.Time.IsZero() {
			line.Time = parseTime(text[m[2*t]:m[2*t+1]])
		}
		return
	}
}

// word is the level's word or letter, whichever of its groups took part.
func (f *recordForm) word(text string, m []int) string {
	for i, name := range f.re.SubexpNames() {
		if name == "level" && m[2*i] >= 0 {
			return text[m[2*i]:m[2*i+1]]
		}
	}
	return ""
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

// layouts are the forms of time that stampPattern and glog's header let through, without their fractions.
var layouts = []string{
	"2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006/01/02 15:04:05", "2006-01-02_15:04:05",
	"01/02/2006 15:04:05", "01-02 15:04:05", "0102 15:04:05", "01/02 15:04:05",
}

// parseTime reads a timestamp; zero when it is none.
func parseTime(s string) time.Time {
	if len(s) > 12 && s[3] == ' ' { // c10d leaves out the leading zero of the month
		s = "0" + s
	}
	zone := ""
	if i := strings.LastIndexAny(s, "Z+"); i > 10 {
		s, zone = s[:i], s[i:]
	} else if i := strings.LastIndexByte(s, '-'); i > 12 {
		s, zone = s[:i], s[i:]
	}
	fraction := time.Duration(0)
	if i := strings.LastIndexAny(s, ".,"); i > 0 {
		fraction, s = fractionOf(s[i+1:]), s[:i]
	} else if strings.Count(s, ":") == 3 {
		i := strings.LastIndexByte(s, ':')
		fraction, s = fractionOf(s[i+1:]), s[:i]
	}
	for _, layout := range layouts {
		if len(layout) != len(s) {
			continue
		}
		if t, err := time.Parse(layout, s); err == nil {
			return t.Add(fraction - offsetOf(zone))
		}
	}
	return time.Time{}
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
