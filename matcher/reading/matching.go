package reading

import (
	"slices"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/prefilter"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/signature"
)

// matching finds the signatures that may know what a log shows.
type matching struct {
	filter    *prefilter.Filter
	situation *condition.Situation // of what is asked about
	found     []int                // reused for each text
	known     []*signature.Entry   // reused for each text
	guessed   map[string][]string  // the type that was guessed for a message, if any, by the message and the package that raised it
	cost      int                  // of the texts that were matched since somebody took it, as allowance counts it
}

// words are the numbers of the words in a text, until they are asked for again.
func (m *matching) words(text string) []int {
	m.found = m.filter.Words(text, m.found[:0])
	return m.found
}

// commonWords are the words in a line that has no other ones, likewise.
func (m *matching) commonWords(text string) []int {
	m.found = m.filter.CommonWords(text, m.found[:0])
	return m.found
}

// match finds the signatures whose conditions an element with such words fulfils, as far as they can be decided before the log is read to its
// end. Before tells the lines before it; it may be nil. It tells what the element shows of how the run goes on,
// if that is watched: signature.Progress, signature.Command or "".
func (m *matching) match(el *Element, words []int, place prefilter.Place, watching bool, before func() string) (shown signature.Role) {
	m.known = m.filter.Candidates(el.Text, words, place, m.known[:0])
	if before != nil && slices.ContainsFunc(m.known, asksBefore) {
		el.before = before()
	}
	m.cost += costOf(el.Text, len(m.known))
	return m.consider(m.known, el, watching)
}

// asksBefore tells whether somebody may ask for the lines before an event that a signature may know: it does itself, or it is told what the
// error says by itself, which readers of messages look for there too.
func asksBefore(e *signature.Entry) bool { return e.Before || e.Role == signature.Unexplained }

// takeCost is what the texts cost that were matched since the last call.
func (m *matching) takeCost() (cost int) {
	cost, m.cost = m.cost, 0
	return cost
}

// step tells what a line shows of how the run goes on that can only show that, if it is watched. Steps are the signatures with a keyword in it.
func (m *matching) step(line logline.Line, steps []*signature.Entry, watching bool) (shown signature.Role) {
	m.known = m.known[:0]
	for _, s := range steps {
		if m.filter.Fits(s, line.Text) {
			m.known = append(m.known, s)
		}
	}
	return m.consider(m.known, &Element{Line: line, Text: line.Text}, watching)
}

// consider notes which of the signatures an element may be of: none for a line that is surely harmless.
func (m *matching) consider(signatures []*signature.Entry, el *Element, watching bool) (shown signature.Role) {
	if len(signatures) == 0 {
		return ""
	}
	el.Variables(m.situation)
	harmless := el.Exception == nil && m.harmless(signatures)
	for _, e := range signatures {
		switch {
		case e.Role.AboutRun():
			if watching && condition.Possible(e.Signature().Match, m.situation) {
				shown = e.Role
			}
		case !harmless && condition.Possible(e.Signature().Match, m.situation):
			el.Matches = append(el.Matches, e.Signature())
		}
	}
	return shown
}

// harmless tells whether one of the signatures that may know a line surely says that it does not matter. Where all of them are noise
// or progress, nobody has to know which.
func (m *matching) harmless(signatures []*signature.Entry) bool {
	noise := func(e *signature.Entry) bool { return e.Role == signature.Noise }
	if !slices.ContainsFunc(signatures, func(e *signature.Entry) bool { return !noise(e) && !e.Role.AboutRun() }) {
		return true
	}
	return slices.ContainsFunc(signatures, func(e *signature.Entry) bool { return noise(e) && condition.All(e.Signature().Match, m.situation) })
}
