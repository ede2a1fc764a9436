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
	Head      int  // Text[:Head] is the header of a log record (time, level, place), 0 when there is none
	Truncated bool // Text is the head and the tail of a longer line
}

// Body is the text after the header of a log record: what the program had to say.
func (l Line) Body() string { return l.Text[l.Head:] }

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

// process is the same for all lines of one process: its source and writer.
func (l Line) Process() string { return l.Source + "\x00" + l.Writer }

// clip is the beginning of a text, of so many bytes at most, without a cut character.
func Clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}

// TracebackHeader is how Python begins a traceback.
const TracebackHeader = "Traceback (most recent call last)"
