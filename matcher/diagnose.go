package matcher

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/rules"
)

// Bounds of what a report shows, so that a comment or a message can hold it.
const (
	maxEvidence     = 12
	maxAlternatives = 3
	maxConsequences = 12
	maxShown        = 2000 // bytes of one quoted line
)

// Report is the answer so far. Known are the facts that are not from the log; calling it again with others answers what would be
// otherwise. No secret of a log or a fact is in it.
func (r *Reading) Report(known ...Fact) Report {
	report := r.report(known)
	report.redact()
	return report
}

func (r *Reading) report(known []Fact) Report {
	r.compare()
	facts := r.situation(known)
	report := Report{Schema: Schema, Diagnoses: []Diagnosis{}, Facts: facts.list(slices.Sorted(maps.Keys(facts))), Stats: r.stats}
	changes := contradictions(known, r.facts.found, r.engine.base.Vocabulary)
	for _, c := range changes {
		report.Notes = append(report.Notes, c.note())
	}
	c := r.conclude(facts)
	chosen := c.root
	if chosen == nil {
		return report
	}
	for i := range chosen.matches {
		if i > 0 && !alternative(chosen, i) {
			continue
		}
		d := r.diagnosis(chosen, chosen.matches[i], facts, c.first)
		if chosen.matches[i].signature.Library != "" {
			report.Notes = append(report.Notes, r.addBackends(&d, chosen.matches[i], facts, processKey(chosen.element.line))...)
			report.Notes = append(report.Notes, r.today(chosen.matches[i].signature.Library, facts, changes)...)
		}
		report.Diagnoses = append(report.Diagnoses, d)
	}
	report.Diagnoses[0].Consequences = consequences(c.findings, chosen)
	return report
}

// situation is what the logs say, what else is known, and what follows from both.
func (r *Reading) situation(known []Fact) Facts {
	facts := make(Facts)
	for _, f := range known {
		facts.Add(f)
	}
	for _, f := range r.facts.found {
		facts.Add(f)
	}
	r.xids.state(facts, r.engine.base.Xids)
	facts.infer(r.engine.base.Vocabulary)
	return facts
}

// alternative tells whether the i-th match of a finding is worth showing beside the first: when no cause is confirmed, every cause
// that may be it.
func alternative(f *finding, i int) bool {
	return i <= maxAlternatives && f.matches[0].certainty == Likely && f.matches[0].signature.Role == rules.Cause &&
		f.matches[i].signature.Role == rules.Cause
}

// diagnosis puts what a match says into words.
func (r *Reading) diagnosis(f *finding, m match, facts Facts, first int) Diagnosis {
	at := f.earliest(first)
	s := m.signature
	d := Diagnosis{
		ID: s.ID, Title: s.Title, Cause: s.Cause.Fill(m.situation), Certainty: m.certainty,
		Ranks: f.ranks(), Count: f.count,
		Evidence: r.evidence(f, s, at), Facts: facts.list(factNames(s, r.engine.base)),
		Missing: missing(m, r.engine.base.Vocabulary), Fixes: fixes(m),
		Consequences: []Consequence{}, References: append([]string{}, s.References...),
	}
	if rank := rankOf(at, first); rank != NoRank {
		d.Rank = &rank
	}
	for _, detail := range s.Details {
		if all(detail.When, m.situation) {
			d.Cause += " " + detail.Say.Fill(m.situation)
		}
	}
	return d
}

// rankOf is the rank that a finding is about. What has no prefix is the first failed rank's, as far as anyone can tell.
func rankOf(at occurrence, first int) int {
	if at.line.Rank == NoRank {
		return first
	}
	return at.line.Rank
}

// evidence quotes the line that names the failure, the rest of its message, and the lines that conditions looked for.
func (r *Reading) evidence(f *finding, s *rules.Signature, at occurrence) []Evidence {
	line := f.element.line
	if len(f.element.shows) == 0 && line.Number == f.event.chain.head().line.Number { // the same text on the rank that failed first
		line.Source, line.Number, line.Rank = at.line.Source, at.line.Number, at.line.Rank
	}
	quoted := []Evidence{quote(line)}
	if x := f.element.exception; x != nil {
		for i, more := range x.Lines {
			if i > 0 && len(quoted) < maxEvidence && strings.TrimSpace(more.Text) != "" {
				more.Source, more.Number, more.Rank = line.Source, line.Number+more.Number-x.Line.Number, line.Rank
				quoted = append(quoted, quote(more))
			}
		}
	}
	for _, more := range f.element.shows {
		quoted = append(quoted, quote(more))
	}
	if shown := userFrame(f.element.exception, line); shown != nil {
		quoted = append(quoted, *shown)
	}
	for _, conditions := range [][]*rules.Expression{s.Match, s.Confirm} {
		for _, c := range conditions {
			for _, i := range c.Seen(r.engine.base.Scope) {
				if r.seen[i].Number > 0 {
					quoted = append(quoted, quote(r.seen[i]))
				}
			}
		}
	}
	return quoted
}

// userFrame quotes the deepest frame in the user's own code.
func userFrame(x *Exception, line Line) *Evidence {
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

func quote(line Line) Evidence {
	e := Evidence{Source: line.Source, Line: line.Number, Text: Redact(clip(line.Text, maxShown))}
	if line.Rank != NoRank {
		e.Rank = &line.Rank
	}
	return e
}

// factNames are the facts that a signature's answer depends on.
func factNames(s *rules.Signature, base *rules.Base) []string {
	var names []string
	collect := func(conditions []*rules.Expression) {
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
func missing(m match, v *rules.Vocabulary) []Missing {
	list := []Missing{}
	met := make(map[string]bool)
	ask := func(name, why string) {
		info, ok := v.Fact(name)
		if !ok || met[name] || m.situation.Value(name).Known() {
			return
		}
		met[name] = true
		list = append(list, Missing{Name: name, Why: why + " " + info.About, How: info.Ask})
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
		list = append(list, Missing{Name: "log", Why: text, How: firstCode(text)})
	}
	return list
}

// firstCode is the first text between backticks, the command that a question asks to run.
func firstCode(text string) string {
	_, rest, _ := strings.Cut(text, "`")
	code, _, _ := strings.Cut(rest, "`")
	return code
}

func fixes(m match) []Fix {
	list := []Fix{}
	for _, f := range m.signature.Fixes {
		if !possible(f.When, m.situation) {
			continue
		}
		fix := Fix{Do: f.Do.Fill(m.situation), Run: []string{}}
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
func consequences(findings []*finding, root *finding) []Consequence {
	list := []Consequence{}
	for _, f := range findings {
		if f == root || f.handled || len(list) == maxConsequences {
			continue
		}
		title := f.element.text
		if f.role() != rules.Generic {
			title = f.matches[0].signature.Title
		}
		title, _, _ = strings.Cut(title, "\n")
		list = append(list, Consequence{Title: clip(title, 200), Line: f.first.line.Number, Ranks: f.ranks()})
	}
	return list
}
