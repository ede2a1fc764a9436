package diagnosis

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/reading"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/matcher/traceback"
	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/fact"
	"github.com/gpu-triage/triage/rules/pattern"
	"github.com/gpu-triage/triage/rules/signature"
)

// Bounds of what a report shows, so that a comment or a message can hold it.
const (
	maxEvidence     = 12   // lines of an exception's message and name
	maxAlternatives = 3    // causes beside the first
	maxConsequences = 12   // later failures
	maxShown        = 2000 // bytes of one quoted line
	maxTitle        = 200  // bytes of the title of a later failure
	maxNoted        = 160  // bytes of a line in a note
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
		Missing: missing(m, read.Base.Vocabulary), Fixes: fixes(m),
		Consequences: []report.Consequence{}, References: append([]string{}, s.References...),
	}
	if rank, named := namedRank(m, c.rankOf(at)); named {
		d.Rank, d.Ranks = &rank, []int{rank}
	} else if rank != logline.NoRank {
		d.Rank = &rank
	}
	for _, detail := range s.Details {
		if condition.All(detail.When, m.situation) {
			d.Cause += " " + detail.Say.Fill(m.situation)
		}
	}
	if s.Role == signature.Unexplained {
		readMessage(&d, read.Base, c.root.element, m)
	}
	d.Cause = twoStops().ReplaceAllString(strings.TrimSpace(d.Cause), "$1$2")
	return d
}

// twoStops is the full stop that a sentence puts behind a message that has its own.
var twoStops = pattern.Lazy(`([^.][.!?])\.(\s|$)`)

// title is the signature's. An error that nobody can explain is called by its own words.
func title(m match, el *reading.Element) string {
	own := el.About == signature.FailedFinding || el.Exception != nil && el.Exception.Type != ""
	if m.certainty != report.Unexplained || !own {
		return clean(m.signature.Headline.Fill(m.situation), maxTitle)
	}
	words, _, _ := strings.Cut(el.Text, "\n")
	return clean(strings.TrimSpace(words), maxTitle)
}

// namedRank is the rank that the words of a failure name, where they name another one than that which printed them; else the one that is given.
// A launcher that names none but the number of a process on its node means the rank where all processes are on that node.
func namedRank(m match, printed int) (rank int, named bool) {
	said := func(group string) (int, bool) {
		n, err := strconv.Atoi(m.captured(group))
		return n, err == nil
	}
	if n, ok := said(signature.FailedRank); ok {
		return n, true
	}
	n, ok := said(signature.LocalRank)
	processes, _ := m.situation.Value("world_size").Number()
	onNode, _ := m.situation.Value("gpu_count").Number()
	if ok && printed == logline.NoRank && !(onNode > 0 && processes > onNode) {
		return n, true
	}
	return printed, false
}

// captured is what the patterns of the signature found for a group, "" when nothing.
func (m match) captured(group string) string {
	if !slices.ContainsFunc(m.signature.Capture, func(p *pattern.Pattern) bool { return slices.Contains(p.Names(), group) }) {
		return ""
	}
	return m.situation.Value(group).String()
}

// rankOf is the rank that the root is about. What has no prefix is the first failed rank's, or that of the rank which alone shows how it ends,
// as far as anyone can tell.
func (c conclusion) rankOf(at reading.Occurrence) int {
	if at.Line.Rank != logline.NoRank {
		return at.Line.Rank
	}
	if c.first != logline.NoRank {
		return c.first
	}
	var ranks []int
	for _, f := range c.findings {
		if f != c.root && len(f.matches) > 0 && isOneOf(f, c.root.matches[0].signature.Explains) {
			ranks = append(ranks, f.Ranks()...)
		}
	}
	slices.Sort(ranks)
	if ranks = slices.Compact(ranks); len(ranks) == 1 {
		return ranks[0]
	}
	return logline.NoRank
}

// evidence quotes the line that names the failure, the rest of its message, and the lines that conditions looked for.
func evidence(read *reading.Result, f *finding, s *signature.Signature, at reading.Occurrence) []report.Evidence {
	line := f.element.Line
	if f.element.About == "" && line.Number == f.event.Chain.Head().Line.Number { // the same text on the rank that failed first
		line.Source, line.Number, line.Rank = at.Line.Source, at.Line.Number, at.Line.Rank
	}
	quoted := quoteMessage(read, line, f.element.Exception)
	for _, more := range f.element.Shows {
		quoted = append(quoted, quote(read, more)...)
	}
	if frame, ok := userFrame(f.element.Exception, line); ok {
		quoted = append(quoted, quoteText(frame))
	}
	for _, conditions := range [][]*condition.Expression{s.Match, s.Confirm} {
		for _, c := range conditions {
			for _, i := range c.LogPatterns() {
				if read.LogPatterns[i].Number > 0 {
					quoted = append(quoted, quote(read, read.LogPatterns[i])...)
				}
			}
		}
	}
	return quoted
}

// quoteMessage quotes a line and, of an exception, the others of its message.
func quoteMessage(read *reading.Result, line logline.Line, x *traceback.Exception) []report.Evidence {
	quoted := quote(read, line)
	if x == nil {
		return quoted
	}
	for i, more := range x.Lines {
		if i > 0 && len(quoted) < maxEvidence && strings.TrimSpace(more.Text) != "" {
			more.Source, more.Number, more.Rank = line.Source, line.Number+more.Number-x.Line.Number, line.Rank
			quoted = append(quoted, quote(read, more)...)
		}
	}
	return quoted
}

// userFrame is the deepest frame in the user's own code, as a line to quote. The line that is given names the exception.
func userFrame(x *traceback.Exception, line logline.Line) (frame logline.Line, ok bool) {
	if x == nil {
		return line, false
	}
	f := x.UserFrame()
	if f == nil || f.At == 0 {
		return line, false
	}
	line.Number += f.At - x.Line.Number
	line.Peeled = ""
	line.Text = fmt.Sprintf("File %q, line %d, in %s", f.File, f.Line, f.Function)
	if f.Code != "" {
		line.Text += ": " + f.Code
	}
	return line, true
}

// quote is a line as evidence, as it stands in its source: one that was folded is several there. What has a secret in it stays in one piece,
// for half a secret is not known as one.
func quote(read *reading.Result, line logline.Line) []report.Evidence {
	if read.OfMachine(line.Source) {
		return []report.Evidence{quoteText(ofMachine(line))}
	}
	original := read.Original(line)
	if len(original) == 0 || report.Redact(line.Text) != line.Text {
		return []report.Evidence{quoteText(line)}
	}
	quoted := make([]report.Evidence, len(original))
	for i, part := range original {
		quoted[i] = quoteText(part)
	}
	return quoted
}

// ofMachine is a line of the machine's messages as evidence: it stands in no file, so that its time tells where it is.
func ofMachine(line logline.Line) logline.Line {
	line.Source, line.Number, line.Peeled = machineSource(line), 0, ""
	return line
}

func machineSource(line logline.Line) string {
	if line.Time.IsZero() {
		return line.Source
	}
	return line.Source + ", " + line.Time.Format(time.TimeOnly)
}

// quoteText is a line as evidence. Secrets are taken out of the whole report later, but here before the line is cut: half a secret is not
// known as one.
func quoteText(line logline.Line) report.Evidence {
	e := report.Evidence{Source: line.Source, Line: line.Number, Text: clean(line.Peeled+line.Text, maxShown)}
	if line.Rank != logline.NoRank {
		e.Rank = &line.Rank
	}
	return e
}

// clean is the beginning of a text without secrets.
func clean(text string, most int) string {
	if len(text) <= most {
		return text
	}
	// What is far behind the cut needs no look.
	return logline.Clip(report.Redact(logline.Clip(text, 4*most)), most)
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

func fixes(m match) []report.Fix {
	list := []report.Fix{}
	for _, f := range m.signature.Fixes {
		if !condition.Possible(f.When, m.situation) {
			continue
		}
		if fix := filled(f, m); fix.Do != "" {
			list = append(list, fix)
		}
	}
	return list
}

// filled is a signature's fix with the words of the match.
func filled(f signature.Fix, m match) report.Fix {
	fix := report.Fix{Do: f.Do.Fill(m.situation), Run: []string{}}
	for _, command := range f.Run {
		if line := command.Fill(m.situation); line != "" {
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

// consequences are the later failures that the root explains.
func (c conclusion) consequences() []report.Consequence {
	list := []report.Consequence{}
	for _, f := range c.findings {
		if f == c.root || f.Handled || f.machine || len(list) == maxConsequences {
			continue
		}
		list = append(list, report.Consequence{Title: f.headline(), Line: f.First.Line.Number, Ranks: f.Ranks()})
	}
	return list
}

// lasting are sentences about what the job survived and something has to be done about all the same.
func (c conclusion) lasting() (notes []string) {
	for _, f := range c.findings {
		switch {
		case !f.Handled || !f.lasting() || len(notes) == maxConsequences:
		case f == c.root:
			notes = append(notes, fmt.Sprintf("The job went on after line %d. It is told because something has to be done about it.", f.First.Line.Number))
		default:
			notes = append(notes, fmt.Sprintf("The job went on after line %d, and yet something has to be done about it: %s.", f.First.Line.Number, f.headline()))
		}
	}
	return notes
}

// meanwhile are sentences about what the machine's messages tell and the answer does not, which these facts decided.
func (c conclusion) meanwhile(decided []report.FactValue) (notes []string) {
	told := make(map[string]bool) // several lines of the kernel tell one thing
	if c.root != nil {
		told[c.root.headline()] = true
	}
	for _, f := range c.findings {
		if f == c.root || !f.machine || f.role() != signature.Cause || told[f.headline()] || len(notes) == maxConsequences || toldBy(f, decided) {
			continue
		}
		told[f.headline()] = true
		line := clean(f.element.Line.Text, maxNoted)
		notes = append(notes, fmt.Sprintf("While the job ran: %s (%s: %s).", f.headline(), machineSource(f.First.Line), line))
	}
	return notes
}

// toldBy tells whether one of the facts is from the messages that show the finding.
func toldBy(f *finding, facts []report.FactValue) bool {
	return slices.ContainsFunc(facts, func(known report.FactValue) bool {
		return known.Source == "live" && strings.HasPrefix(known.Where, f.First.Line.Source) && known.Value != nil && known.Value != false
	})
}

// headline is the finding in a few words.
func (f *finding) headline() string {
	title := f.element.Text
	if !f.role().LastResort() {
		title = f.matches[0].signature.Headline.Fill(f.matches[0].situation)
	}
	title, _, _ = strings.Cut(title, "\n")
	return clean(title, maxTitle)
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
