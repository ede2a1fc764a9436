package diagnosis

import (
	"fmt"
	"strings"
	"time"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/reading"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/matcher/traceback"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/signature"
)

// Bounds of what is quoted.
const (
	maxEvidence = 12   // lines of an exception's message and name
	maxShown    = 2000 // bytes of one line
)

// evidence quotes the line that names the failure, the rest of its message, and the lines that conditions looked for.
func evidence(read *reading.Result, f *finding, s *signature.Signature, at reading.Occurrence) []report.Evidence {
	line := f.element.Line
	elsewhere := at.Line.Source != line.Source || at.Line.Rank != line.Rank
	x := f.element.Exception
	if x != nil && len(x.Frames) > 0 && at.Bare { // the frames stand on another rank alone
		elsewhere = false
	}
	if elsewhere && f.element.About == "" && line.Number == f.event.Chain.Head().Line.Number { // the same text on the rank that failed first
		line.Source, line.Number, line.Rank = at.Line.Source, at.Line.Number, at.Line.Rank
	}
	quoted := quoteMessage(read, line, f.element.Exception)
	for _, more := range f.element.Shows {
		quoted = append(quoted, quote(read, more)...)
	}
	if frame, ok := f.userFrame(line); ok {
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

// userFrame is the deepest frame in the user's own code, as a line to quote: of the exception, or else of the first one behind it in the chain
// that has one, as of the program that called what a library or another process raised. The line that is given names the exception.
func (f *finding) userFrame(line logline.Line) (frame logline.Line, ok bool) {
	if frame, ok = userFrame(f.element.Exception, line); ok {
		return frame, true
	}
	behind := false
	for i := range f.event.Chain {
		el := &f.event.Chain[i]
		if frame, ok = userFrame(el.Exception, el.Line); ok && behind {
			return frame, true
		}
		behind = behind || el == f.element
	}
	return line, false
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
	line.Text = fmt.Sprintf(`File "%s", line %d, in %s`, f.File, f.Line, f.Function) // as Python writes it: %q would double what parts a path on Windows
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
