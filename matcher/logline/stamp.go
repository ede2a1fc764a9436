package logline

import (
	"strings"
	"time"

	"github.com/gpu-triage/triage/rules/pattern"
	"github.com/gpu-triage/triage/rules/wrapper"
)

// stampLen is the length of what wrapper.Stamp matches at the start of text, 0 for nothing.
func stampLen(text string) int {
	n := dateLen(text)
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

// dateLen is the length of the date that text begins with, 0 for none.
func dateLen(text string) int {
	for _, form := range dateForms {
		if n := shaped(text, form); n > 0 {
			return n
		}
	}
	return 0
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

// parseTime reads a timestamp of a form that wrapper.Stamp or glog's header lets through; zero when it is none.
func parseTime(s string) time.Time {
	year, month, day, s := parseDate(s)
	if len(s) < 9 || s[3] != ':' || s[6] != ':' {
		return time.Time{}
	}
	hour, minute, second := number(s[1:3]), number(s[4:6]), number(s[7:9])
	if !within(month, 1, 12) || !within(day, 1, 31) || !within(hour, 0, 23) || !within(minute, 0, 59) || !within(second, 0, 60) {
		return time.Time{}
	}
	fraction, s := time.Duration(0), s[9:]
	if s != "" && strings.IndexByte(".,:", s[0]) >= 0 {
		n := 1 + digitsIn(s[1:])
		fraction, s = fractionOf(s[1:n]), s[n:]
	}
	return time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC).Add(fraction - offsetOf(s))
}

func within(n, least, most int) bool { return least <= n && n <= most }

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

// innerStamp finds a time anywhere in a text.
var innerStamp = pattern.Lazy(wrapper.Stamp)

// TimeIn is the first timestamp that stands anywhere in a text, zero when there is none. Line.Time is for the one that a line begins with.
func TimeIn(text string) time.Time {
	if !hasClock(text) { // most lines have none, and this is how to see it soon
		return time.Time{}
	}
	return parseTime(innerStamp().FindString(text))
}

// hasClock tells whether minutes and seconds between colons stand in a text.
func hasClock(text string) bool {
	for i := 0; ; i++ {
		n := strings.IndexByte(text[i:], ':')
		if n < 0 || i+n+3 >= len(text) {
			return false
		}
		i += n
		if text[i+3] == ':' && isDigit(text[i+1]) && isDigit(text[i+2]) {
			return true
		}
	}
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
	for i := 0; i < len(digits) && i < 9 && isDigit(digits[i]); i++ {
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
// length with the space after it; a container runtime's stream and flag ("stdout F ") belong to it. Only its form
// counts, so that all lines of a template are treated alike: one that is no time is zero.
func transportStamp(s string) (time.Time, int) {
	n := 0
	if len(s) > 10 && s[4] == '-' && s[10] == 'T' {
		n = stampLen(s)
	}
	zoned := n > 0 && (s[n-1] == 'Z' || strings.ContainsAny(s[n-6:n-4], "+-"))
	if !zoned || n < len(s) && s[n] != ' ' {
		return time.Time{}, 0
	}
	t := parseTime(s[:n])
	n = min(n+1, len(s))
	for _, stream := range []string{"stdout F ", "stderr F ", "stdout P ", "stderr P "} {
		if strings.HasPrefix(s[n:], stream) || s[n:] == stream[:len(stream)-1] { // an empty line, without the space at its end
			return t, min(n+len(stream), len(s))
		}
	}
	return t, n
}

// SameClock tells whether two timestamps can be compared: both have a year, or both have none.
func SameClock(a, b time.Time) bool {
	return !a.IsZero() && !b.IsZero() && (a.Year() == 0) == (b.Year() == 0)
}
