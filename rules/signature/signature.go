package signature

import (
	"io/fs"
	"iter"
	"maps"
	"slices"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/pattern"
	"github.com/gpu-triage/triage/rules/rulefile"
)

// Role is what a signature's failure is in the story of a job.
type Role string

// The roles, from what explains to what is explained.
const (
	Cause       Role = "cause"       // can be the root cause
	Consequence Role = "consequence" // follows from a failure elsewhere: never the root when its cause is in the log
	Generic     Role = "generic"     // names a cause, and speaks only where no other signature does
	Unexplained Role = "unexplained" // names no cause: shows an error of a kind, and speaks only where no other signature does
	Message     Role = "message"     // reads what a message itself says: adds its words to answers that read messages
	Noise       Role = "noise"       // known to be harmless: takes its lines out of consideration
	Progress    Role = "progress"    // the job goes on: what happened before was survived
	Command     Role = "command"     // a shell is given another command: what failed before belongs to another program
	Inferred    Role = "inferred"    // no line states it, a comparison of lines shows it: speaks where no line tells of a cause
	Pace        Role = "pace"        // how far and how fast the job goes; its captures are the groups of paceGroups
)

// AboutRun tells whether a signature of that role is no failure but says how the run goes on: its lines matter once something failed.
func (r Role) AboutRun() bool { return r == Progress || r == Command }

// LastResort tells whether a signature of that role speaks only where no other does.
func (r Role) LastResort() bool { return r == Generic || r == Unexplained }

// paceGroups are the groups that a signature of the role pace captures from a line.
var paceGroups = []string{
	"step", "steps", // the step, and how many there are to be
	"epoch",                                 // the step counts from the beginning of this one
	"seconds", "milliseconds", "per_second", // the time that a step takes, or something that is done at a rate
	"data_seconds",                  // the part of that time that waits for data
	"batch",                         // samples in a step, where that changes while a job runs
	"memory",                        // of the GPU that is in use, as 61.2GiB; a number alone counts GiB up to 512 and MiB above
	"work", "work_done", "work_all", // something other than steps, as a progress bar names it, and how far that is
	"finished", // the work is done
	"pause",    // something other than steps begins, which may take long
}

// The groups by which a line names the rank that it is about, which need not be the one that printed it.
const (
	FailedRank = "failed_rank"
	LocalRank  = "local_rank" // counts the processes of a node
)

// collectiveGroups are the groups by which a line tells where a rank is in the collectives of a process group.
var collectiveGroups = []string{
	"collective_rank",                             // where the line has no prefix that names it
	"collective_group",                            // the process group
	"collective_waits",                            // the number of the collective that timed out
	"collective_enqueued",                         // the number of the last one that was called
	"collective_operation", "collective_elements", // what timed out, and of how many elements
}

// Signature is a known failure: how it shows in a log, which facts confirm it, why it happens and what helps.
type Signature struct {
	ID           string
	Family       string             // the folder of its file
	Title        string             // what failed, in words that hold for every case
	Headline     condition.Template // the same of one case, with its names and numbers
	Role         Role
	Keywords     []string                   // literals, one of which, or of Last, stands in every event that can match
	Last         []string                   // literals that are looked for only in exceptions and in the last lines of a log
	Match        []*condition.Expression    // about one event; all must be true
	Capture      []*pattern.Pattern         // named groups over the event's text
	Code         []*pattern.Pattern         // named groups over the deepest source line of an exception; where none is found, over the deepest of the user's own code
	Before       []*pattern.Pattern         // named groups over the lines before the event; the last place counts
	CommandLine  []*pattern.Pattern         // named groups over the command lines that the first lines of the logs show; the last place counts
	FirstLines   []*pattern.Pattern         // named groups over the first lines of the logs, or a post; the first place counts
	Largest      string                     // of several places that a pattern of Capture matches, the one with the largest size in this group counts
	Confirm      []*condition.Expression    // about facts and captures; three-valued
	Survivable   bool                       // a process goes on with it, so that it is not what ended another one
	OtherCauses  bool                       // what it matches has other causes too, so that it is never more than likely
	Offers       bool                       // it captures Got and Allowed, so that the engine adds Nearest
	ReadsMessage bool                       // what its error's own message says is added to its answer
	TellsCause   bool                       // what it reads in a message is the cause: the answer is no longer unexplained
	OfPost       bool                       // of the role message: it reads what the author of a post has found out, and no message
	ReadsPost    bool                       // what the author of a post has found out is added to its answer
	Collectives  bool                       // its captures tell where a rank is in its collectives: collectiveGroups
	Library      string                     // backend rules to ask, or ""
	History      []condition.Template       // names whose history to ask, as transformers.AdamW; the first that is known counts
	Distribution []condition.Template       // modules of which to ask what brings them, as cv2; the first that is known counts
	Assume       map[string]condition.Value // facts as they are where the library fails, when not as its log says
	Refused      []string                   // backends of the library that the failure says are none; EveryBackend for all
	Cause        condition.Template
	Details      []Detail
	Fixes        []Fix
	Ask          []string             // facts worth asking for although no condition needs them
	Lasting      bool                 // what it tells needs something to be done also when the job went on after it
	Explains     []string             // signatures that are only how this failure, which no line states, ended
	Overrides    []string             // signatures that are not the answer where this one fits the same exception or line
	Questions    []condition.Template // what to ask for where facts alone do not decide
	References   []string
	Place        rulefile.Problem // where its file is; Message is empty

	places     map[string]rulefile.Problem // of the literals
	overridden []rulefile.Problem          // where the ids in Overrides stand
	files      fs.FS                       // that have its file
}

// The groups of a message that lists what it takes: what it was given, the list, and what the engine adds to them, the listed value that was
// most likely meant.
const (
	Got     = "got"
	Allowed = "allowed"
	Nearest = "nearest"
)

// EveryBackend stands in Refused for all backends of a library.
const EveryBackend = "all"

// LiteralPlace is where one of the signature's literals stands. Message is empty.
func (s *Signature) LiteralPlace(literal string) rulefile.Problem { return s.places[literal] }

// Detail is a sentence that is true only under conditions.
type Detail struct {
	When []*condition.Expression
	Say  condition.Template
}

// Fix is something to do about a failure.
type Fix struct {
	Do   condition.Template
	Run  []condition.Command
	Set  map[string]condition.Value // the fact changes that it makes
	When []*condition.Expression    // it is shown unless one of them is false
}

// signatureFile is the form of a signature's file.
type signatureFile struct {
	ID          rulefile.Text   `yaml:"id"`
	Title       rulefile.Text   `yaml:"title"`
	Role        rulefile.Text   `yaml:"role"`
	Overrides   []rulefile.Text `yaml:"overrides"`
	Survivable  bool            `yaml:"survivable"`
	OtherCauses bool            `yaml:"other_causes"`
	Keywords    []rulefile.Text `yaml:"keywords"`
	Last        []rulefile.Text `yaml:"last"`
	Match       []rulefile.Text `yaml:"match"`
	Capture     []rulefile.Text `yaml:"capture"`
	Code        []rulefile.Text `yaml:"code"`
	Before      []rulefile.Text `yaml:"before"`
	CommandLine []rulefile.Text `yaml:"command_line"`
	FirstLines  []rulefile.Text `yaml:"first_lines"`
	Largest     rulefile.Text   `yaml:"largest"`
	Confirm     []rulefile.Text `yaml:"confirm"`
	Library     rulefile.Text   `yaml:"library"`
	Assume      map[string]any  `yaml:"assume"`
	Refused     []rulefile.Text `yaml:"refused"`
	Cause       rulefile.Text   `yaml:"cause"`
	Details     []struct {
		When []rulefile.Text `yaml:"when"`
		Say  rulefile.Text   `yaml:"say"`
	} `yaml:"details"`
	History []rulefile.Text `yaml:"history"`

	Distribution []rulefile.Text `yaml:"distribution"`
	ReadsMessage bool            `yaml:"reads_message"`
	TellsCause   bool            `yaml:"tells_cause"`
	OfPost       bool            `yaml:"of_post"`
	ReadsPost    bool            `yaml:"reads_post"`
	Fixes        []struct {
		Do   rulefile.Text   `yaml:"do"`
		Run  []rulefile.Text `yaml:"run"`
		Set  map[string]any  `yaml:"set"`
		When []rulefile.Text `yaml:"when"`
	} `yaml:"fixes"`
	Ask        []rulefile.Text `yaml:"ask"`
	Lasting    bool            `yaml:"lasting"`
	Explains   []rulefile.Text `yaml:"explains"`
	Questions  []rulefile.Text `yaml:"questions"`
	References []rulefile.Text `yaml:"references"`

	Examples []exampleFile `yaml:"examples"` // read apart from the rest: see ExampleReader
}

// eventNames are the names that conditions on an event may use besides the facts.
func eventNames() map[string]condition.Shape {
	text, number := condition.Shape{Type: condition.String}, condition.Shape{Type: condition.Number}
	frame := condition.Shape{Type: condition.Object, Members: map[string]condition.Shape{
		"file": text, "line": number, "function": text, "code": text, "package": text,
	}}
	exception := map[string]condition.Shape{"user": frame, "frames": {Type: condition.List, Items: &frame}}
	for _, name := range exceptionTexts() {
		exception[name] = text
	}
	names := FindingShapes()
	names[HistoryName] = HistoryShape()
	names[DistributionName] = DistributionShape()
	names[CommandLineName] = CommandLineShape()
	names[FirstLinesName] = text
	maps.Copy(names, map[string]condition.Shape{
		"text": text, "line": text, "before": text, "source": text,
		"error": {Type: condition.Object, Members: exception},
	})
	return names
}

// Groups are the names of the groups that Capture, Code, Before, CommandLine and FirstLines have. One can come twice.
func (s *Signature) Groups() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, p := range slices.Concat(s.Capture, s.Code, s.Before, s.CommandLine, s.FirstLines) {
			for _, name := range p.Names() {
				if name != "" && !yield(name) {
					return
				}
			}
		}
	}
}

// exceptionTexts are the members of the event variable error that are texts.
func exceptionTexts() []string {
	return []string{
		"type", "name", "message", "at", "raised", "owner", "caller", "asker", "through", "call", "root", "none", "code", "hidden", "hiding",
	}
}

// NoException is what the event variable error is of a line that is no exception.
func NoException() condition.Value {
	members := map[string]condition.Value{"frames": condition.ListValue(), "user": condition.Nil}
	for _, name := range exceptionTexts() {
		members[name] = condition.StringValue("")
	}
	return condition.ObjectValue(members)
}

// SetLine makes the event of a situation a line that is no exception, and before which nothing is known.
func SetLine(s *condition.Situation, line, source string) {
	s.Set("text", condition.StringValue(line))
	s.Set("line", condition.StringValue(line))
	s.Set("before", condition.StringValue(""))
	s.Set("source", condition.StringValue(source))
	s.Set("error", NoException())
	SetFinding(s, "", condition.Nil)
}

// SetLineTemplate makes the event of a situation any line that differs from this one in numbers only: what is asked about it is unknown
// where that depends on the numbers.
func SetLineTemplate(s *condition.Situation, line string) {
	s.SetLineTemplate(line)
	for _, name := range []string{"text", "line", "before", "rank"} {
		s.Set(name, condition.Value{})
	}
	s.Set("error", NoException())
	SetFinding(s, "", condition.Nil)
}
