package diagnosis

import (
	"maps"
	"strings"

	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/reading"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/fact"
	"github.com/gpu-triage/triage/rules/pattern"
	"github.com/gpu-triage/triage/rules/signature"
)

// Bounds of a diagnosis, so that a comment or a message can hold it.
const (
	maxAlternatives = 3   // causes beside the first
	maxTitle        = 200 // bytes of a title
)

// answers are the matches that are shown: the best one of the root and, when no cause is confirmed, every cause that may be it.
func (c conclusion) answers() []match {
	if c.root == nil {
		return nil
	}
	best := c.root.matches[0]
	shown := []match{best}
	if best.certainty != report.Likely || best.signature.Role != signature.Cause {
		return shown
	}
	for i, m := range c.root.matches {
		if i > 0 && i <= maxAlternatives && m.signature.Role == signature.Cause {
			shown = append(shown, m)
		}
	}
	return shown
}

// describe puts what a match of the root says into words.
func describe(read *reading.Result, known facts.Facts, c conclusion, m match) report.Diagnosis {
	at := c.root.Earliest(c.first)
	s := m.signature
	d := report.Diagnosis{
		ID: s.ID, Title: title(m, c.root.element), Cause: s.Cause.Fill(m.situation), Certainty: m.certainty,
		Ranks: c.root.Ranks(), Count: c.root.Count,
		Evidence: evidence(read, c.root, s, at), Facts: factValues(known, factNames(s, read.Base)),
		Missing: missing(m, read.Base.Vocabulary), Fixes: surestFirst(m),
		Consequences: []report.Consequence{}, References: append([]string{}, s.References...),
	}
	if rank, named := namedRank(m, c.rankOf(at)); named {
		d.Rank, d.Ranks = &rank, []int{rank}
	} else if rank != logline.NoRank {
		d.Rank = &rank
	}
	d.Cause += detailed(m)
	if s.ReadsMessage {
		readMessage(&d, read.Base, c.root.element, m)
	}
	if s.ReadsPost {
		readPost(&d, read.Base, c.root.element, m)
	}
	d.Cause = twoStops().ReplaceAllString(strings.TrimSpace(d.Cause), "$1$2")
	if d.Cause == "" && s.Role != signature.Unexplained { // what its sentences name is not known here
		d.Cause = d.Title + "."
	}
	return d
}

// detailed are the sentences that a signature adds where their conditions hold, each behind a space.
func detailed(m match) string {
	var said strings.Builder
	for _, detail := range m.signature.Details {
		if m.says(detail) {
			said.WriteString(" " + detail.Say.Fill(m.situation))
		}
	}
	return said.String()
}

// twoStops is the full stop that a sentence puts behind a message that has its own.
var twoStops = pattern.Lazy(`([^.][.!?])\.(\s|$)`)

// headline is the title of a signature, with the names and numbers of this case.
func headline(m match) string { return clean(m.signature.Headline.Fill(m.situation), maxTitle) }

// title is the signature's. An error that nobody can explain is called by its own words.
func title(m match, el *reading.Element) string {
	own := el.About == signature.FailedFinding || el.Exception != nil && el.Text != ""
	if m.certainty != report.Unexplained || !own {
		return headline(m)
	}
	words, _, _ := strings.Cut(el.Text, "\n")
	return clean(strings.TrimSpace(words), maxTitle)
}

// factNames are the facts that a signature's answer depends on.
func factNames(s *signature.Signature, base *rules.Base) []string {
	var names []string
	collect := func(conditions []*condition.Expression) {
		for _, c := range conditions {
			names = append(names, c.Names()...)
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
	asked := make(map[string]bool)
	ask := func(name, why string) {
		info, ok := v.Fact(name)
		if !ok || asked[name] || m.situation.Value(name).Known() {
			return
		}
		asked[name] = true
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
		if text == "" {
			continue
		}
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

// fixes are those that a match offers.
func fixes(m match) []report.Fix { return fixesThat(m, m.offers) }

// surestFirst are the fixes of the case at hand, and behind them those of cases that it may be, as far as the facts tell.
func surestFirst(m match) []report.Fix {
	sure := func(f signature.Fix) bool { return condition.All(f.When, m.settled) }
	return append(fixesThat(m, sure), fixesThat(m, func(f signature.Fix) bool { return m.offers(f) && !sure(f) })...)
}

// fixesThat are a signature's fixes of a kind, with the words of the match.
func fixesThat(m match, are func(signature.Fix) bool) []report.Fix {
	list := []report.Fix{}
	for _, f := range m.signature.Fixes {
		if !are(f) {
			continue
		}
		if fix := filled(f, m); fix.Do != "" {
			list = append(list, fix)
		}
	}
	return list
}

// command is a command with the words of the match. An installer is told the name of what brings a package's code, which can be another than
// that of its module, and nothing about code that it cannot bring.
func (m match) command(fill func(*condition.Situation) string) string {
	line := fill(m.situation)
	if !strings.HasPrefix(strings.TrimPrefix(line, "python -m "), "pip ") {
		return line
	}
	failure, installing := m.situation.Value("error"), m.situation.Clone()
	members := maps.Clone(failure.Members())
	for _, name := range []string{"owner", "caller", "asker"} {
		if is, found := m.brings.Of(failure.Member(name).String()); found {
			members[name] = known(is.Install)
		}
	}
	if members != nil {
		installing.Set("error", condition.ObjectValue(members))
	}
	return fill(installing)
}

// filled is a signature's fix with the words of the match.
func filled(f signature.Fix, m match) report.Fix {
	fix := report.Fix{Do: f.Do.Fill(m.situation), Run: []string{}}
	for _, command := range f.Run {
		if line := m.command(command.Fill); line != "" {
			fix.Add(string(command.Kind), line)
		}
	}
	for name, value := range f.Set {
		if fix.Set == nil {
			fix.Set = make(map[string]any)
		}
		fix.Set[name] = value.JSON()
	}
	return fix
}

// factValues gives the facts of those names in the form of a report, in the order of the names, each once.
func factValues(fs facts.Facts, names []string) []report.FactValue {
	values := []report.FactValue{}
	given := make(map[string]bool)
	for _, name := range names {
		if f, ok := fs[name]; ok && !given[name] {
			given[name] = true
			values = append(values, report.FactValue{Name: name, Value: f.Value.JSON(), Source: string(f.Source), Where: f.Where})
		}
	}
	return values
}
