// Package matcher finds out what happened: it reads logs, untangles their ranks, assembles tracebacks, matches them against the
// knowledge base and tells the root cause from what followed it. It knows no network and no clock.
package matcher

import "time"

// NoRank is the rank of a line that names none.
const NoRank = -1

// Line is one line of a log, cleaned: without colour codes, timestamps of the transport and the prefix that names its writer.
// A \n-terminated line with progress bars in it gives one Line for each \r-separated part, all with the same Number.
type Line struct {
	Source    string    // the file as the user named it, or "-"
	Number    int       // counts the \n-terminated lines of Source from 1
	Rank      int       // global rank, or NoRank
	Writer    string    // lines of one process share it, so that interleaved ranks can be told apart; "" when nothing tells
	Time      time.Time // zero when the line has no timestamp
	Text      string
	Truncated bool // Text is the head and the tail of a longer line
}

// Exception is a raised Python error as a traceback printed it, or the lone last line of one.
type Exception struct {
	Type    string  // as printed: "torch.OutOfMemoryError"
	Message string  // may have several lines
	Frames  []Frame // outermost first, none for a lone line
	Line    Line    // the line that holds Type
	Header  Line    // the line "Traceback (most recent call last)", zero for a lone line
	// Earlier is the exception printed before this one in the same chain, and Link how they hang together.
	Earlier *Exception
	Link    Link
	// Within are the members of an exception group.
	Within []*Exception
}

// Link says how an exception follows from the one printed before it.
type Link string

// The links that Python and its libraries print.
const (
	DirectCause   Link = "direct cause"    // raise ... from ...
	WhileHandling Link = "during handling" // raised in an except block
	Relayed       Link = "relayed"         // a worker's traceback inside the message of its parent's
)

// Frame is one entry of a traceback.
type Frame struct {
	File     string
	Line     int
	Function string
	Code     string // the source line, "" when it was not printed
}
