package main

import (
	"regexp"
	"strings"
	"syscall"

	"github.com/gpu-triage/triage/matcher/scan"
)

var (
	errnoMark   = regexp.MustCompile(`\[Errno \d+\]`)
	quotedValue = regexp.MustCompile(`\B'[^'\n]+'\B|\B"[^"\n]+"\B`) // the apostrophe of a word has letters on both sides
	token       = regexp.MustCompile(`(?:[A-Za-z]\w*:[/\\])?[\pL\d_./\\@+~-]*[\pL\d_/\\]`)
	changeable  = regexp.MustCompile(errnoMark.String() + `|` + quotedValue.String() + `|` + token.String())

	digits   = regexp.MustCompile(`^\d+$`)
	folders  = regexp.MustCompile(`[/\\].*[/\\]|[/\\].*\.\w`)
	place    = regexp.MustCompile(`^(?:~|\.\.?|[A-Za-z]\w*:)?[/\\]|^[^\s/\\]+[/\\]\S+$`) // a path or URL
	fileName = regexp.MustCompile(`^[\w-]+(?:\.[\w-]+)+$|^[\w.-]+:\d+$`)                 // or a host, with its port

	literals = regexp.MustCompile(`[A-Za-z_][A-Za-z_' -]{6,}[A-Za-z_]`)
)

// A piece is a part of a message.
type piece struct {
	text    string
	pattern string // regular expression for the text
	changes bool   // another run has another text here: a name, path, hash, version or number; or the number of an error, which is no word
}

// pieces parts a message.
func pieces(message string) (parts []piece) {
	done := 0
	for _, at := range changeable.FindAllStringIndex(message, -1) {
		found := changing(message[at[0]:at[1]])
		if len(found) > 0 {
			parts = append(append(parts, constant(message[done:at[0]])), found...)
			done = at[1]
		}
	}
	return append(parts, constant(message[done:]))
}

// changing are the pieces of what changeable finds, none when it is a word like others.
func changing(text string) []piece {
	switch {
	case errnoMark.MatchString(text):
		return []piece{{text, regexp.QuoteMeta(text), true}}
	case strings.ContainsAny(text[:1], `'"`):
		return quoted(text[:1], text[1:len(text)-1])
	case digits.MatchString(text):
		return []piece{{text, `[\d.]+`, true}}
	case ofThisRun(text):
		return []piece{{text, `\S+`, true}}
	}
	return nil
}

// quoted are the pieces of a value between quotes: a place is another one in another run, of other values only parts are.
func quoted(quote, value string) []piece {
	inner := pieces(value)
	alone := token.FindString(value) == value && ofThisRun(value)
	if alone && !digits.MatchString(value) || place.MatchString(value) || fileName.MatchString(value) {
		inner = []piece{{value, `[^'"]+`, true}}
	}
	return append(append([]piece{constant(quote)}, inner...), constant(quote))
}

func constant(text string) piece { return piece{text: text, pattern: regexp.QuoteMeta(text)} }

// ofThisRun tells whether a token has digits or is a path.
func ofThisRun(token string) bool {
	return strings.ContainsAny(token, "0123456789") || folders.MatchString(token)
}

// longestPattern is how many bytes of a message the pattern is of: the rest of a long one is mostly about this run.
const longestPattern = 120

// pattern is a regular expression for the message in which what belongs to this run may be other.
func (d *draft) pattern() string {
	message := d.message
	if len(message) > longestPattern {
		if end := strings.LastIndexByte(message[:longestPattern], ' '); end > 0 {
			message = message[:end]
		}
	}
	var out strings.Builder
	for _, p := range pieces(message) {
		out.WriteString(p.pattern)
	}
	return out.String()
}

// words are the message without what another run has otherwise and without the system's own text of an error number, which many
// failures have. A line break stands for what is left out.
func (d *draft) words() string {
	var out strings.Builder
	for _, p := range pieces(d.message) {
		if p.changes {
			out.WriteByte('\n')
		} else {
			out.WriteString(p.text)
		}
	}
	return dropErrno(out.String())
}

// dropErrno takes out the texts that this system has for its error numbers.
func dropErrno(text string) string {
	const errors = 200 // more than any system has
	for number := range syscall.Errno(errors) {
		known := number.Error()
		at := strings.Index(strings.ToLower(text), strings.ToLower(known))
		if at >= 0 && len(known) >= scan.WideLiteral && len(strings.ToLower(text)) == len(text) {
			text = text[:at] + "\n" + text[at+len(known):]
		}
	}
	return text
}

// keyword is the text of the message that ordinary logs have least, or the name of the exception where the message has none. Of a line
// with few words it is the longest piece between what changes, and "" when that is too short to look for.
func (d *draft) keyword() string {
	text := d.words()
	var candidates [][]scan.Literal
	for _, found := range literals.FindAllString(text, -1) {
		candidates = append(candidates, []scan.Literal{{Text: found}})
	}
	if best := scan.Rarest(candidates...); len(best) > 0 {
		return best[0].Text
	}
	if d.class != "" {
		return d.class
	}
	longest := ""
	for run := range strings.SplitSeq(text, "\n") {
		run = strings.TrimSpace(run)
		if len(run) > len(longest) {
			longest = run
		}
	}
	if len(longest) < scan.MinLiteral {
		return ""
	}
	return longest
}
