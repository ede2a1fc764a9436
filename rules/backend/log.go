package backend

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/rules/condition"
)

// trailEntry is the form of trail: in a rule file.
type trailEntry struct {
	Config    string `yaml:"config"`    // what stands before the arguments
	Available string `yaml:"available"` // regular expression with a group for every backend (True or False) and report
	Selected  string `yaml:"selected"`  // regular expression with a group "selected"
	None      string `yaml:"none"`      // what Selected says when there is none
	Cut       string `yaml:"cut"`       // regular expression of what stands behind a message
	Ask       string `yaml:"ask"`
}

// trail is how a library's log tells of its selection.
type trail struct {
	config              string
	available, selected *regexp.Regexp
	cut                 *regexp.Regexp
	none                string
	messages            []trailMessage
}

// trailMessage is what one rule prints in some releases.
type trailMessage struct {
	rule     *rule
	releases []bool
	parts    []string // the fixed texts of the template, with a value between each two
}

// matches tells whether a text is the message with some values in it.
func (m trailMessage) matches(text string) bool {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), m.parts[0])
	for i, part := range m.parts[1:] {
		if !ok {
			return false
		}
		if i == len(m.parts)-2 {
			return strings.HasSuffix(rest, part)
		}
		_, rest, ok = strings.Cut(rest, part)
	}
	return ok && rest == ""
}

// Trail is what a log tells of one selection.
type SelectionLog struct {
	rules     map[*rule][]string // rule -> the lines that it may have printed
	available map[string]string
	selected  string
	Complete  bool // the line with the available backends was seen: every rule that fired has printed its line
}

// compileTrail reads how the log tells of the selection.
func (b *libraryBuilder) compileTrail() {
	l := b.library
	b.each(func(f libraryFile) {
		l.trail.config, l.trail.none = cmp.Or(f.Trail.Config, l.trail.config), cmp.Or(f.Trail.None, l.trail.none)
		b.trailPattern(f.Trail.Available, &l.trail.available)
		b.trailPattern(f.Trail.Selected, &l.trail.selected)
		if l.trail.selected != nil && l.trail.selected.SubexpIndex("selected") < 0 {
			b.Problem(1, 1, "trail: selected: needs a group (?P<selected>...)")
		}
		b.trailPattern(f.Trail.Cut, &l.trail.cut)
	})
	for _, r := range l.rules {
		for i, message := range r.message.parts {
			releases := make([]bool, len(l.releases))
			for at := range releases {
				releases[at] = r.message.of[at] == int8(i)
			}
			variants := []string{""}
			if strings.Contains(message, "{variant}") {
				variants = nil
				for _, v := range l.variants {
					variants = append(variants, v.name)
				}
			}
			for _, v := range variants {
				l.trail.messages = append(l.trail.messages, newTrailMessage(r, releases, strings.ReplaceAll(message, "{variant}", v)))
			}
		}
	}
}

func (b *libraryBuilder) trailPattern(text string, target **regexp.Regexp) {
	if text == "" {
		return
	}
	pattern, err := regexp.Compile(text)
	if err != nil {
		b.Problem(1, 1, "trail: %v", err)
		return
	}
	*target = pattern
}

// newTrailMessage takes a message template apart, in which %s is a value and %% a per cent sign.
func newTrailMessage(r *rule, releases []bool, template string) trailMessage {
	parts := strings.Split(strings.TrimSpace(template), "%s")
	for i := range parts {
		parts[i] = strings.ReplaceAll(parts[i], "%%", "%")
	}
	return trailMessage{r, releases, parts}
}

// ReadTrail finds what a log tells of the selection in its lines. It returns false when the lines tell nothing. When there are several
// selections, the last one counts.
func (l *Library) ReadSelectionLog(lines []string) (*SelectionLog, bool) {
	t := &SelectionLog{rules: make(map[*rule][]string)}
	found := false
	for _, line := range lines {
		if l.trail.config != "" && strings.Contains(line, l.trail.config) {
			t, found = &SelectionLog{rules: make(map[*rule][]string)}, true
		}
		found = l.readTrailLine(t, line) || found
	}
	return t, found
}

func (l *Library) readTrailLine(t *SelectionLog, line string) bool {
	if m := match(l.trail.available, line); m != nil {
		t.available, t.Complete = make(map[string]string), true
		for i, name := range l.trail.available.SubexpNames() {
			if name != "" {
				t.available[name] = m[i]
			}
		}
		return true
	}
	if m := match(l.trail.selected, line); m != nil {
		t.selected = m[l.trail.selected.SubexpIndex("selected")]
		return true
	}
	if l.trail.cut != nil {
		line = l.trail.cut.ReplaceAllString(line, "")
	}
	found := false
	for _, m := range l.trail.messages {
		if at := strings.Index(line, m.parts[0]); at >= 0 && m.matches(line[at:]) {
			t.rules[m.rule], found = append(t.rules[m.rule], line), true
		}
	}
	return found
}

func match(pattern *regexp.Regexp, line string) []string {
	if pattern == nil {
		return nil
	}
	return pattern.FindStringSubmatch(line)
}

// Told are the facts that the trail states beyond the arguments: a switch that a rule names when it fires, and that the switch is not
// set when a complete trail lacks the rule's line. Facts holds what else is known, the library's version above all.
func (l *Library) Told(facts map[string]condition.Value, t *SelectionLog) map[string]condition.Value {
	told := make(map[string]condition.Value)
	candidates, _ := l.candidates(l.situation(facts))
	if len(candidates) != 1 {
		return told
	}
	for _, r := range l.releases[candidates[0]].rules {
		states := r.silent
		if _, printed := t.rules[r]; printed {
			states = r.tells
		} else if !t.Complete {
			continue
		}
		values, _ := states.at(candidates[0])
		for i, v := range values {
			told[l.facts[i].Name] = v
		}
	}
	return told
}

// EvaluateTrail is Evaluate with what a log tells of the choice: where the rules leave a backend open, the log's word counts.
func (l *Library) EvaluateLog(facts map[string]condition.Value, t *SelectionLog) Selection {
	selection := l.Evaluate(facts)
	if t == nil || selection.Release == "" {
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
		case said == "False" || l.ruledOut(t, selection.Release, i):
			b.Verdict, b.Missing, b.Rules = Disabled, nil, l.saidOf(facts, t, i)
		}
	}
	if len(selection.Unsure()) == 0 {
		selection.Missing = nil
		if !selection.Decided && t.selected != "" {
			selection.Decided = true
			if t.selected != l.trail.none {
				selection.Selected = t.selected
			}
		}
	}
	return selection
}

// ruledOut tells whether a line of the trail can only have been printed by rules that take out the whole backend.
func (l *Library) ruledOut(t *SelectionLog, name string, backend int) bool {
	version, err := condition.ParseVersion(name)
	if err != nil {
		return false
	}
	release, _ := l.release(version)
	b := l.backends[backend]
	return slices.ContainsFunc(l.printed(t, release), func(line printedLine) bool {
		return !slices.ContainsFunc(line.rules, func(r *rule) bool {
			targets, _ := r.off.at(release)
			return len(l.of(targets, backend)) < b.last-b.first
		})
	})
}

// saidOf are the rules about a backend whose lines the trail has.
func (l *Library) saidOf(facts map[string]condition.Value, t *SelectionLog, backend int) []Rule {
	s := l.situation(facts)
	candidates, _ := l.candidates(s)
	l.setRelease(s, candidates[0])
	rules := []Rule{}
	for _, r := range l.releases[candidates[0]].rules {
		targets, _ := r.off.at(candidates[0])
		if _, said := t.rules[r]; said && len(l.of(targets, backend)) > 0 {
			rules = append(rules, r.info(l, candidates[0], s))
		}
	}
	return rules
}

// said tells whether the trail has the line of a rule.
func (l *Library) said(t *SelectionLog, id string) bool {
	for r := range t.rules {
		if r.id == id {
			return true
		}
	}
	return false
}

// Contradictions compares a trail with what the rules say, and returns a sentence for every difference: a patched build, or something
// that the log does not show.
func (l *Library) Contradictions(facts map[string]condition.Value, t *SelectionLog) []string {
	s := l.situation(facts)
	candidates, _ := l.candidates(s)
	if len(candidates) != 1 {
		return nil
	}
	release := candidates[0]
	l.setRelease(s, release)
	var found []string
	for _, lines := range l.printed(t, release) {
		possible := false
		for _, r := range lines.rules {
			possible = possible || l.fires(s, r, release) != off
		}
		if !possible {
			found = append(found, fmt.Sprintf("The log says %q, but by the rules of %s %s that does not hold here.", strings.TrimSpace(lines.text), l.Name, l.releases[release].version))
		}
	}
	selection := l.evaluate(s)
	for _, b := range selection.Backends {
		said, told := t.available[b.Name]
		if told && b.Verdict != Unknown && (said == "True") != (b.Verdict == Allowed) {
			found = append(found, fmt.Sprintf("The log says that %s is %s, by the rules of %s %s it is %s.", b.Name, map[string]string{"True": "available", "False": "not available"}[said], l.Name, selection.Release, b.Verdict))
		}
	}
	if t.selected != "" && selection.Decided && !same(t.selected, selection.Selected, l.trail.none) {
		found = append(found, fmt.Sprintf("The log says that %s is selected, the rules of %s %s select %s.", t.selected, l.Name, selection.Release, cmp.Or(selection.Selected, "none")))
	}
	return found
}

func same(said, selected, none string) bool {
	return said == selected || said == none && selected == ""
}

type printedLine struct {
	text  string
	rules []*rule
}

// printed groups the rules of a release by the line that one of them printed.
func (l *Library) printed(t *SelectionLog, release int) []printedLine {
	var lines []printedLine
	for _, r := range l.releases[release].rules {
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
