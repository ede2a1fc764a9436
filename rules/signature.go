package rules

import (
	"fmt"
	"path"
	"slices"
	"strings"
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
	Unstated    Role = "unstated"    // no line states it, a comparison of lines shows it: speaks where no line tells of a cause
	Pace        Role = "pace"        // how far and how fast the job goes; its captures are the groups of PaceGroups
)

// PaceGroups are the groups that a signature of the role pace captures from a line.
var PaceGroups = []string{
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
	Keywords   []string         // literals, one of which, or of Last, stands in every event that can match
	Last       []string         // literals that are looked for only in exceptions and in the last lines of a log
	Match      []*Expression    // about one event; all must be true
	Capture    []*Pattern       // named groups over the event's text
	Confirm    []*Expression    // about facts and captures; three-valued
	Library    string           // backend rules to ask, or ""
	Assume     map[string]Value // facts as they are where the library fails, when not as its log says
	Cause      Template
	Details    []Detail
	Fixes      []Fix
	Ask        []string   // facts worth asking for although no condition needs them
	Explains   []string   // signatures that are only how this failure, which no line states, ended
	Overrides  []string   // signatures that are not the answer where this one fits the same exception or line
	Questions  []Template // what to ask for where facts alone do not decide
	References []string
	Place      Problem // where its file is; Message is empty

	places     map[string]Problem // of the literals
	overridden []Problem          // where the ids in Overrides stand
}

// LiteralPlace is where one of the signature's literals stands. Message is empty.
func (s *Signature) LiteralPlace(literal string) Problem { return s.places[literal] }

// Detail is a sentence that is true only under conditions.
type Detail struct {
	When []*Expression
	Say  Template
}

// Fix is something to do about a failure.
type Fix struct {
	Do   Template
	Run  []Template
	Set  map[string]Value // the fact changes that it makes
	When []*Expression    // it is shown unless one of them is false
}

// signatureFile is the form of a signature's file.
type signatureFile struct {
	ID        Text           `yaml:"id"`
	Title     Text           `yaml:"title"`
	Role      Text           `yaml:"role"`
	Overrides []Text         `yaml:"overrides"`
	Keywords  []Text         `yaml:"keywords"`
	Last      []Text         `yaml:"last"`
	Match     []Text         `yaml:"match"`
	Capture   []Text         `yaml:"capture"`
	Confirm   []Text         `yaml:"confirm"`
	Library   Text           `yaml:"library"`
	Assume    map[string]any `yaml:"assume"`
	Cause     Text           `yaml:"cause"`
	Details   []struct {
		When []Text `yaml:"when"`
		Say  Text   `yaml:"say"`
	} `yaml:"details"`
	Fixes []struct {
		Do   Text           `yaml:"do"`
		Run  []Text         `yaml:"run"`
		Set  map[string]any `yaml:"set"`
		When []Text         `yaml:"when"`
	} `yaml:"fixes"`
	Ask        []Text `yaml:"ask"`
	Explains   []Text `yaml:"explains"`
	Questions  []Text `yaml:"questions"`
	References []Text `yaml:"references"`
}

// eventNames are the names that conditions on an event may use besides the facts.
func eventNames() map[string]Shape {
	text, number := Shape{Type: String}, Shape{Type: Number}
	frame := Shape{Type: Object, Members: map[string]Shape{
		"file": text, "line": number, "function": text, "code": text,
	}}
	return map[string]Shape{
		"text": text, "line": text, "before": text, "source": text,
		"error": {Type: Object, Members: map[string]Shape{
			"type": text, "name": text, "message": text, "user": frame,
			"frames": {Type: List, Items: &frame},
		}},
	}
}

// NoException is what the event variable error is of a line that is no exception.
func NoException() Value {
	return ObjectValue(map[string]Value{
		"type": StringValue(""), "name": StringValue(""), "message": StringValue(""), "frames": ListValue(), "user": Nil,
	})
}

// signatures compiles signature files into one scope.
type signatures struct {
	*decoder
	scope      *Scope
	vocabulary *Vocabulary
	captures   map[string]bool // names that are captures of some signature
	index      *index
}

func newSignatures(d *decoder, v *Vocabulary) *signatures {
	l := &signatures{decoder: d, scope: v.Scope(), vocabulary: v, captures: make(map[string]bool)}
	for name, shape := range eventNames() {
		if err := l.scope.Declare(name, shape); err != nil {
			d.problem(1, 1, "%v", err)
		}
	}
	return l
}

// minKeyword is the length in bytes below which a keyword would be found everywhere.
const minKeyword = 5

// signature compiles what was read of a file; nil means that problems were noted.
func (l *signatures) signature(read *draft) *Signature {
	before := len(l.problems)
	l.problems = append(l.problems, read.problems...)
	f, root := read.file, read.root
	if root == nil {
		return nil
	}
	if len(l.problems) == before { // else a key may be missing because it could not be read
		l.require(root.Line, f)
	}
	s := &Signature{ID: f.ID.Value, Family: path.Base(path.Dir(read.name)), Title: f.Title.Value, Role: Cause, Library: f.Library.Value, Place: Problem{File: l.file, Line: f.ID.Line, Column: f.ID.Column}}
	if f.Role.Value != "" {
		s.Role = Role(f.Role.Value)
	}
	switch s.Role {
	case Cause, Consequence, Generic, Unstated:
		if len(f.Fixes) == 0 || len(f.References) == 0 {
			l.problem(f.ID.Line, f.ID.Column, "a signature needs at least one entry under fixes: and one under references:")
		}
	case Noise, Progress:
	case Pace:
		l.paceGroups(f.Capture)
	default:
		l.problem(f.Role.Line, f.Role.Column, "unknown role %q; roles are cause, consequence, generic, unstated, noise, progress and pace", s.Role)
	}
	l.literals(s, f)
	s.Assume = l.set(f.Library, f.Assume)
	own := l.captureNames(s, f.Capture)
	s.Match = l.conditions(f.Match, own)
	s.Confirm = l.conditions(f.Confirm, own)
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
		if _, err := l.vocabulary.known(t.Value); err != nil {
			l.problem(t.Line, t.Column, "%v", err)
		}
		s.Ask = append(s.Ask, t.Value)
	}
	for _, t := range f.Explains {
		s.Explains = append(s.Explains, t.Value)
	}
	for _, t := range f.Overrides {
		s.Overrides = append(s.Overrides, t.Value)
		s.overridden = append(s.overridden, Problem{File: l.file, Line: t.Line, Column: t.Column})
	}
	for _, t := range f.References {
		s.References = append(s.References, t.Value)
	}
	if len(l.problems) > before {
		return nil
	}
	return s
}

// require notes which of the keys that every signature needs are missing.
func (l *signatures) require(line int, f *signatureFile) {
	needed := []struct{ key, value string }{{"id", f.ID.Value}, {"title", f.Title.Value}, {"cause", f.Cause.Value}}
	if role := Role(f.Role.Value); role == Noise || role == Progress || role == Pace {
		needed = needed[:2]
	}
	for _, n := range needed {
		if strings.TrimSpace(n.value) == "" {
			l.problem(line, 1, "the key %s: is missing", n.key)
		}
	}
}

// paceGroups refuses groups that nobody reads, which are misspelt ones.
func (l *signatures) paceGroups(patterns []Text) {
	for _, t := range patterns {
		pattern, err := NewPattern(t.Value)
		if err != nil {
			continue // captureNames says it
		}
		for _, name := range pattern.Names() {
			if name != "" && !slices.Contains(PaceGroups, name) {
				l.problem(t.Line, t.Column, "the group %s tells no pace; groups are %s", name, strings.Join(PaceGroups, ", "))
			}
		}
	}
}

// literals takes the keywords, and those for the last lines.
func (l *signatures) literals(s *Signature, f *signatureFile) {
	s.places = make(map[string]Problem)
	take := func(texts []Text) (literals []string) {
		for _, k := range texts {
			if k.Line > 0 && len(k.Value) < minKeyword {
				l.problem(k.Line, k.Column, "the keyword %q has fewer than %d bytes and would be found everywhere", k.Value, minKeyword)
			}
			s.places[k.Value] = Problem{File: l.file, Line: k.Line, Column: k.Column}
			literals = append(literals, k.Value)
		}
		return literals
	}
	s.Keywords, s.Last = take(f.Keywords), take(f.Last)
	if len(s.Keywords)+len(s.Last) == 0 && s.Role != Generic && s.Role != Unstated { // these are asked about every exception or comparison
		l.problem(f.ID.Line, f.ID.Column, "a signature needs keywords: literals, one of which stands in every line or message that it matches")
	}
	if len(f.Last) > 0 && (s.Role == Noise || s.Role == Progress) {
		l.problem(f.Last[0].Line, f.Last[0].Column, "last: is for failures; %s is looked for in every line", s.Role)
	}
	if len(f.Match) == 0 {
		l.problem(f.ID.Line, f.ID.Column, "a signature needs conditions under match:")
	}
}

// captureNames compiles the capture patterns and declares their groups; it returns the names that belong to this signature.
func (l *signatures) captureNames(s *Signature, patterns []Text) map[string]bool {
	own := make(map[string]bool)
	for _, t := range patterns {
		pattern, err := NewPattern(t.Value)
		if err != nil {
			l.problem(t.Line, t.Column, "%v", err)
			continue
		}
		s.Capture = append(s.Capture, pattern)
		for _, name := range pattern.Names() {
			if name == "" {
				continue
			}
			if l.scope.Has(name) && !l.captures[name] {
				l.problem(t.Line, t.Column, "the group %s has the name of a fact", name)
				continue
			}
			if err := l.scope.Declare(name, Shape{Type: String}); err != nil {
				l.problem(t.Line, t.Column, "%v", err)
			}
			if own[name] = true; !l.captures[name] { // else it is shared, perhaps, and only read
				l.captures[name] = true
			}
		}
	}
	return own
}

func (l *signatures) conditions(texts []Text, own map[string]bool) []*Expression {
	var compiled []*Expression
	for _, t := range texts {
		e := l.compile(l.scope, t, true)
		if e == nil {
			continue
		}
		for _, name := range e.Names(l.scope) {
			if l.captures[name] && !own[name] {
				l.problem(t.Line, t.Column, "%s is a group of another signature's capture, not of this one's", name)
			}
		}
		compiled = append(compiled, e)
	}
	return compiled
}

func (l *signatures) templates(texts []Text, own map[string]bool) []Template {
	var parsed []Template
	for _, t := range texts {
		parsed = append(parsed, l.template(t, own))
	}
	return parsed
}

func (l *signatures) template(t Text, own map[string]bool) Template {
	parsed := parseTemplate(strings.TrimSpace(t.Value))
	for _, name := range parsed.Names() {
		top, _, _ := strings.Cut(name, ".")
		_, isFact := l.vocabulary.Fact(name)
		if !isFact && !own[name] && !(l.scope.Has(top) && !l.captures[top]) {
			l.problem(t.Line, t.Column, "{%s} is neither a fact nor a group of capture:", name)
		}
	}
	return parsed
}

func (l *signatures) set(at Text, changes map[string]any) map[string]Value {
	values := make(map[string]Value, len(changes))
	for name, change := range changes {
		if change == nil {
			values[name] = Nil
			continue
		}
		if n, ok := change.(int); ok {
			change = float64(n)
		}
		info, err := l.vocabulary.known(name)
		if err == nil && (info.Type == VersionType || info.Type == String) {
			change = fmt.Sprint(change)
		}
		value, err := l.vocabulary.FromJSON(name, change)
		if err != nil {
			l.problem(at.Line, at.Column, "set: %v", err)
		}
		values[name] = value
	}
	return values
}
