package signature

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/pattern"
	"github.com/gpu-triage/triage/rules/rulefile"
)

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
	s := &Signature{ID: f.ID.Value, Family: path.Base(path.Dir(read.name)), Role: Cause, Survivable: f.Survivable, Library: f.Library.Value, Place: rulefile.Problem{File: l.File, Line: f.ID.Line, Column: f.ID.Column}, files: read.files}
	if len(f.Examples) > 0 {
		at := f.Examples[0].Log
		l.Problem(at.Line, at.Column, "write examples: without quotes or blanks, at the beginning of a line")
	}
	l.role(s, f, complete)
	l.certainty(s, f)
	s.ReadsMessage = f.ReadsMessage || s.Role == Unexplained
	s.OfPost, s.ReadsPost = f.OfPost, f.ReadsPost || s.Role.LastResort()
	l.literals(s, f)
	s.Assume = l.set(f.Library, f.Assume)
	for _, t := range f.Refused {
		s.Refused = append(s.Refused, t.Value)
	}
	if len(s.Refused) > 0 && s.Library == "" {
		l.Problem(f.Refused[0].Line, f.Refused[0].Column, "refused: needs library:, whose backends they are")
	}
	own := make(map[string]bool)
	s.Capture = l.captureNames(s, f.Capture, own)
	s.Code = l.captureNames(s, f.Code, own)
	s.Before = l.captureNames(s, f.Before, own)
	s.CommandLine = l.captureNames(s, f.CommandLine, own)
	s.FirstLines = l.captureNames(s, f.FirstLines, own)
	s.Headline = l.template(f.Title, condition.ParsePhrase, own)
	s.Title = s.Headline.Unfilled()
	if s.Title == "" && f.Title.Value != "" {
		l.Problem(f.Title.Line, f.Title.Column, "a title needs words for what is not known, as in {path|a file}")
	}
	s.History = l.templates(f.History, condition.ParsePhrase, own)
	s.Distribution = l.templates(f.Distribution, condition.ParsePhrase, own)
	s.Match = l.conditions(f.Match, own)
	l.noGroupIsNil(f.Match, own)
	l.keywords(s, f)
	s.Confirm = l.conditions(f.Confirm, own)
	l.words(s, f, own)
	l.historyIsAsked(s, f)
	l.distributionIsAsked(s, f)
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
	case Cause, Consequence, Generic, Unexplained, Inferred, Message:
		if complete && (len(f.Fixes) == 0 || len(f.References) == 0) {
			l.Problem(f.ID.Line, f.ID.Column, "a signature needs at least one entry under fixes: and one under references:")
		}
	case Noise, Progress, Command:
	case Pace:
		l.paceGroups(f.Capture)
	default:
		l.Problem(f.Role.Line, f.Role.Column, "unknown role %q; roles are cause, consequence, generic, unexplained, inferred, message, noise, progress, command and pace", s.Role)
	}
}

// certainty takes what a signature says of how sure it is, beside its conditions.
func (l *loader) certainty(s *Signature, f *signatureFile) {
	s.OtherCauses, s.TellsCause = f.OtherCauses, f.TellsCause
	if s.OtherCauses && s.Role != Cause {
		l.Problem(f.ID.Line, f.ID.Column, "other_causes: is for a cause: a signature of the role %s is never more than likely", s.Role)
	}
	if f.OfPost && s.Role != Message {
		l.Problem(f.ID.Line, f.ID.Column, "of_post: is for the role message")
	}
	if s.TellsCause && s.Role != Message {
		l.Problem(f.ID.Line, f.ID.Column, "tells_cause: is for the role message: the role %s says by itself whether a cause is told", s.Role)
	}
}

// words takes what the signature says and asks. Own are the groups that it captures.
func (l *loader) words(s *Signature, f *signatureFile, own map[string]bool) {
	s.Cause = l.template(f.Cause, condition.ParseTemplate, own)
	for _, d := range f.Details {
		s.Details = append(s.Details, Detail{When: l.conditions(d.When, own), Say: l.template(d.Say, condition.ParseTemplate, own)})
	}
	for _, fix := range f.Fixes {
		s.Fixes = append(s.Fixes, Fix{
			Do: l.template(fix.Do, condition.ParseTemplate, own), Run: l.commands(fix.Run, own), Set: l.set(fix.Do, fix.Set), When: l.conditions(fix.When, own),
		})
	}
	s.Questions = l.templates(f.Questions, condition.ParseTemplate, own)
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
	s.Lasting, s.Largest = f.Lasting, f.Largest.Value
	captured := func(p *pattern.Pattern) bool { return p.Group(s.Largest) > 0 }
	if s.Largest != "" && !slices.ContainsFunc(s.Capture, captured) {
		l.Problem(f.Largest.Line, f.Largest.Column, "largest: no pattern under capture: has a group %s", s.Largest)
	}
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
	if role := Role(f.Role.Value); role == Noise || role.AboutRun() || role == Pace {
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
	if len(f.Last) > 0 && (s.Role == Noise || s.Role.AboutRun()) {
		l.Problem(f.Last[0].Line, f.Last[0].Column, "last: is for failures; %s is looked for in every line", s.Role)
	}
	if len(f.Match) == 0 {
		l.Problem(f.ID.Line, f.ID.Column, "a signature needs conditions under match:")
	}
}

// captureNames compiles patterns that capture and declares their groups, which it adds to own, the names that belong to this signature.
func (l *loader) captureNames(s *Signature, patterns []rulefile.Text, own map[string]bool) []*pattern.Pattern {
	var compiled []*pattern.Pattern
	for _, t := range patterns {
		pattern, err := pattern.New(t.Value)
		if err != nil {
			l.Problem(t.Line, t.Column, "%v", err)
			continue
		}
		compiled = append(compiled, pattern)
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
			if strings.HasPrefix(name, "collective_") {
				s.Collectives = true
				if !slices.Contains(collectiveGroups, name) {
					l.Problem(t.Line, t.Column, "the group %s tells nothing of a collective; groups are %s", name, strings.Join(collectiveGroups, ", "))
				}
			}
			l.captured(name)
		}
		if s.Offers = own[Got] && own[Allowed]; s.Offers && !own[Nearest] {
			l.declareText(t, Nearest)
			l.captured(Nearest)
			own[Nearest] = true
		}
	}
	return compiled
}

// captured notes that a name is a group. One that is known already is perhaps shared with other readers, and only read.
func (l *loader) captured(name string) {
	if !l.captures[name] {
		l.captures[name] = true
	}
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

// comparedToNil is a name that a condition compares to nil.
var comparedToNil = pattern.Lazy(`\b(\w+) == nil\b`)

// noGroupIsNil refuses to ask under match: whether a group was not found: it is not known then, and the condition never holds.
func (l *loader) noGroupIsNil(match []rulefile.Text, own map[string]bool) {
	for _, t := range match {
		for _, m := range comparedToNil().FindAllStringSubmatch(t.Value, -1) {
			if own[m[1]] {
				l.Problem(t.Line, t.Column, "under match: a group that was not found is not known, so that %s == nil never holds; ask what else tells it, such as error.message", m[1])
			}
		}
	}
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
