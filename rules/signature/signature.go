package signature

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

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
	Generic     Role = "generic"     // says something only where no other signature does
	Noise       Role = "noise"       // known to be harmless: takes its lines out of consideration
	Progress    Role = "progress"    // the job goes on: what happened before was survived
	Inferred    Role = "inferred"    // no line states it, a comparison of lines shows it: speaks where no line tells of a cause
	Pace        Role = "pace"        // how far and how fast the job goes; its captures are the groups of paceGroups
)

// paceGroups are the groups that a signature of the role pace captures from a line.
var paceGroups = []string{
	"step", "steps", // the step, and how many there are to be
	"epoch",                                 // the step counts from the beginning of this one
	"seconds", "milliseconds", "per_second", // the time that a step takes, or something that is done at a rate
	"data_seconds", // the part of that time that waits for data
	"batch",        // samples in a step, where that changes while a job runs
	"finished",     // the work is done
	"pause",        // something other than steps begins, which may take long
}

// Signature is a known failure: how it shows in a log, which facts confirm it, why it happens and what helps.
type Signature struct {
	ID         string
	Family     string // the folder of its file
	Title      string
	Role       Role
	Keywords   []string                   // literals, one of which, or of Last, stands in every event that can match
	Last       []string                   // literals that are looked for only in exceptions and in the last lines of a log
	Match      []*condition.Expression    // about one event; all must be true
	Capture    []*pattern.Pattern         // named groups over the event's text
	Confirm    []*condition.Expression    // about facts and captures; three-valued
	Library    string                     // backend rules to ask, or ""
	Assume     map[string]condition.Value // facts as they are where the library fails, when not as its log says
	Cause      condition.Template
	Details    []Detail
	Fixes      []Fix
	Ask        []string             // facts worth asking for although no condition needs them
	Explains   []string             // signatures that are only how this failure, which no line states, ended
	Overrides  []string             // signatures that are not the answer where this one fits the same exception or line
	Questions  []condition.Template // what to ask for where facts alone do not decide
	References []string
	Place      rulefile.Problem // where its file is; Message is empty

	places     map[string]rulefile.Problem // of the literals
	overridden []rulefile.Problem          // where the ids in Overrides stand
	files      fs.FS                       // that have its file
}

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
	Run  []condition.Template
	Set  map[string]condition.Value // the fact changes that it makes
	When []*condition.Expression    // it is shown unless one of them is false
}

// signatureFile is the form of a signature's file.
type signatureFile struct {
	ID        rulefile.Text   `yaml:"id"`
	Title     rulefile.Text   `yaml:"title"`
	Role      rulefile.Text   `yaml:"role"`
	Overrides []rulefile.Text `yaml:"overrides"`
	Keywords  []rulefile.Text `yaml:"keywords"`
	Last      []rulefile.Text `yaml:"last"`
	Match     []rulefile.Text `yaml:"match"`
	Capture   []rulefile.Text `yaml:"capture"`
	Confirm   []rulefile.Text `yaml:"confirm"`
	Library   rulefile.Text   `yaml:"library"`
	Assume    map[string]any  `yaml:"assume"`
	Cause     rulefile.Text   `yaml:"cause"`
	Details   []struct {
		When []rulefile.Text `yaml:"when"`
		Say  rulefile.Text   `yaml:"say"`
	} `yaml:"details"`
	Fixes []struct {
		Do   rulefile.Text   `yaml:"do"`
		Run  []rulefile.Text `yaml:"run"`
		Set  map[string]any  `yaml:"set"`
		When []rulefile.Text `yaml:"when"`
	} `yaml:"fixes"`
	Ask        []rulefile.Text `yaml:"ask"`
	Explains   []rulefile.Text `yaml:"explains"`
	Questions  []rulefile.Text `yaml:"questions"`
	References []rulefile.Text `yaml:"references"`

	Examples []exampleFile `yaml:"examples"` // read apart from the rest: see ExampleReader
}

// eventNames are the names that conditions on an event may use besides the facts.
func eventNames() map[string]condition.Shape {
	text, number := condition.Shape{Type: condition.String}, condition.Shape{Type: condition.Number}
	frame := condition.Shape{Type: condition.Object, Members: map[string]condition.Shape{
		"file": text, "line": number, "function": text, "code": text,
	}}
	names := FindingShapes()
	maps.Copy(names, map[string]condition.Shape{
		"text": text, "line": text, "before": text, "source": text,
		"error": {Type: condition.Object, Members: map[string]condition.Shape{
			"type": text, "name": text, "message": text, "user": frame,
			"frames": {Type: condition.List, Items: &frame},
		}},
	})
	return names
}

// NoException is what the event variable error is of a line that is no exception.
func NoException() condition.Value {
	return condition.ObjectValue(map[string]condition.Value{
		"type": condition.StringValue(""), "name": condition.StringValue(""), "message": condition.StringValue(""), "frames": condition.ListValue(), "user": condition.Nil,
	})
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

// minKeyword is the length in bytes below which a keyword would be found everywhere.
const minKeyword = 5

// signature compiles what was read of a file; nil means that problems were noted.
func (l *loader) signature(read *parsedFile) *Signature {
	before := len(l.Problems)
	l.Problems = append(l.Problems, read.problems...)
	f, root := read.file, read.root
	if root == nil {
		return nil
	}
	complete := len(l.Problems) == before // else a key may be missing because it could not be read
	if complete {
		l.require(root.Line, f)
	}
	s := &Signature{ID: f.ID.Value, Family: path.Base(path.Dir(read.name)), Title: f.Title.Value, Role: Cause, Library: f.Library.Value, Place: rulefile.Problem{File: l.File, Line: f.ID.Line, Column: f.ID.Column}, files: read.files}
	if len(f.Examples) > 0 {
		at := f.Examples[0].Log
		l.Problem(at.Line, at.Column, "write examples: without quotes or blanks, at the beginning of a line")
	}
	l.role(s, f, complete)
	l.literals(s, f)
	s.Assume = l.set(f.Library, f.Assume)
	own := l.captureNames(s, f.Capture)
	s.Match = l.conditions(f.Match, own)
	l.keywords(s, f)
	s.Confirm = l.conditions(f.Confirm, own)
	l.words(s, f, own)
	l.others(s, f)
	if len(l.Problems) > before {
		return nil
	}
	return s
}

// role takes the role and notes what a signature of that role lacks, if the file could be read completely.
func (l *loader) role(s *Signature, f *signatureFile, complete bool) {
	if f.Role.Value != "" {
		s.Role = Role(f.Role.Value)
	}
	switch s.Role {
	case Cause, Consequence, Generic, Inferred:
		if complete && (len(f.Fixes) == 0 || len(f.References) == 0) {
			l.Problem(f.ID.Line, f.ID.Column, "a signature needs at least one entry under fixes: and one under references:")
		}
	case Noise, Progress:
	case Pace:
		l.paceGroups(f.Capture)
	default:
		l.Problem(f.Role.Line, f.Role.Column, "unknown role %q; roles are cause, consequence, generic, inferred, noise, progress and pace", s.Role)
	}
}

// words takes what the signature says and asks. Own are the groups that it captures.
func (l *loader) words(s *Signature, f *signatureFile, own map[string]bool) {
	s.Cause = l.template(f.Cause, own)
	for _, d := range f.Details {
		s.Details = append(s.Details, Detail{When: l.conditions(d.When, own), Say: l.template(d.Say, own)})
	}
	for _, fix := range f.Fixes {
		s.Fixes = append(s.Fixes, Fix{
			Do: l.template(fix.Do, own), Run: l.templates(fix.Run, own), Set: l.set(fix.Do, fix.Set), When: l.conditions(fix.When, own),
		})
	}
	s.Questions = l.templates(f.Questions, own)
	for _, t := range f.Ask {
		if _, err := l.vocabulary.Known(t.Value); err != nil {
			l.Problem(t.Line, t.Column, "%v", err)
		}
		s.Ask = append(s.Ask, t.Value)
	}
	for _, t := range f.References {
		s.References = append(s.References, t.Value)
	}
}

// others takes what the signature says of other signatures.
func (l *loader) others(s *Signature, f *signatureFile) {
	for _, t := range f.Explains {
		s.Explains = append(s.Explains, t.Value)
	}
	for _, t := range f.Overrides {
		s.Overrides = append(s.Overrides, t.Value)
		s.overridden = append(s.overridden, rulefile.Problem{File: l.File, Line: t.Line, Column: t.Column})
	}
}

// require notes which of the keys that every signature needs are missing.
func (l *loader) require(line int, f *signatureFile) {
	needed := []struct{ key, value string }{{"id", f.ID.Value}, {"title", f.Title.Value}, {"cause", f.Cause.Value}}
	if role := Role(f.Role.Value); role == Noise || role == Progress || role == Pace {
		needed = needed[:2]
	}
	for _, n := range needed {
		if strings.TrimSpace(n.value) == "" {
			l.Problem(line, 1, "the key %s: is missing", n.key)
		}
	}
}

// paceGroups refuses groups that nobody reads, which are misspelt ones.
func (l *loader) paceGroups(patterns []rulefile.Text) {
	for _, t := range patterns {
		pattern, err := pattern.New(t.Value)
		if err != nil {
			continue // captureNames says it
		}
		for _, name := range pattern.Names() {
			if name != "" && !slices.Contains(paceGroups, name) {
				l.Problem(t.Line, t.Column, "the group %s tells no pace; groups are %s", name, strings.Join(paceGroups, ", "))
			}
		}
	}
}

// literals takes the keywords, and those for the last lines.
func (l *loader) literals(s *Signature, f *signatureFile) {
	s.places = make(map[string]rulefile.Problem)
	take := func(texts []rulefile.Text) (literals []string) {
		for _, k := range texts {
			if k.Line > 0 && len(k.Value) < minKeyword {
				l.Problem(k.Line, k.Column, "the keyword %q has fewer than %d bytes and would be found everywhere", k.Value, minKeyword)
			}
			s.places[k.Value] = rulefile.Problem{File: l.File, Line: k.Line, Column: k.Column}
			literals = append(literals, k.Value)
		}
		return literals
	}
	s.Keywords, s.Last = take(f.Keywords), take(f.Last)
	if len(f.Last) > 0 && (s.Role == Noise || s.Role == Progress) {
		l.Problem(f.Last[0].Line, f.Last[0].Column, "last: is for failures; %s is looked for in every line", s.Role)
	}
	if len(f.Match) == 0 {
		l.Problem(f.ID.Line, f.ID.Column, "a signature needs conditions under match:")
	}
}

// captureNames compiles the capture patterns and declares their groups; it returns the names that belong to this signature.
func (l *loader) captureNames(s *Signature, patterns []rulefile.Text) map[string]bool {
	own := make(map[string]bool)
	for _, t := range patterns {
		pattern, err := pattern.New(t.Value)
		if err != nil {
			l.Problem(t.Line, t.Column, "%v", err)
			continue
		}
		s.Capture = append(s.Capture, pattern)
		for _, name := range pattern.Names() {
			if name == "" {
				continue
			}
			if l.scope.Has(name) && !l.captures[name] {
				l.Problem(t.Line, t.Column, "the group %s has the name of a fact", name)
				continue
			}
			l.declareText(t, name)
			own[name] = true
			if !l.captures[name] { // else it is shared, perhaps, and only read
				l.captures[name] = true
			}
		}
	}
	return own
}

func (l *loader) conditions(texts []rulefile.Text, own map[string]bool) []*condition.Expression {
	var compiled []*condition.Expression
	for _, t := range texts {
		e := l.scope.ReadCondition(l.Decoder, t)
		if e == nil {
			continue
		}
		for _, name := range e.Names() {
			if l.captures[name] && !own[name] {
				l.Problem(t.Line, t.Column, "%s is a group of another signature's capture, not of this one's", name)
			}
		}
		compiled = append(compiled, e)
	}
	return compiled
}

func (l *loader) templates(texts []rulefile.Text, own map[string]bool) []condition.Template {
	var parsed []condition.Template
	for _, t := range texts {
		parsed = append(parsed, l.template(t, own))
	}
	return parsed
}

func (l *loader) template(t rulefile.Text, own map[string]bool) condition.Template {
	parsed := condition.ParseTemplate(strings.TrimSpace(t.Value))
	for _, name := range parsed.Names() {
		top, _, _ := strings.Cut(name, ".")
		_, isFact := l.vocabulary.Fact(name)
		if !isFact && !own[name] && !(l.scope.Has(top) && !l.captures[top]) {
			l.Problem(t.Line, t.Column, "{%s} is neither a fact nor a group of capture:", name)
			continue
		}
		if strings.HasPrefix(name, condition.Environment) {
			l.declareText(t, name)
			continue
		}
		if isFact || name == top {
			continue
		}
		member := &rulefile.Decoder{File: l.File}
		l.scope.Read(member, rulefile.Text{Value: name, Line: t.Line, Column: t.Column})
		for _, mistake := range member.Problems {
			l.Problem(t.Line, t.Column, "{%s}: %s", name, mistake.Message)
		}
	}
	return parsed
}

// declareText adds a name whose value is a text.
func (l *loader) declareText(at rulefile.Text, name string) {
	if err := l.scope.Declare(name, condition.Shape{Type: condition.String}); err != nil {
		l.Problem(at.Line, at.Column, "%v", err)
	}
}

func (l *loader) set(at rulefile.Text, changes map[string]any) map[string]condition.Value {
	values := make(map[string]condition.Value, len(changes))
	for name, change := range changes {
		if change == nil {
			values[name] = condition.Nil
			continue
		}
		if n, ok := change.(int); ok {
			change = float64(n)
		}
		info, err := l.vocabulary.Known(name)
		if err == nil && (info.Type == condition.VersionType || info.Type == condition.String) {
			change = fmt.Sprint(change)
		}
		value, err := l.vocabulary.FromJSON(name, change)
		if err != nil {
			l.Problem(at.Line, at.Column, "set: %v", err)
		}
		values[name] = value
	}
	return values
}
