package backend

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/rules/condition"
)

// Evaluate is Library.Evaluate with what the log tells of the choice: where the rules leave a backend open, the log's word counts.
func (t *SelectionLog) Evaluate(facts map[string]condition.Value) Selection {
	s := t.library.situation(facts)
	selection := evaluate(s).selection()
	if selection.Release == "" {
		return selection
	}
	for i := range selection.Backends {
		b := &selection.Backends[i]
		if b.Verdict != Unknown {
			continue
		}
		switch said := t.available[b.Name]; {
		case said == "True":
			b.Verdict, b.Missing, b.Rules = Allowed, nil, nil
		case said == "False" || t.rulesOut(s.release, i):
			b.Verdict, b.Missing, b.Rules = Disabled, nil, t.rulesAbout(s, i)
		}
	}
	if len(selection.Unsure()) > 0 {
		return selection
	}
	selection.Missing = nil
	if !selection.Decided && t.selected != "" {
		selection.Decided = true
		if t.selected != t.library.selectionLog.none {
			selection.Selected = t.selected
		}
	}
	return selection
}

// rulesOut tells whether a line of the log can only have been printed by rules that take out the whole backend.
func (t *SelectionLog) rulesOut(release, backend int) bool {
	b := t.library.backends[backend]
	spares := func(r *rule) bool {
		off, _ := r.off.at(release)
		return len(t.library.variantsOf(backend, off.variants)) < b.last-b.first
	}
	return slices.ContainsFunc(t.printed(release), func(line printedLine) bool { return !slices.ContainsFunc(line.rules, spares) })
}

// rulesAbout are the rules about a backend whose lines the log has.
func (t *SelectionLog) rulesAbout(s *situation, backend int) []Rule {
	rules := []Rule{}
	for _, r := range t.named[backend] {
		if _, holds := r.off.at(s.release); holds {
			rules = append(rules, r.describeIn(s))
		}
	}
	for _, r := range t.library.releases[s.release].rules {
		off, _ := r.off.at(s.release)
		if _, printed := t.rules[r]; printed && len(t.library.variantsOf(backend, off.variants)) > 0 {
			rules = append(rules, r.describeIn(s))
		}
	}
	return rules
}

// printedLine is a line with the rules that may have printed it.
type printedLine struct {
	text  string
	rules []*rule
}

// printed groups the rules of a release by the line that one of them printed.
func (t *SelectionLog) printed(release int) []printedLine {
	var lines []printedLine
	for _, r := range t.library.releases[release].rules {
		for _, text := range t.rules[r] {
			i := slices.IndexFunc(lines, func(p printedLine) bool { return p.text == text })
			if i < 0 {
				i = len(lines)
				lines = append(lines, printedLine{text: text})
			}
			lines[i].rules = append(lines[i].rules, r)
		}
	}
	return lines
}

// Contradictions compares the log with what the rules say, and returns a sentence for every difference: a patched build, or something
// that the log does not show.
func (t *SelectionLog) Contradictions(facts map[string]condition.Value) []string {
	s := t.library.situation(facts)
	candidates, _ := s.candidates()
	if len(candidates) != 1 {
		return nil
	}
	s.setRelease(candidates[0])
	found := t.contradictedLines(s)
	selection := evaluate(s).selection()
	rules := fmt.Sprintf("rules of %s %s", t.library.Name, selection.Release)
	for _, b := range selection.Backends {
		said, told := t.available[b.Name]
		if told && b.Verdict != Unknown && (said == "True") != (b.Verdict == Allowed) {
			available := map[string]string{"True": "available", "False": "not available"}[said]
			found = append(found, fmt.Sprintf("The log says that %s is %s, by the %s it is %s.", b.Name, available, rules, b.Verdict))
		}
	}
	if t.selected != "" && selection.Decided && !t.selects(selection.Selected) {
		found = append(found, fmt.Sprintf("The log says that %s is selected, the %s select %s.", t.selected, rules, cmp.Or(selection.Selected, "none")))
	}
	return found
}

// contradictedLines are about the lines that no rule can have printed.
func (t *SelectionLog) contradictedLines(s *situation) []string {
	var found []string
	mayFire := func(r *rule) bool { return s.fires(r) != off }
	for _, line := range t.printed(s.release) {
		if !slices.ContainsFunc(line.rules, mayFire) {
			found = append(found, fmt.Sprintf("The log says %q, but by the rules of %s %s that does not hold here.",
				strings.TrimSpace(line.text), t.library.Name, t.library.releases[s.release].version))
		}
	}
	return found
}

// selects tells whether the log says that a backend is selected; "" is none.
func (t *SelectionLog) selects(backend string) bool {
	return t.selected == backend || t.selected == t.library.selectionLog.none && backend == ""
}
