package traceback

import (
	"strings"

	"github.com/gpu-triage/triage/matcher/logline"
)

// record is a traceback that is being read.
type record struct {
	at        int // number of the line that is being taken
	layout    layout
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
	flat      bool   // its frames stand at the beginning of their lines: their blanks were lost
	sided     bool   // its lines stand between the sides of a box, but for the last

	typ          string // that a report states above its frames
	deepestFirst bool   // as a debugger shows frames, which does not go on to the line with the type
	frames       []Frame
	frameAt      int  // blanks before the last frame
	codeAt       int  // blanks before the last source line
	foreign      int  // lines of others since the header, so far
	cellLines    int  // of IPython's traceback, so far
	otherThread  bool // the fault handler shows a thread that did not crash
	blanks       int  // empty lines since the last other one
	exc          *Exception
	message      message
	bare         []messageLine // lines in the place of the one with the type
	colon        bool          // the type has a colon after it, as if a message followed on the next line
	whole        bool          // the message is complete: it was printed as a repr, or between marks that end with it
	quoted       bool          // between two lines of three quotes, as pools relay a traceback
	ruled        bool          // between two rulers, the launcher's list: indented lines are its own
	cpp          bool          // in the list of C++ frames that a message ends with
	width        int           // of the box that rich wraps its text to, 0 when there was no box

	earlier *Exception // the chain so far
	link    Link
	links   int          // how long the chain was
	relayed []*Exception // what the message relays
	group   *group
}

// layout is how a traceback is printed.
type layout int

const (
	python    layout = iota
	lone             // only the last line
	notebook         // IPython's
	boxed            // rich's
	fault            // the fault handler's
	terminate        // C++ runtime's
	grouped          // an exception group
	reported         // the exception stands above its frames
)

// state is how far a traceback has been read.
type state int

const (
	inFrames  state = iota
	inMessage       // the line with the type has been read
	inChain         // a line that links to the next traceback has been read
	inReport        // the frames of a report are yet to come
)

// lineAction is what a record makes of a line.
type lineAction int

const (
	undecided lineAction = iota // of one step: the next one is to be asked
	taken
	foreign // not part of the record, which goes on
	relays  // the beginning of a traceback inside the message
	ended   // the record ended before this line
)

const (
	maxFrames  = 300       // per traceback; more lose their middle
	maxForeign = 100       // foreign lines between header and last line
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
	if !r.headless || r.exc != nil {
		return r.read(l)
	}
	r.keptBytes += len(l.Text)
	if len(r.kept) >= maxKept || r.keptBytes > maxBytes {
		return ended
	}
	r.kept = append(r.kept, l)
	if r.read(l) != taken {
		r.kept = r.kept[:len(r.kept)-1]
		return ended
	}
	return taken
}

// read is take without regard to what must be given back.
func (r *record) read(l logline.Line) lineAction {
	if r.layout == grouped {
		return r.group.take(l)
	}
	text, own := r.own(l)
	if text == "" {
		return r.blank()
	}
	next := nextLine{l, text, own}
	var action lineAction
	switch r.state {
	case inFrames:
		action = r.frame(next)
	case inMessage:
		action = r.more(next)
	case inChain:
		action = r.chained(next)
	case inReport:
		action = r.report(next)
	}
	if action == taken {
		r.blanks = 0
	}
	return action
}

// blank takes an empty line.
func (r *record) blank() lineAction {
	most := maxBlanks
	if r.state == inChain || r.message.indented { // generated code has holes
		most = maxHoles
	}
	r.blanks++
	if r.blanks > most {
		return ended
	}
	return taken
}

// own strips what all lines of this record have in front, and tells whether the line has it.
func (r *record) own(l logline.Line) (text string, own bool) {
	body := l.Body()
	if r.beginsSides(l.Text) {
		r.sided = true
	}
	if r.sided {
		return betweenSides(l.Text), true
	}
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

// beginsSides tells of the first line below a header that it has the side of a box, which the header lost when it was copied.
func (r *record) beginsSides(text string) bool {
	return r.layout == python && r.state == inFrames && len(r.frames) == 0 && strings.HasPrefix(text, side)
}

// betweenSides is what stands between the sides of a box.
func betweenSides(text string) string {
	inside, ok := strings.CutPrefix(text, side)
	if !ok {
		return text
	}
	return strings.TrimRight(strings.TrimSuffix(strings.TrimPrefix(inside, " "), side), " ")
}

func (r *record) dedent(s string) string { return strings.TrimPrefix(s, r.base) }

// samePrefix tells whether s begins with a prefix of the same shape: digits may differ, and a line with nothing else lacks the spaces.
func samePrefix(s, prefix string) bool {
	if len(s) < len(prefix) {
		return strings.TrimRight(prefix, " ") == s
	}
	for i := range len(prefix) {
		if s[i] != prefix[i] && !(isDigit(s[i]) && isDigit(prefix[i])) {
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
	for line := range strings.SplitSeq(msg, "\n") { // a quoted message may have several
		r.message.add(l, line)
	}
}

// relay takes an exception that the message of this one passes on. What stands before it is what announced it.
func (r *record) relay(e *Exception) {
	if len(r.relayed) < maxChain {
		before, announced := r.before, r.message.last()
		e.Before = func() string {
			if before == nil {
				return announced
			}
			return before() + "\n" + announced
		}
		r.relayed = append(r.relayed, e)
	}
	r.blanks = 0
}

// takeBack takes a line that seemed to begin a relayed traceback and did not.
func (r *record) takeBack(l logline.Line) bool {
	if r.state != inMessage {
		return false
	}
	text, _ := r.own(l)
	if text == "" {
		r.blanks++
		return true
	}
	r.addBlanks()
	r.blanks = 0
	r.message.add(l, text)
	return true
}

// addBlanks adds the empty lines before this one to the message.
func (r *record) addBlanks() {
	for range r.blanks {
		r.message.add(logline.Line{}, "")
	}
}

// isNone tells whether a record without an exception was none from the beginning, so that its lines are given back.
func (r *record) isNone() bool {
	return r.headless && !r.showsRaise() || r.swallowed && len(r.frames) == 0
}

// showsRaise tells whether the deepest frame shows the statement that raised: that says what the last line would have said, or, where it goes
// on in lines that are not shown, that there was an error.
func (r *record) showsRaise() bool {
	if len(r.frames) == 0 {
		return false
	}
	code := r.frames[len(r.frames)-1].Code
	typ, _ := raisedBy(code)
	return typ != "" || len(r.frames) > 1 && raisedIn(code) != ""
}
