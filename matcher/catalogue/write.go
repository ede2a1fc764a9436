package catalogue

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/fact"
	"github.com/gpu-triage/triage/rules/signature"
)

// read is the situation in which a signature fits an example; nil when it does not.
func read(ctx context.Context, engine *matcher.Engine, s *signature.Signature, e signature.Example) (*condition.Situation, error) {
	known, err := facts.Said(engine.Base().Vocabulary, e.Facts, "")
	if err != nil {
		return nil, err
	}
	job := engine.Begin()
	if err := job.Read(ctx, "train.log", strings.NewReader(e.Log)); err != nil {
		return nil, err
	}
	return job.Situation(s.ID, known...), nil
}

// writer writes the sentences of a signature as they are in the cases that its examples show.
type writer struct {
	vocabulary *fact.Vocabulary
	cases      []*condition.Situation // none for a signature without examples that stand with it
}

// say writes why and what to do.
func (w *writer) say(p *Page, s *signature.Signature) {
	p.Filled = len(w.cases) > 0 && len(s.Cause.Names()) > 0
	if text := w.text(nil, s.Cause); text != "" {
		p.Why = append(p.Why, text)
	}
	for _, d := range s.Details {
		p.Filled = p.Filled || len(w.cases) > 0 && len(d.Say.Names()) > 0
		text := w.text(d.When, d.Say)
		switch {
		case text == "":
		case len(w.cases) > 0 && condition.All(d.When, w.cases[0]):
			p.Why = append(p.Why, text)
		default:
			p.Elsewhere = append(p.Elsewhere, text)
		}
	}
	for _, f := range s.Fixes {
		p.Fixes = append(p.Fixes, w.fix(f))
	}
}

// text is a sentence as it is in the first case in which its conditions hold; where there is none, its values are named.
func (w *writer) text(when []*condition.Expression, t condition.Template) string {
	for _, c := range w.cases {
		if !condition.All(when, c) {
			continue
		}
		if text := t.Fill(c); text != "" {
			return tidy(text)
		}
	}
	return tidy(t.Outline(w.name))
}

// fix is one as it is in the first case for which it is meant.
func (w *writer) fix(f signature.Fix) report.Fix {
	var fix report.Fix
	i := slices.IndexFunc(w.cases, func(c *condition.Situation) bool { return condition.Possible(f.When, c) && f.Do.Fill(c) != "" })
	if i < 0 {
		fix.Do = tidy(f.Do.Outline(w.name))
	} else {
		fix.Do = tidy(f.Do.Fill(w.cases[i]))
	}
	for _, c := range f.Run {
		text := ""
		if i >= 0 {
			text = c.Fill(w.cases[i])
		}
		if text == "" {
			text = c.Outline(metavariable)
		}
		if text != "" {
			fix.Add(string(c.Kind), text)
		}
	}
	return fix
}

// twoStops is the full stop that a sentence puts behind a message that has its own.
var twoStops = regexp.MustCompile(`([^.][.!?])\.(\s|$)`)

func tidy(text string) string { return twoStops.ReplaceAllString(text, "$1$2") }

// ofEvents are words for what every failure in a log has.
var ofEvents = map[string]string{
	"text": "error", "line": "line", "source": "log", "error.type": "type of the error", "error.name": "type of the error",
	"error.message": "message", "error.at": "file and line", "error.owner": "package", "error.caller": "calling package", "error.through": "package in between", "error.call": "called name",
	"error.user.file": "file of yours", "error.user.function": "function of yours", "error.user.line": "line of your code", "error.user.code": "line of your code",
}

// name stands in a sentence for a value that only a log has.
func (w *writer) name(place string) string {
	if words, ok := ofEvents[place]; ok {
		return "‹" + words + "›"
	}
	if variable, ok := strings.CutPrefix(place, condition.Environment); ok {
		return "‹" + variable + "›"
	}
	if info, ok := w.vocabulary.Fact(place); ok && info.Type == condition.VersionType {
		return "‹version›"
	}
	if what, member, found := strings.Cut(place, "."); found && slices.Contains(findings, what) {
		place = member
	}
	return "‹" + strings.NewReplacer("_", " ", ".", " ").Replace(place) + "›"
}

// findings are what is known of a comparison of lines, of a name's history, or of the command lines that are shown; the names of their members say enough.
var findings = []string{signature.PaceFinding, signature.FlightFinding, signature.FailedFinding, signature.PostFinding, signature.HistoryName, signature.DistributionName, signature.CommandLineName}

// metavariable stands in a command for a value that only a log has.
func metavariable(place string) string {
	return strings.ToUpper(place[strings.LastIndexByte(place, '.')+1:])
}
