package diagnosis

import (
	"slices"
	"strings"

	"github.com/gpu-triage/triage/matcher/reading"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/signature"
)

// readMessage adds what the failure's own message says to an answer that names no cause: what it compares and what it advises. Both its
// words and its fixes come first, and a sentence of the answer that only repeats the message goes. Where what is read is the cause, the
// answer is likely, and called by it.
func readMessage(d *report.Diagnosis, base *rules.Base, el *reading.Element, answer match) {
	var cause []string
	var first []report.Fix
	for _, m := range inMessage(base, el, answer) {
		d.Read = append(d.Read, m.signature.ID)
		if m.signature.TellsCause && d.Certainty == report.Unexplained && condition.All(m.signature.Confirm, m.situation) {
			d.ID, d.Title, d.Certainty = m.signature.ID, headline(m), report.Likely
		}
		if said := m.signature.Cause.Fill(m.situation) + detailed(m); said != "" {
			cause = append(cause, said)
		}
		first = append(first, fixes(m)...)
		d.References = append(d.References, m.signature.References...)
	}
	if len(cause) > 0 {
		d.Cause = withoutSentence(d.Cause, answer.situation.Value("error").Member("message").String())
	}
	d.Cause = strings.TrimSpace(strings.Join(append(cause, d.Cause), " "))
	d.Fixes = withoutRepeats(slices.Concat(first, d.Fixes))
}

// withoutRepeats are the fixes, each sentence once: what reads the message and what answers may advise the same.
func withoutRepeats(fixes []report.Fix) []report.Fix {
	said := make(map[string]bool)
	return slices.DeleteFunc(fixes, func(f report.Fix) bool {
		repeated := said[f.Do]
		said[f.Do] = true
		return repeated
	})
}

// withoutSentence is a text without the sentence that quotes something.
func withoutSentence(text, quoted string) string {
	begin := strings.Index(text, quoted)
	if begin < 0 || quoted == "" {
		return text
	}
	end := begin + len(quoted)
	if i := strings.Index(text[end:], ". "); i >= 0 {
		end += i + len(". ")
	} else {
		end = len(text)
	}
	before := text[:begin]
	return strings.TrimSpace(text[:strings.LastIndex(before, ". ")+1] + " " + text[end:])
}

// inMessage are the signatures that read something in a failure's own message, or in what the program printed before it: these first, for
// what a program complained of just before it failed is nearer to the cause than what was raised then. The answer's own signature may say that
// it knows better than one of them.
func inMessage(base *rules.Base, el *reading.Element, answer match) []match {
	var before, itself []match
	for _, m := range upheld(base, readers(base, el, answer, false)) {
		if base.Overrides(answer.signature.ID, m.signature.ID) {
			continue
		}
		if len(m.signature.Before) > 0 {
			before = append(before, m)
		} else {
			itself = append(itself, m)
		}
	}
	return append(before, itself...)
}

// readers are the signatures of the role message that read something: in the message, or in what the author of the post has found out.
func readers(base *rules.Base, el *reading.Element, answer match, ofPost bool) []match {
	var read []match
	for _, e := range base.Entries {
		if e.Role != signature.Message || e.Signature().OfPost != ofPost {
			continue
		}
		m := match{signature: e.Signature(), situation: answer.situation.Clone(), brings: base.Distributions}
		forget(m.situation, answer.signature)
		capture(m.situation, m.signature, el)
		askDistribution(m.situation, m.signature, base.Distributions)
		if condition.All(m.signature.Match, m.situation) && condition.Possible(m.signature.Confirm, m.situation) {
			m.settled = settle(m.situation, m.signature)
			el.VariablesToSay(m.settled)
			read = append(read, m)
		}
	}
	return read
}

// forget takes the groups out of a situation that a signature captured: another one may call something else so.
func forget(s *condition.Situation, captured *signature.Signature) {
	for name := range captured.Groups() {
		s.Set(name, condition.Value{})
	}
}

// maxClosed is how far behind a captured value a bracket is looked for that closes one in it, in bytes.
const maxClosed = 200

// closed is a value of a text with what follows it up to the end of a bracket that begins in it, so that "(4" of "got (4, 128)" is said
// as a whole. A bracket that does not end on that line leaves the value as it is.
func closed(text, value string) string {
	begin := strings.Index(text, value)
	if begin < 0 || value == "" {
		return value
	}
	open, end := 0, begin+len(value)
	for i := begin; i < min(len(text), end+maxClosed) && text[i] != '\n'; i++ {
		if i >= end && open <= 0 {
			break
		}
		switch text[i] {
		case '(', '[', '{':
			open++
		case ')', ']', '}':
			open--
			if i >= end && open == 0 {
				return text[begin : i+1]
			}
		}
	}
	return value
}
