// Package logline knows what one line of a training job's log is made of. Raw bytes go in; a Line comes out: plain text without colour
// codes, and what the line says of itself by its wrappers, which are the prefixes that launchers, schedulers and collectors put before
// what a program printed: whose it is, of which rank, when it was written, how severe it is.
//
//	2024-05-01T12:00:00Z [rank1]:[E501 12:00:00.5 ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog caught ...
//
// gives the time, rank 1, an error, and a text with a header that Body leaves out. Each known wrapper is one row of
// rules/wrapper/wrappers.yaml: that is where to add one. Others are learned from the first lines of a source.
//
// A Form is what the beginning and the name of a source tell about all its lines, so that any line can be cleaned without those before
// it. Parts cuts a line at its carriage returns, also one that comes in pieces, and shortens what is endless.
//
// Times and the first look at a line are read by hand, as libraries and regular expressions are several times too slow for something that is
// done for every line; tests compare both with the expressions that they stand for.
package logline

import (
	"strings"
	"time"
)

// NoRank is the rank of a line that names none.
const NoRank = -1

// Line is one line of a log, cleaned: without colour codes, timestamps of the transport and the prefix that names its writer.
// A \n-terminated line with progress bars in it gives one Line for each \r-separated part, all with the same Number.
type Line struct {
	Source    string    // the file as the user named it, or "-"
	Number    int       // counts the \n-terminated lines of Source from 1
	Part      int       // counts the \r-separated parts of that line that are not empty, from 0
	Rank      int       // global rank, or NoRank
	Writer    string    // lines of one process share it, so that interleaved ranks can be told apart; "" when nothing tells
	Time      time.Time // zero when the line has no timestamp; year 0 when the timestamp has no year; UTC when it has no zone
	Level     Level     // severity that the logging library printed, "" when the line is no log record
	Text      string
	Head      int    // Text[:Head] is the header of a log record (time, level, place), 0 when there is none
	Peeled    string // the header before Text that no list has and that was learned: part of the line as it stands in its source
	Told      bool   // a person quotes it in a sentence
	Truncated bool   // Text is the head and the tail of a longer line
}

// Body is the text after the header of a log record: what the program had to say.
func (l Line) Body() string {
	head, body := l.Text[:l.Head], l.Text[l.Head:]
	if strings.HasSuffix(head, `"`) { // logfmt's msg="..."
		return strings.TrimSuffix(body, `"`)
	}
	return body
}

// Process is the same for all lines of one process: its source and writer.
func (l Line) Process() string { return l.Source + "\x00" + l.Writer }

// Level is the severity of a log record.
type Level string

// The levels of Python's logging and of Google's, which everything else in the field imitates.
const (
	Debug   Level = "debug"
	Info    Level = "info"
	Warning Level = "warning"
	Error   Level = "error"
	Fatal   Level = "fatal"
)

// TracebackHeader is how Python begins a traceback.
const TracebackHeader = "Traceback (most recent call last)"

// Clip is the beginning of a text, of so many bytes at most, without a cut character.
func Clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}

// ClipWord is like Clip, but drops the word that the cut would go through: half a secret is not known as one later. A word longer than
// half of what may stay is cut.
func ClipWord(text string, most int) string {
	if len(text) <= most {
		return text
	}
	text = Clip(text, most)
	if end := strings.LastIndexAny(text, " \t\n\"',;(){}[]<>&|"); end >= most/2 {
		return text[:end+1]
	}
	return text
}

// MaskNumbers is a text with # in place of each number and address: the same for lines that differ only in these, however many digits they
// have.
func MaskNumbers(text string) string {
	var b strings.Builder
	from := 0
	for i := 0; i < len(text); i++ {
		if !isDigit(text[i]) {
			continue
		}
		b.WriteString(text[from:i])
		b.WriteByte('#')
		hex := strings.HasPrefix(text[i:], "0x") && i+2 < len(text) && isHex(text[i+2])
		if hex {
			i += 2
		}
		for i < len(text) && (isDigit(text[i]) || hex && isHex(text[i])) {
			i++
		}
		from = i
		i--
	}
	b.WriteString(text[from:])
	return b.String()
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isHex(c byte) bool { return isDigit(c) || c >= 'a' && c <= 'f' }
