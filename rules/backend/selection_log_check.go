package backend

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/rules/condition"
)

// Evaluate is Library.Evaluate with what the log tells of the choice. Where the log speaks, it is believed: rules are a reading of the
// library, the log is the library itself. That holds for a release that the rules do not cover, too. Refused are backends that the
// failure itself says are none.
func (t *SelectionLog) Evaluate(facts map[string]condition.Value, refused ...string) Selection {
	s := t.library.situation(facts)
	e := evaluate(s)
	selection := e.selection()
	for i := range selection.Backends {
		t.settle(s, &selection, i, slices.Contains(refused, selection.Backends[i].Name))
	}
	if len(selection.Unsure()) > 0 {
		return selection
	}
	selection.Missing = nil
	if len(selection.Available()) == 0 {
		selection.Decided, selection.Selected = true, ""
	}
	if !selection.Decided && t.selected != "" {
		selection.Decided = true
		if t.selected != t.library.selectionLog.none {
			selection.Selected = t.selected
		}
	}
	return selection
}

// settle puts what the log says of one backend in the place of what the rules leave open, or say otherwise.
func (t *SelectionLog) settle(s *situation, selection *Selection, backend int, refused bool) {
	b := &selection.Backends[backend]
	said, words := t.available[b.Name], t.words(b.Name)
	known := selection.Release != ""
	b.Told = len(words) > 0 || known && t.rulesOut(s.release, backend)
	out := said == "False" || refused && len(words) > 0 || t.whole(b.Name) || known && t.rulesOut(s.release, backend)
	switch {
	case said == "True":
		b.Verdict, b.Missing, b.Rules = Allowed, nil, nil
	case !out:
	case b.Verdict == Disabled:
		b.Rules = t.printedFirst(b.Rules)
	default:
		b.Verdict, b.Missing, b.Rules = Disabled, nil, words
		if known {
			if rules := t.rulesAbout(s, backend); len(rules) > 0 && (len(words) == 0 || t.alone(s.release, rules)) {
				b.Rules = rules
			}
		}
	}
}

// words are the log's own reasons about a backend, as rules.
func (t *SelectionLog) words(backend string) []Rule {
	var rules []Rule
	for _, one := range t.said {
		if one.backend != "" && one.backend != backend {
			continue
		}
		rule := Rule{Variant: one.variant, Because: fmt.Sprintf("The log says %q.", strings.TrimSuffix(one.text, ".")), Message: one.text}
		if !slices.Contains(textsOf(rules), rule.Because) {
			rules = append(rules, rule)
		}
	}
	return rules
}

func textsOf(rules []Rule) []string {
	var texts []string
	for _, r := range rules {
		texts = append(texts, r.Because)
	}
	return texts
}

// whole tells whether a reason of the log takes out a backend with all of its variants.
func (t *SelectionLog) whole(backend string) bool {
	return slices.ContainsFunc(t.said, func(one saying) bool {
		return one.variant == "" && (one.backend == "" || one.backend == backend)
	})
}

// alone tells whether each of the rules is the only one of a release that prints its line, so that the line tells which one it was.
func (t *SelectionLog) alone(release int, rules []Rule) bool {
	for _, line := range t.printed(release) {
		for _, r := range line.rules {
			if len(line.rules) > 1 && slices.ContainsFunc(rules, func(told Rule) bool { return told.ID == r.id }) {
				return false
			}
		}
	}
	return true
}

// printedFirst puts the rules whose lines the log has before the others.
func (t *SelectionLog) printedFirst(rules []Rule) []Rule {
	printed := make(map[string]bool)
	for r := range t.rules {
		printed[r.id] = true
	}
	rules = slices.Clone(rules)
	slices.SortStableFunc(rules, func(a, b Rule) int {
		switch {
		case printed[a.ID] == printed[b.ID]:
			return 0
		case printed[a.ID]:
			return -1
		}
		return 1
	})
	return rules
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
