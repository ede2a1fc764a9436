package traceback

import (
	"strings"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/rules/pattern"
)

// nextLine is a line that is offered to a record.
type nextLine struct {
	line logline.Line
	text string // without what stands before all lines of the record; not empty
	own  bool   // it has what stands before all of them
}

// more takes a line after the one with the type: the message goes on, something relayed begins, another exception of the chain follows,
// or it has ended. What it can be is tried in this order; the first that knows the line decides.
func (r *record) more(next nextLine) lineAction {
	for _, try := range [...]func(*record, nextLine) lineAction{
		(*record).asLink,
		(*record).asOtherRecord,
		(*record).asWhat,
		(*record).asCppFrame,
		(*record).asRuled,
		(*record).asHeader,
		(*record).asFrame,
		(*record).asRayCause,
		(*record).asRepr,
		(*record).asQuotes,
	} {
		if action := try(r, next); action != undecided {
			return action
		}
	}
	return r.asText(next)
}

// asLink takes the words between two tracebacks of a chain.
func (r *record) asLink(next nextLine) lineAction {
	link, ok := linkOf(next.text)
	if !ok || !next.own {
		return undecided
	}
	r.chain(link)
	return taken
}

// asOtherRecord knows the lines of another process and of another record of the log.
func (r *record) asOtherRecord(next nextLine) lineAction {
	if !next.own || next.line.Head > 0 && !r.sameRecord(next.line) {
		return ended
	}
	return undecided
}

// asWhat takes the second of the last words of C++: "  what():  message". They have no prefix, but c10d begins its messages with the rank.
func (r *record) asWhat(next nextLine) lineAction {
	msg, ok := strings.CutPrefix(strings.TrimSpace(next.text), "what():")
	if !ok || r.layout != terminate {
		return undecided
	}
	msg = strings.TrimSpace(msg)
	r.message.add(next.line, msg)
	if r.exc.Line.Rank == logline.NoRank {
		r.exc.Line.Rank = logline.RankTag(msg)
	}
	return taken
}

// asCppFrame lets go the list of C++ frames that a message ends with.
func (r *record) asCppFrame(next nextLine) lineAction {
	r.cpp = r.cpp || strings.HasPrefix(next.text, raisedFrom)
	switch {
	case !r.cpp:
		return undecided
	case isCppFrame(next.text):
		return foreign
	}
	return ended
}

// asRuled takes torchrun's list of dead processes: it begins with a ruler, and goes on between rulers and with indented lines.
func (r *record) asRuled(next nextLine) lineAction {
	begins := r.colon && r.message.lines() == 1 && isRuler(next.text)
	goesOn := r.ruled && (isSpace(next.text[0]) || isRuler(next.text))
	if !begins && !goesOn {
		return undecided
	}
	r.ruled = begins || next.text[0] != '='
	r.message.add(next.line, next.text)
	return taken
}

// asHeader knows the header of a traceback: a relayed one when it was announced, or says so itself.
func (r *record) asHeader(next nextLine) lineAction {
	before, ok := findHeader(next.text)
	switch {
	case !ok:
		return undecided
	case r.announced() && !r.strayed(), strings.Contains(next.text, tracebackOf), strings.Contains(next.text, lastCalls+": "+rankMark),
		strings.TrimSpace(before) != "" && isWords(before):
		return relays
	}
	return ended
}

// asFrame knows a frame without a header: of a relayed traceback, except that a line without traceback must announce it.
func (r *record) asFrame(next nextLine) lineAction {
	if _, ok := parseFrame(next.text); ok && (r.layout != lone || r.announced()) {
		return relays
	}
	return undecided
}

// asRayCause knows the cause that Ray names in parentheses: KeyError after RayTaskError(KeyError), without frames.
func (r *record) asRayCause(next nextLine) lineAction {
	if typ, _, ok := parseType(next.text); ok && strings.HasSuffix(r.exc.Type, "("+typ+")") {
		return relays
	}
	return undecided
}

// asRepr knows an exception that was announced and stands below as its repr, as in Hydra's messages.
func (r *record) asRepr(next nextLine) lineAction {
	if _, _, ok := wholeRepr(next.text); ok && r.announced() {
		return relays
	}
	return undecided
}

// asQuotes takes the quotes between which pools relay a traceback.
func (r *record) asQuotes(next nextLine) lineAction {
	switch {
	case next.text != `"""` && next.text != `'''`:
		return undecided
	case r.quoted || r.announced():
		r.quoted = !r.quoted
		return taken
	}
	return ended
}

// asText takes a line that could be anything if the message goes on.
func (r *record) asText(next nextLine) lineAction {
	if len(r.relayed) > 0 || r.whole || r.silent() || !r.goesOn(next.text) {
		return ended
	}
	r.message.add(next.line, next.text)
	return taken
}

// silent tells whether the exception has no message: no colon stands after its type.
func (r *record) silent() bool {
	return r.layout == python && !r.colon && r.message.lines() == 1 && r.message.last() == ""
}

const (
	raisedFrom = "Exception raised from " // begins C++'s list of frames

	minRuler    = 20 // characters of a ruler: torchrun's are as wide as the longest line between them
	minMPIRuler = 40 // of one that ends a message: mpirun's has 74
)

// isRuler tells whether a line is drawn across the page.
func isRuler(text string) bool {
	return len(text) >= minRuler && (text[0] == '=' || text[0] == '-') && strings.Trim(text, text[:1]) == ""
}

// isHashes tells whether a line is drawn with the sign of a comment, as people part what they show from what they say. No message has one.
func isHashes(text string) bool { return len(text) >= minRuler && strings.Trim(text, "#") == "" }

// sameRecord tells whether a line has the very header of the line with the type: the same record of the log.
func (r *record) sameRecord(l logline.Line) bool {
	t := r.exc.Line
	return t.Head > 0 && t.Text[:t.Head] == l.Text[:l.Head]
}

// announced tells whether the message says that something follows: it ends in a colon, has nothing after the first one, or opens a quotation.
func (r *record) announced() bool {
	last := r.message.last()
	return r.quoted || strings.HasSuffix(last, ":") || last == "" && r.colon
}

// strayed tells whether something else was printed since the last traceback that the message relays: what was announced has ended.
func (r *record) strayed() bool {
	if len(r.relayed) == 0 || r.quoted {
		return false
	}
	lines := r.relayed[len(r.relayed)-1].Lines
	if len(lines) < 2 {
		return false
	}
	last := lines[len(lines)-1].Text
	return last != "" && !isSpace(last[0])
}

// endsByItself tells whether what was read of the message is one of Python's own as a whole, or the key that a KeyError has.
func (r *record) endsByItself() bool {
	if r.message.lines() != 1 || r.layout != python && r.layout != lone && r.layout != notebook {
		return false
	}
	last := r.message.last()
	return OwnMessage(last) || r.exc.Type == keyError && keyOf(last) != ""
}

// goesOn decides whether a line that could be anything belongs to the message. After an empty line it must be indented in a message
// that has indented lines, or announce more of itself by a colon; otherwise it must only not be something else.
func (r *record) goesOn(text string) bool {
	indented := isSpace(text[0])
	if (isOther(text) || r.endsByItself() || importLine().MatchString(text)) && !(r.blanks == 0 && r.announced()) {
		return false
	}
	if r.prefix != "" && r.layout != lone && !indented && !r.announced() {
		return false
	}
	if r.layout == lone && r.exc.Line.Told && !indented && logline.SpeaksOfSelf(text) { // the next sentence of who tells of the error
		return false
	}
	if r.blanks > 0 {
		return r.goesOnAfterBlanks(text)
	}
	return indented || r.message.flush < maxFlush
}

// goesOnAfterBlanks is goesOn behind empty lines, which are then part of the message.
func (r *record) goesOnAfterBlanks(text string) bool {
	last := r.message.last()
	switch {
	case logline.SpeaksOfSelf(text), r.layout == lone && r.exc.Line.Number == 1 && !isSpace(text[0]): // a person's words, and those behind a title
		return false
	case isSpace(text[0]) && r.message.indented, r.message.lines() == 1 && layerFailed().MatchString(last), last == "" && r.colon, strings.HasSuffix(last, ":"), strings.HasSuffix(text, ":") && r.blanks == 1 && r.layout != lone:
		r.addBlanks()
		return true
	}
	return false
}

// isOther tells whether a line is the beginning of something that no message contains.
func isOther(text string) bool {
	if typ, _, ok := parseType(text); ok && looksRaised(typ) {
		return true
	}
	switch firstWord(text) {
	case "Killed", "Terminated", "Aborted", "Segmentation":
		return true
	}
	trimmed := strings.TrimLeft(text, " ")
	return strings.Contains(text, "%|") || strings.HasPrefix(trimmed, "{'") || strings.HasPrefix(trimmed, `{"`) ||
		strings.TrimRight(trimmed, " ") == logline.Fence || logline.Speech(text) ||
		strings.HasPrefix(text, ignoredIn) || strings.HasPrefix(text, fatalPython) || ofAnother(text) ||
		strings.HasPrefix(text, terminateCalled) || programError(text) || isPrompt(text) || isRuler(text) && len(text) >= minMPIRuler || isHashes(text)
}

// importLine begins the code that a person shows next.
var importLine = pattern.Lazy(`^(?:import [a-z_][\w.]*(?: as \w+)?$|from [\w.]+ import [\w(])`)

// otherWriter are the first words of a line that Python's threading prints before the traceback of a thread, or a library before that of a worker.
const otherWriter = "Exception in "

// ofAnother tells whether a line heads the traceback of another thread or process: "Exception in thread Thread-4 (run):", "Process SpawnProcess-3:".
func ofAnother(text string) bool {
	if !strings.HasSuffix(text, ":") {
		return false
	}
	process, ok := strings.CutPrefix(text, "Process ")
	return ok && strings.Contains(process, "Process-") && !strings.Contains(process, " ") || strings.HasPrefix(text, otherWriter)
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

// programError tells whether a program other than Python complains: "srun: error: ...".
func programError(text string) bool {
	name, rest, ok := strings.Cut(text, ": ")
	if !ok || strings.ContainsAny(name, " \t(") {
		return false
	}
	for _, word := range []string{"error:", "fatal:", "warning:"} {
		if strings.HasPrefix(rest, word) {
			return !strings.Contains(name, ".") || strings.HasPrefix(name, "/")
		}
	}
	return false
}

// isCppFrame tells whether a line belongs to the list of C++ frames after "Exception raised from".
func isCppFrame(text string) bool {
	return strings.HasPrefix(text, raisedFrom) || strings.HasPrefix(text, "frame #") ||
		strings.HasPrefix(strings.TrimSpace(text), "frame #") || strings.HasPrefix(text, "<omitting python frames>")
}
