package traceback

import (
	"strings"
	"unicode"

	"github.com/gpu-triage/triage/matcher/logline"
)

// record is a traceback that is being read.
type record struct {
	at        int // number of the line that is being taken
	form      shape
	state     state
	before    func() string  // what its writer printed before it
	headless  bool           // it began with a frame: no more than a guess until its last line
	header    logline.Line   // zero when there was none
	kept      []logline.Line // lines to be given back when no exception comes of them
	keptBytes int
	swallowed bool   // Python announced that it goes on
	prefix    string // what stood before the header without being known
	prefixed  *bool  // whether the lines after the header have such a prefix too; nil until the second line
	base      string // the white space before the header

	frames  []Frame
	strange int // lines that were none of its own, so far
	blanks  int // empty lines since the last other one
	exc     *Exception
	message message
	colon   bool // the type has a colon after it, as if a message followed on the next line
	quoted  bool // between two lines of three quotes, as pools relay a traceback
	ruled   bool // between two rulers, the launcher's list: indented lines are its own
	cpp     bool // in the list of C++ frames that a message ends with
	width   int  // of the box that rich wraps its text to, 0 when there was no box

	earlier *Exception // the chain so far
	link    Link
	links   int          // how long the chain was
	relayed []*Exception // what the message relays
	group   *group
}

// shape is the form of a traceback.
type shape int

const (
	python    shape = iota
	lone            // only the last line
	notebook        // IPython's
	boxed           // rich's
	fault           // the fault handler's
	terminate       // C++ runtime's
	grouped         // an exception group
)

// state is how far a traceback has been read.
type state int

const (
	inFrames  state = iota
	inMessage       // the line with the type has been read
	inChain         // a line that links to the next traceback has been read
)

// verdict is what a record says to a line.
type lineAction int

const (
	taken   lineAction = iota
	foreign            // not part of the record, which goes on
	relays             // the beginning of a traceback inside the message
	ended              // the record ended before this line
)

const (
	maxFrames  = 300       // per traceback; more lose their middle
	maxStrange = 100       // foreign lines between header and last line
	maxKept    = 600       // lines of a headless traceback
	maxBytes   = 256 << 10 // what a headless traceback has of them
	maxCode    = 1000      // bytes of a source line
	maxChain   = 64        // exceptions in a chain, and relayed in one message; longer ones lose their middle
	maxBlanks  = 2         // empty lines inside a record
	maxHoles   = 16        // likewise in a message of indented lines
)

// take offers the next line of the same writer.
func (r *record) take(l logline.Line) lineAction {
	r.at = l.Number
	if r.headless && r.exc == nil {
		if r.keptBytes += len(l.Text); len(r.kept) >= maxKept || r.keptBytes > maxBytes {
			return ended
		}
		r.kept = append(r.kept, l)
		if v := r.taken(l); v == taken {
			return taken
		}
		r.kept = r.kept[:len(r.kept)-1]
		return ended
	}
	return r.taken(l)
}

func (r *record) taken(l logline.Line) lineAction {
	if r.form == grouped {
		return r.group.take(l)
	}
	text, own := r.own(l)
	if text == "" {
		return r.blank()
	}
	var v lineAction
	switch r.state {
	case inFrames:
		v = r.frame(l, text, own)
	case inMessage:
		v = r.more(l, text, own)
	case inChain:
		v = r.chained(l, text, own)
	}
	if v == taken {
		r.blanks = 0
	}
	return v
}

// blank takes an empty line.
func (r *record) blank() lineAction {
	most := maxBlanks
	if r.state == inChain || r.message.indented { // generated code has holes
		most = maxHoles
	}
	if r.blanks++; r.blanks > most {
		return ended
	}
	return taken
}

// own strips what all lines of this record have in front, and tells whether the line has it.
func (r *record) own(l logline.Line) (text string, own bool) {
	body := l.Body()
	if r.prefixed == nil && r.state == inFrames && body != "" {
		p := r.header.Head > 0 && l.Head > 0 || r.prefix != "" && samePrefix(body, r.prefix)
		r.prefixed = &p
	}
	if r.prefixed == nil || !*r.prefixed {
		return r.dedent(l.Text), l.Head == 0 && strings.HasPrefix(l.Text, r.base)
	}
	if r.header.Head > 0 && l.Head == 0 {
		return l.Text, false
	}
	if r.prefix != "" {
		if !samePrefix(body, r.prefix) {
			return body, false
		}
		body = body[min(len(body), len(r.prefix)):]
	}
	return r.dedent(body), strings.HasPrefix(body, r.base)
}

func (r *record) dedent(s string) string { return strings.TrimPrefix(s, r.base) }

// samePrefix tells whether s begins with a prefix of the same shape: digits may differ, and a line with nothing else lacks the spaces.
func samePrefix(s, prefix string) bool {
	if len(s) < len(prefix) {
		return strings.TrimRight(prefix, " ") == s
	}
	for i := range len(prefix) {
		if s[i] != prefix[i] && !(unicode.IsDigit(rune(s[i])) && unicode.IsDigit(rune(prefix[i]))) {
			return false
		}
	}
	return true
}

// raise takes the line with the type.
func (r *record) raise(l logline.Line, typ, msg string) {
	r.exc = &Exception{Type: typ, Line: l, Header: r.header}
	r.state = inMessage
	r.colon = msg == "" && strings.HasSuffix(l.Text, ":")
	r.message.add(l, msg)
}

// relay takes an exception that the message of this one passes on.
func (r *record) relay(e *Exception) {
	if len(r.relayed) < maxChain {
		r.relayed = append(r.relayed, e)
	}
	r.blanks = 0
}

// giveBack takes a line that seemed to begin a relayed traceback and did not.
func (r *record) giveBack(l logline.Line) bool {
	if r.state != inMessage {
		return false
	}
	text, _ := r.own(l)
	if text == "" {
		r.blanks++
		return true
	}
	for ; r.blanks > 0; r.blanks-- {
		r.message.add(logline.Line{}, "")
	}
	r.message.add(l, text)
	return true
}

// unfinished is a traceback whose last line never came.
func (r *record) unfinished() *Exception {
	return &Exception{Frames: r.frames, Header: r.header, Line: r.header, Level: r.header.Level, Earlier: r.earlier, Link: r.link}
}

// finish gives the exception, or nil when it turned out to be none.
func (r *record) finish() *Exception {
	if r.form == grouped {
		e := r.group.finish()
		if e != nil && r.earlier != nil {
			origin := e.Origin()
			origin.Earlier, origin.Link = r.earlier, r.link
		}
		return e
	}
	e := r.exc
	if e == nil {
		if r.earlier != nil && len(r.frames) == 0 {
			return r.earlier
		}
		return nil
	}
	if r.links > maxChain && r.earlier.Earlier != nil {
		r.earlier = r.earlier.Earlier
	}
	e.Frames, e.Earlier, e.Link, e.Swallowed = r.frames, r.earlier, r.link, r.swallowed
	e.Lines, e.Message = r.message.kept(), r.message.text(r.width, len(e.Type)+len(": "))
	e.Level = e.Line.Level
	if r.header.Number > 0 {
		e.Level = r.header.Level
	}
	e.Failures = parseFailures(e.Lines)
	for _, f := range e.Failures {
		if f.First && f.Raised != nil {
			r.relayed = append(r.relayed, f.Raised)
		}
	}
	if len(r.relayed) > 0 {
		first := r.relayed[0]
		origin := first.Origin()
		origin.Earlier, origin.Link = e.Earlier, e.Link
		e.Earlier, e.Link, e.Within = first, Relayed, r.relayed[1:]
	}
	return e
}
