package rules

import (
	"fmt"
	"regexp"
	"strings"
)

// trailEntry is the form of trail: in a rule file.
type trailEntry struct {
	Config    string `yaml:"config"`    // what stands before the arguments
	Available string `yaml:"available"` // regular expression with a group for every backend (True or False) and report
	Selected  string `yaml:"selected"`  // regular expression with a group "selected"
	None      string `yaml:"none"`      // what Selected says when there is none
	Ask       string `yaml:"ask"`
}

// trail is how a library's log tells of its selection.
type trail struct {
	config              string
	available, selected *regexp.Regexp
	none                string
	messages            []trailMessage
}

// trailMessage is what one rule prints in some releases.
type trailMessage struct {
	rule     *rule
	releases []bool
	literal  string // the text before the first value
	pattern  *regexp.Regexp
}

// Trail is what a log tells of one selection.
type Trail struct {
	rules     map[*rule]string // rule -> the line that it printed
	unknown   []string         // lines that no rule prints
	available map[string]string
	selected  string
	Complete  bool // the line with the available backends was seen: every rule that fired has printed its line
}

// compileTrail reads how the log tells of the selection.
func (b *libraryBuilder) compileTrail() {
	l := b.library
	b.each(func(f libraryFile) {
		if f.Trail.Available == "" {
			return
		}
		l.trail.config, l.trail.none = f.Trail.Config, f.Trail.None
		for text, target := range map[string]**regexp.Regexp{f.Trail.Available: &l.trail.available, f.Trail.Selected: &l.trail.selected} {
			pattern, err := regexp.Compile(text)
			if err != nil {
				b.problem(1, 1, "trail: %v", err)
				return
			}
			*target = pattern
		}
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

// newTrailMessage makes a pattern of a message template, in which %s is a value and %% a per cent sign.
func newTrailMessage(r *rule, releases []bool, template string) trailMessage {
	template = strings.TrimSpace(template)
	literal, _, _ := strings.Cut(template, "%")
	var pattern strings.Builder
	for i, part := range strings.Split(template, "%%") {
		if i > 0 {
			pattern.WriteString("%")
		}
		for j, text := range strings.Split(part, "%s") {
			if j > 0 {
				pattern.WriteString("(.*?)")
			}
			pattern.WriteString(regexp.QuoteMeta(text))
		}
	}
	return trailMessage{r, releases, literal, regexp.MustCompile(pattern.String() + `\s*$`)}
}

// ReadTrail finds what a log tells of the selection in its lines. It returns false when the lines tell nothing. When there are several
// selections, the last one counts.
func (l *Library) ReadTrail(lines []string) (*Trail, bool) {
	t := &Trail{rules: make(map[*rule]string)}
	found := false
	for _, line := range lines {
		if l.trail.config != "" && strings.Contains(line, l.trail.config) {
			t, found = &Trail{rules: make(map[*rule]string)}, true
		}
		found = l.readTrailLine(t, line) || found
	}
	return t, found
}

func (l *Library) readTrailLine(t *Trail, line string) bool {
	if l.trail.available == nil {
		return false
	}
	if m := l.trail.available.FindStringSubmatch(line); m != nil {
		t.available, t.Complete = make(map[string]string), true
		for i, name := range l.trail.available.SubexpNames() {
			if name != "" {
				t.available[name] = m[i]
			}
		}
		return true
	}
	if m := l.trail.selected.FindStringSubmatch(line); m != nil {
		t.selected = m[l.trail.selected.SubexpIndex("selected")]
		return true
	}
	found := false
	for _, m := range l.trail.messages {
		if at := strings.Index(line, m.literal); at >= 0 && m.pattern.MatchString(line[at:]) {
			t.rules[m.rule], found = line, true
		}
	}
	return found
}

// Told are the facts that the trail states beyond those of its own arguments: a switch that a rule names when it fires, and that it is
// not set when the rule stays silent although its backend was still there.
func (l *Library) Told(t *Trail) map[string]Value {
	facts := make(map[string]Value)
	for r := range t.rules {
		for i, v := range r.tells {
			facts[l.facts[i].Name] = v
		}
	}
	return facts
}

// Contradictions compares a trail with what the rules say, and returns a sentence for every difference: a patched build, or something
// that the log does not show.
func (l *Library) Contradictions(facts map[string]Value, t *Trail) []string {
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
		found = append(found, fmt.Sprintf("The log says that %s is selected, the rules of %s %s select %s.", t.selected, l.Name, selection.Release, cmpOr(selection.Selected, "none")))
	}
	return found
}

func same(said, selected, none string) bool {
	return said == selected || said == none && selected == ""
}

func cmpOr(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

type printedLine struct {
	text  string
	rules []*rule
}

// printed groups the rules of a release by the line that one of them printed.
func (l *Library) printed(t *Trail, release int) []printedLine {
	var lines []printedLine
	for _, r := range l.releases[release].rules {
		text, ok := t.rules[r]
		if !ok {
			continue
		}
		known := false
		for i := range lines {
			if lines[i].text == text {
				lines[i].rules, known = append(lines[i].rules, r), true
			}
		}
		if !known {
			lines = append(lines, printedLine{text, []*rule{r}})
		}
	}
	return lines
}
