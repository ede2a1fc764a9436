package diagnosis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/reading"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/fact"
	"github.com/gpu-triage/triage/rules/signature"
)

// readPost adds what the author of a post has found out to an answer: what follows from it comes first, for it was tried. An answer that
// names no cause is likely, and called by what was found out, where that is the cause.
func readPost(d *report.Diagnosis, base *rules.Base, el *reading.Element, answer match) {
	var cause []string
	var first []report.Fix
	for _, m := range upheld(base, readers(base, el, answer, true)) {
		d.Read = append(d.Read, m.signature.ID)
		if m.signature.TellsCause && d.Certainty == report.Unexplained && condition.All(m.signature.Confirm, m.situation) {
			d.Read = append(d.Read, d.ID)
			d.ID, d.Title, d.Certainty = m.signature.ID, headline(m), report.Likely
		}
		if said := m.signature.Cause.Fill(m.situation) + detailed(m); said != "" {
			cause = append(cause, said)
		}
		first = append(first, fixes(m)...)
		d.References = append(d.References, m.signature.References...)
	}
	d.Cause = strings.TrimSpace(strings.Join(append(cause, d.Cause), " "))
	d.Fixes = slices.Concat(first, d.Fixes)
}

// toldRelease is the failure that a post asks about without showing a line of it, where the author has found out which release of a package
// brings it; nil where some line shows what failed.
func toldRelease(read *reading.Result, s situation, root *finding) *finding {
	if root != nil {
		return nil
	}
	for _, told := range read.Told {
		release := told.Name == fact.WorksRelease || told.Name == fact.FailsRelease
		if _, known := s.facts[fact.ChangedPackage]; !release || !known || !read.AsksHelp(told.Line.Source) {
			continue
		}
		if f := judgeSentence(read, s, told.Line, told.Value); f != nil {
			return f
		}
	}
	return nil
}

// toldInWords is the failure that a post tells in words alone: its first sentence of which a signature knows the cause, or else the first
// that one knows at all; nil where some line shows what failed, and where the words may be a program's that speaks of itself.
func toldInWords(read *reading.Result, s situation, root *finding) (first *finding) {
	if root != nil || len(read.Prose) == 0 {
		return nil
	}
	_, goesWrong := s.facts[fact.GoesWrong]
	if begin := read.Prose[0].Line; begin.Number > 1 && !goesWrong && !read.AsksHelp(begin.Source) {
		return nil
	}
	forms := read.Base.Vocabulary.FoundOut()
	for _, said := range read.Prose {
		if !forms.Complains(said.Text) {
			continue
		}
		f := judgeSentence(read, s, said.Line, condition.Nil)
		if f != nil && f.role() == signature.Cause {
			return f
		}
		if f != nil && first == nil {
			first = f
		}
	}
	return first
}

// judgeSentence is what signatures make of a sentence of a post, which may tell a release; nil when none knows it.
func judgeSentence(read *reading.Result, s situation, line logline.Line, release condition.Value) *finding {
	el := comparedElement(read, signature.PostFinding, condition.ObjectValue(map[string]condition.Value{
		"says": condition.StringValue(line.Text), "release": release,
	}))
	el.Line, el.Text = line, line.Text
	return judgeElement(read, s, el, line)
}

// unshown is a note about what somebody says that goes wrong without showing a line of it; "" where nobody does, and where something is set
// apart as a print is.
func unshown(heads []reading.Head, s situation) string {
	said, known := s.facts[fact.GoesWrong]
	if !known || slices.ContainsFunc(heads, func(head reading.Head) bool { return fenced().MatchString(head.Text) }) {
		return ""
	}
	const maxQuoted = 36 // the note is short, so that all of it shows
	return fmt.Sprintf("Nothing is shown of what was printed then (\"%s\"). COMMAND 2>&1 | tee run.log keeps it; the last 60 lines decide.",
		clean(said.Value.String(), maxQuoted))
}

// withoutTried takes the fixes out of a diagnosis that the author of a post tried in vain. The notes tell of them.
func withoutTried(d *report.Diagnosis, known facts.Facts, v *fact.Vocabulary) (notes []string) {
	tried, ok := known[fact.Tried]
	if !ok || v.FoundOut().Marks == nil {
		return nil
	}
	for _, attempt := range tried.Value.Items() {
		marks := v.FoundOut().Marks.Regexp().FindAllString(attempt.String(), -1)
		again := func(fix report.Fix) bool { return isTried(fix, marks) }
		if len(marks) == 0 || !slices.ContainsFunc(d.Fixes, again) {
			continue
		}
		d.Fixes = slices.DeleteFunc(d.Fixes, again)
		notes = append(notes, fmt.Sprintf("By the post this was tried in vain and is not proposed again: %s.", clean(attempt.String(), maxNoted)))
	}
	return notes
}

// isTried tells whether a fix has all the words by which an attempt is known again.
func isTried(fix report.Fix, marks []string) bool {
	text := strings.ToLower(fix.Do + " " + strings.Join(fix.Run, " "))
	return !slices.ContainsFunc(marks, func(mark string) bool {
		return !strings.Contains(text, strings.ToLower(strings.Trim(mark, "`:")))
	})
}
