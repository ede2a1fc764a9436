package diagnosis

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/reading"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/matcher/traceback"
	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/fact"
	"github.com/gpu-triage/triage/rules/signature"
)

// Bounds of what a report shows, so that a comment or a message can hold it.
const (
	maxEvidence     = 12
	maxAlternatives = 3
	maxConsequences = 12
	maxShown        = 2000 // bytes of one quoted line
)

// diagnoser answers from what has been read.
type diagnoser struct{ *reading.Result }

// Diagnose gives the answer so far. Known are the facts that are not from the log; calling it again with others answers what would be
// otherwise. No secret of a log or a fact is in it.
func Of(r *reading.Result, known ...facts.Fact) report.Report {
	report := diagnoser{r}.report(known)
	report.Redact()
	return report
}

func (r diagnoser) report(known []facts.Fact) report.Report {
	facts := r.situation(known)
	report := report.Report{Schema: report.Schema, Diagnoses: []report.Diagnosis{}, Facts: factValues(facts, slices.Sorted(maps.Keys(facts))), Stats: r.Stats}
	changes := contradictions(known, r.Facts, r.Base.Vocabulary)
	for _, c := range changes {
		report.Notes = append(report.Notes, c.note())
	}
	situation := facts.Situation(r.Base.Scope)
	for i, line := range r.Seen {
		situation.SetSeen(i, line.Number > 0)
	}
	findings := r.findings(situation)
	first := firstFailed(findings)
	chosen := root(findings, first)
	if f := r.inferredFailure(chosen, situation); f != nil {
		findings, chosen = append(findings, f), f
	}
	if chosen == nil {
		return report
	}
	for i := range chosen.matches {
		if i > 0 && !alternative(chosen, i) {
			continue
		}
		d := r.diagnosis(chosen, chosen.matches[i], facts, first)
		if chosen.matches[i].signature.Library != "" {
			report.Notes = append(report.Notes, r.addBackends(&d, chosen.matches[i], facts, chosen.element.Line.Process())...)
			report.Notes = append(report.Notes, r.today(chosen.matches[i].signature.Library, facts, changes)...)
		}
		report.Diagnoses = append(report.Diagnoses, d)
	}
	report.Diagnoses[0].Consequences = consequences(findings, chosen)
	return report
}

// situation is what the logs say, what else is known, and what follows from both.
func (r diagnoser) situation(known []facts.Fact) facts.Facts {
	facts := make(facts.Facts)
	for _, f := range known {
		facts.Add(f)
	}
	for _, f := range r.Facts {
		facts.Add(f)
	}
	r.Xids.State(facts, r.Base.Xids)
	facts.Infer(r.Base.Vocabulary)
	return facts
}

// alternative tells whether the i-th match of a finding is worth showing beside the first: when no cause is confirmed, every cause
// that may be it.
func alternative(f *finding, i int) bool {
	return i <= maxAlternatives && f.matches[0].certainty == report.Likely && f.matches[0].signature.Role == signature.Cause &&
		f.matches[i].signature.Role == signature.Cause
}

// diagnosis puts what a match says into words.
func (r diagnoser) diagnosis(f *finding, m match, facts facts.Facts, first int) report.Diagnosis {
	at := f.Earliest(first)
	s := m.signature
	d := report.Diagnosis{
		ID: s.ID, Title: s.Title, Cause: s.Cause.Fill(m.situation), Certainty: m.certainty,
		Ranks: f.Ranks(), Count: f.Count,
		Evidence: r.evidence(f, s, at), Facts: factValues(facts, factNames(s, r.Base)),
		Missing: missing(m, r.Base.Vocabulary), Fixes: fixes(m),
		Consequences: []report.Consequence{}, References: append([]string{}, s.References...),
	}
	if rank := rankOf(at, first); rank != logline.NoRank {
		d.Rank = &rank
	}
	for _, detail := range s.Details {
		if condition.All(detail.When, m.situation) {
			d.Cause += " " + detail.Say.Fill(m.situation)
		}
	}
	return d
}

// rankOf is the rank that a finding is about. What has no prefix is the first failed rank's, as far as anyone can tell.
func rankOf(at reading.Occurrence, first int) int {
	if at.Line.Rank == logline.NoRank {
		return first
	}
	return at.Line.Rank
}

// evidence quotes the line that names the failure, the rest of its message, and the lines that conditions looked for.
func (r diagnoser) evidence(f *finding, s *signature.Signature, at reading.Occurrence) []report.Evidence {
	line := f.element.Line
	if len(f.element.Shows) == 0 && line.Number == f.event.Chain.Head().Line.Number { // the same text on the rank that failed first
		line.Source, line.Number, line.Rank = at.Line.Source, at.Line.Number, at.Line.Rank
	}
	quoted := []report.Evidence{quote(line)}
	if x := f.element.Exception; x != nil {
		for i, more := range x.Lines {
			if i > 0 && len(quoted) < maxEvidence && strings.TrimSpace(more.Text) != "" {
				more.Source, more.Number, more.Rank = line.Source, line.Number+more.Number-x.Line.Number, line.Rank
				quoted = append(quoted, quote(more))
			}
		}
	}
	for _, more := range f.element.Shows {
		quoted = append(quoted, quote(more))
	}
	if shown := userFrame(f.element.Exception, line); shown != nil {
		quoted = append(quoted, *shown)
	}
	for _, conditions := range [][]*condition.Expression{s.Match, s.Confirm} {
		for _, c := range conditions {
			for _, i := range c.Seen(r.Base.Scope) {
				if r.Seen[i].Number > 0 {
					quoted = append(quoted, quote(r.Seen[i]))
				}
			}
		}
	}
	return quoted
}

// userFrame quotes the deepest frame in the user's own code.
func userFrame(x *traceback.Exception, line logline.Line) *report.Evidence {
	if x == nil {
		return nil
	}
	f := x.UserFrame()
	if f == nil || f.At == 0 {
		return nil
	}
	line.Number += f.At - x.Line.Number
	line.Text = fmt.Sprintf("File %q, line %d, in %s", f.File, f.Line, f.Function)
	if f.Code != "" {
		line.Text += ": " + f.Code
	}
	e := quote(line)
	return &e
}

func quote(line logline.Line) report.Evidence {
	e := report.Evidence{Source: line.Source, Line: line.Number, Text: report.Redact(logline.Clip(line.Text, maxShown))}
	if line.Rank != logline.NoRank {
		e.Rank = &line.Rank
	}
	return e
}

// factNames are the facts that a signature's answer depends on.
func factNames(s *signature.Signature, base *rules.Base) []string {
	var names []string
	collect := func(conditions []*condition.Expression) {
		for _, c := range conditions {
			names = append(names, c.Names(base.Scope)...)
		}
	}
	collect(s.Match)
	collect(s.Confirm)
	for _, d := range s.Details {
		collect(d.When)
	}
	for _, fix := range s.Fixes {
		collect(fix.When)
	}
	names = append(names, s.Cause.Names()...)
	names = append(names, s.Ask...)
	return names
}

// missing lists what would decide: the unknown facts of the conditions, those worth asking for, and the signature's own questions.
func missing(m match, v *fact.Vocabulary) []report.Missing {
	list := []report.Missing{}
	met := make(map[string]bool)
	ask := func(name, why string) {
		info, ok := v.Fact(name)
		if !ok || met[name] || m.situation.Value(name).Known() {
			return
		}
		met[name] = true
		list = append(list, report.Missing{Name: name, Why: why + " " + info.About, How: info.Ask})
	}
	for _, c := range m.signature.Confirm {
		for _, name := range c.Unknowns(m.situation) {
			ask(name, "decides whether this is the cause:")
		}
	}
	for _, name := range m.signature.Ask {
		ask(name, "decides which fix is best:")
	}
	for _, q := range m.signature.Questions {
		text := q.Fill(m.situation)
		list = append(list, report.Missing{Name: "log", Why: text, How: firstCode(text)})
	}
	return list
}

// firstCode is the first text between backticks, the command that a question asks to run.
func firstCode(text string) string {
	_, rest, _ := strings.Cut(text, "`")
	code, _, _ := strings.Cut(rest, "`")
	return code
}

func fixes(m match) []report.Fix {
	list := []report.Fix{}
	for _, f := range m.signature.Fixes {
		if !condition.Possible(f.When, m.situation) {
			continue
		}
		fix := report.Fix{Do: f.Do.Fill(m.situation), Run: []string{}}
		for _, command := range f.Run {
			fix.Run = append(fix.Run, command.Fill(m.situation))
		}
		for name, value := range f.Set {
			if fix.Set == nil {
				fix.Set = make(map[string]any)
			}
			fix.Set[name] = value.JSON()
		}
		list = append(list, fix)
	}
	return list
}

// consequences are the later failures that the root explains.
func consequences(findings []*finding, root *finding) []report.Consequence {
	list := []report.Consequence{}
	for _, f := range findings {
		if f == root || f.Handled || len(list) == maxConsequences {
			continue
		}
		title := f.element.Text
		if f.role() != signature.Generic {
			title = f.matches[0].signature.Title
		}
		title, _, _ = strings.Cut(title, "\n")
		list = append(list, report.Consequence{Title: logline.Clip(title, 200), Line: f.First.Line.Number, Ranks: f.Ranks()})
	}
	return list
}

// factValues gives the facts of those names in the form of a report, in the order of the names.
func factValues(fs facts.Facts, names []string) []report.FactValue {
	values := []report.FactValue{}
	met := make(map[string]bool)
	for _, name := range names {
		if f, ok := fs[name]; ok && !met[name] {
			met[name] = true
			values = append(values, report.FactValue{Name: name, Value: f.Value.JSON(), Source: string(f.Origin), Where: f.Where})
		}
	}
	return values
}
