package reading

import (
	"maps"
	"strings"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/traceback"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/signature"
)

// Event is something that a log shows: a chain of exceptions, or one line that a signature knows. The same event on other ranks, or
// again later, is counted and not kept; of attempts that the job survived, the next one takes the place.
type Event struct {
	Chain    Chain
	Number   int                 // counts events as they were first seen
	shown    Occurrence          // the one that Chain was printed at
	episodes map[string]*episode // by source
}

// events are those of a job by what they have in common.
type events map[string]*Event

// maxEvents bounds the different events of a job that are kept.
const maxEvents = 4000

// of is the event of a chain, a new one when none like it was seen; nil when there are so many already. Where only the last line of a traceback
// was seen before, as in the title of a post, the traceback is the same event.
func (known events) of(printed Chain, most int) *Event {
	key := printed.key()
	e := known[key]
	if told := known[printed.toldKey()]; e == nil && told != nil && printed.showsMoreThan(told.Chain) {
		delete(known, printed.toldKey())
		known[key], e = told, told
	}
	if e == nil && len(known) < most {
		e = NewEvent(len(known))
		known[key] = e
	}
	return e
}

// NewEvent is an event that has not occurred. Its number is how many were seen before it.
func NewEvent(number int) *Event { return &Event{Number: number, episodes: make(map[string]*episode)} }

// Chain is exceptions as they were printed, the first of them first, or one line.
type Chain []Element

// Element is one exception of a chain, or the line.
type Element struct {
	Line      logline.Line
	Exception *traceback.Exception // nil for a line
	Text      string
	before    string         // the lines that its writer printed before it, when somebody may ask for them
	Shows     []logline.Line // other lines that show it
	About     string         // the finding that it is, as conditions name it, when no line states it: signature.PaceFinding, ...
	Finding   condition.Value
	Matches   []*signature.Signature

	value condition.Value // of Exception, once somebody asked for it
}

// Head is the element that stands for the event where only one can: the one printed last, which ended the process.
func (c Chain) Head() *Element { return &c[len(c)-1] }

// showsMoreThan tells whether this print of an exception has frames and the other has none.
func (c Chain) showsMoreThan(other Chain) bool {
	x, y := c.Head().Exception, other.Head().Exception
	return x != nil && y != nil && len(x.Frames) > 0 && len(y.Frames) == 0
}

// harmless tells that all that is known of the event is that it does not matter.
func (c Chain) harmless() bool {
	for i := range c {
		for _, s := range c[i].Matches {
			if s.Role != signature.Noise {
				return false
			}
		}
		if c[i].Exception != nil && len(c[i].Matches) == 0 {
			return false
		}
	}
	return true
}

// swallowed tells whether the exception was written into a log record of a level that does not end anything.
func (c Chain) swallowed() bool {
	x := c.Head().Exception
	return x != nil && (x.Swallowed || x.Level == logline.Debug || x.Level == logline.Info || x.Level == logline.Warning)
}

// maxKey is how much of a text, in bytes, tells one event from another.
const maxKey = 400

// toldKey is the key of an exception that is the last of a chain, where nothing but its last line was printed. A person who tells of it ends the
// sentence.
func (c Chain) toldKey() string {
	text := strings.TrimRight(c.Head().Text, " .,;!")
	return "told " + logline.MaskNumbers(text[:min(len(text), maxKey)])
}

// key is the same for events that differ only in numbers and addresses, as those of different ranks do.
func (c Chain) key() string {
	if x := c.Head().Exception; len(c) == 1 && x != nil && len(x.Frames) == 0 {
		return c.toldKey()
	}
	var b strings.Builder
	for _, el := range c {
		b.WriteString(logline.MaskNumbers(el.Text[:min(len(el.Text), maxKey)]))
		b.WriteByte(0)
		for _, s := range el.Matches {
			b.WriteString(s.ID)
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// Variables sets what conditions may ask about an element.
func (el *Element) Variables(s *condition.Situation) {
	first, _, _ := strings.Cut(el.Text, "\n")
	s.Set("text", condition.StringValue(el.Text))
	s.Set("line", condition.StringValue(first))
	s.Set("before", condition.StringValue(el.before))
	s.Set("source", condition.StringValue(el.Line.Source))
	s.Set("error", noException)
	if el.Exception != nil {
		s.Set("error", el.exceptionValue())
	}
	s.Set("rank", rankValue(el.Line.Rank))
	signature.SetFinding(s, el.About, el.Finding)
}

// Before is the last lines that its writer printed before it: of an exception before its traceback. It is "" where no signature may ask for them.
func (el *Element) Before() string { return el.before }

// rankValue is unknown for a line that names no rank.
func rankValue(rank int) condition.Value {
	if rank == logline.NoRank {
		return condition.Value{}
	}
	return condition.NumberValue(float64(rank))
}

// noException is what a line has as its exception.
var noException = signature.NoException()

// exceptionValue is the element's exception as conditions see it.
func (el *Element) exceptionValue() condition.Value {
	if !el.value.Known() {
		el.value = exceptionValue(el.Exception)
	}
	return el.value
}

// exceptionValue is an exception as conditions see it. The type of a message that was printed without it is not known.
func exceptionValue(e *traceback.Exception) condition.Value {
	frames := make([]condition.Value, len(e.Frames))
	for i := range e.Frames {
		frames[i] = frameValue(&e.Frames[i])
	}
	at, through := e.AtCall()
	hidden, hiding := e.Hidden()
	members := map[string]condition.Value{
		"type":    condition.StringValue(e.Type),
		"name":    condition.StringValue(e.Name()),
		"message": condition.StringValue(e.Message),
		"at":      condition.StringValue(place(e)),
		"raised":  condition.StringValue(at.Raised()),
		"owner":   condition.StringValue(at.Owner()),
		"caller":  condition.StringValue(at.Caller()),
		"asker":   condition.StringValue(at.Asker()),
		"through": condition.StringValue(through),
		"call":    condition.StringValue(at.Call()),
		"root":    condition.StringValue(e.Root()),
		"none":    condition.StringValue(e.None()),
		"code":    condition.StringValue(at.Code()),
		"hidden":  condition.StringValue(hidden),
		"hiding":  condition.StringValue(hiding),
		"frames":  condition.ListValue(frames...),
		"user":    frameValue(e.UserFrame()),
	}
	if e.Untyped() {
		members["type"], members["name"] = condition.Value{}, condition.Value{}
	}
	return condition.ObjectValue(members)
}

// VariablesForConfirm sets what conditions that confirm may ask beyond those that match: of an exception without its traceback, the frames are
// not known, and neither is the source line unless it stands above.
func (el *Element) VariablesForConfirm(s *condition.Situation) {
	if el.Exception != nil && el.Exception.Lone() {
		unknown := []string{"frames", "user", "owner", "caller", "asker", "through", "call", "root", "none", "hidden", "hiding", "raised", "code"}
		if el.Exception.Code() != "" {
			unknown = unknown[:len(unknown)-1]
		}
		s.Set("error", without(el.exceptionValue(), unknown...))
	}
}

// VariablesToSay sets what details and fixes may ask beyond those that confirm: of an exception without its traceback no frame is shown and
// mostly no source line, and what is only said of certain ones is not said.
func (el *Element) VariablesToSay(s *condition.Situation) {
	if el.Exception != nil && el.Exception.Lone() {
		members := maps.Clone(s.Value("error").Members())
		members["frames"] = condition.ListValue()
		members["code"] = condition.StringValue(el.Exception.Code())
		s.Set("error", condition.ObjectValue(members))
	}
}

// VariablesWithoutMessage sets what conditions may ask about an exception of whose message nothing is known.
func (el *Element) VariablesWithoutMessage(s *condition.Situation) {
	s.Set("text", condition.Value{})
	s.Set("line", condition.Value{})
	s.Set("error", without(el.exceptionValue(), "message"))
}

// without is an exception as conditions see it when some of it is not known.
func without(exception condition.Value, unknown ...string) condition.Value {
	members := maps.Clone(exception.Members())
	for _, name := range unknown {
		members[name] = condition.Value{}
	}
	return condition.ObjectValue(members)
}

// place is where the user's own code was, else where the error was raised, as FILE:LINE; "" when no frame is shown.
func place(e *traceback.Exception) string {
	if f := e.UserFrame(); f != nil {
		return f.Place()
	}
	return e.Raised()
}

func frameValue(f *traceback.Frame) condition.Value {
	if f == nil {
		return condition.Nil
	}
	return condition.ObjectValue(map[string]condition.Value{
		"file":     condition.StringValue(strings.ReplaceAll(f.File, `\`, "/")), // on Windows too
		"line":     condition.NumberValue(float64(f.Line)),
		"function": condition.StringValue(f.Function),
		"code":     condition.StringValue(f.Code),
		"package":  condition.StringValue(f.Package()),
	})
}
