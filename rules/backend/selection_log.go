package backend

import (
	"cmp"
	"maps"
	"regexp"
	"strings"

	"github.com/gpu-triage/triage/rules/condition"
)

// logFormat is how a library's log tells of its selection.
type logFormat struct {
	config    string         // what stands before the arguments, where a selection begins
	available *regexp.Regexp // with a group for every backend, True or False, and report
	selected  *regexp.Regexp // with a group "selected"
	none      string         // what selected says when there is none
	suffix    *regexp.Regexp // what stands behind a message
	said      *regexp.Regexp // a reason in the log's own words, with groups "backend" and, where only a variant is off, "variant"
	every     string         // what "backend" says of all of them
	messages  []logMessage
	facts     []statedFact
	reasons   []*regexp.Regexp // with the groups "backend" and "reasons"
	left      *regexp.Regexp   // with a group "backends": those that are left
}

// logMessage is what one rule prints in some releases.
type logMessage struct {
	rule     *rule
	releases []bool
	parts    []string // the fixed texts of the template, with a value between each two
	values   []int    // which facts (places) the values are, -1 for none
}

// newLogMessage takes a message template apart, in which %s is a value and %% a per cent sign.
func newLogMessage(r *rule, releases []bool, template string) logMessage {
	parts := strings.Split(strings.TrimSpace(template), "%s")
	for i := range parts {
		parts[i] = strings.ReplaceAll(parts[i], "%%", "%")
	}
	return logMessage{rule: r, releases: releases, parts: parts}
}

// matches tells whether a text is the message with some values in it.
func (m logMessage) matches(text string) bool {
	_, ok := m.valuesIn(text)
	return ok
}

// valuesIn are the values in a text, if it is the message.
func (m logMessage) valuesIn(text string) (values []string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), m.parts[0])
	for i, part := range m.parts[1:] {
		if !ok {
			return nil, false
		}
		if i == len(m.parts)-2 {
			value, ends := strings.CutSuffix(rest, part)
			return append(values, value), ends
		}
		var value string
		value, rest, ok = strings.Cut(rest, part)
		values = append(values, value)
	}
	return values, ok && rest == ""
}

// SelectionLog is what a log tells of one selection.
type SelectionLog struct {
	library   *Library
	complete  bool               // the line with the available backends is there: every rule that fired has printed its line
	rules     map[*rule][]string // rule -> the lines that it may have printed
	available map[string]string  // backend -> True or False
	selected  string
	stated    map[string]condition.Value // facts that the lines state
	named     map[int][]*rule            // backend -> the rules that take it out, by the reasons that the log gives for it
	said      []saying
}

// saying is a reason in the log's own words.
type saying struct {
	backend string // "" for all
	variant string // "" for the whole backend
	text    string
}

func newSelectionLog(l *Library) *SelectionLog {
	return &SelectionLog{library: l, rules: make(map[*rule][]string), stated: make(map[string]condition.Value), named: make(map[int][]*rule)}
}

// ReadSelectionLog finds what a log tells of the selection in its lines, and whether they tell anything. When there are several
// selections, the last one counts.
func (l *Library) ReadSelectionLog(lines []string) (log *SelectionLog, found bool) {
	log = newSelectionLog(l)
	for _, line := range lines {
		if config := l.selectionLog.config; config != "" && strings.Contains(line, config) {
			log, found = newSelectionLog(l), true
		}
		told := log.read(line)
		found = found || told
	}
	return log, found
}

// read takes what a line tells; it returns false for a line that tells nothing.
func (t *SelectionLog) read(line string) bool {
	format := &t.library.selectionLog
	if len(format.reasons) > 0 || len(format.facts) > 0 {
		return t.readChoice(line)
	}
	if m := submatch(format.available, line); m != nil {
		t.available, t.complete = make(map[string]string), true
		for i, name := range format.available.SubexpNames() {
			if name != "" {
				t.available[name] = m[i]
			}
		}
		return true
	}
	if m := submatch(format.selected, line); m != nil {
		t.selected = m[format.selected.SubexpIndex("selected")]
		return true
	}
	if format.suffix != nil {
		line = format.suffix.ReplaceAllString(line, "")
	}
	found := t.readSayings(line)
	for _, m := range format.messages {
		at := strings.Index(line, m.parts[0])
		if at < 0 {
			continue
		}
		if values, ok := m.valuesIn(line[at:]); ok {
			t.rules[m.rule], found = append(t.rules[m.rule], line), true
			t.note(m, values)
		}
	}
	return found
}

// readChoice is read for a library that tells of its whole choice in a line: the facts, what is left, what is selected and the reasons.
func (t *SelectionLog) readChoice(line string) (found bool) {
	if m := submatch(t.library.selectionLog.selected, line); m != nil {
		t.selected, found = m[t.library.selectionLog.selected.SubexpIndex("selected")], true
	}
	stated, reasons := t.readStated(line), t.readReasons(line)
	return found || stated || reasons
}

// note takes the facts that a message has as its values.
func (t *SelectionLog) note(m logMessage, values []string) {
	for i, fact := range m.values {
		if fact < 0 || i >= len(values) {
			continue
		}
		f := &t.library.facts[fact]
		text := strings.TrimSpace(values[i])
		if value, err := condition.FromText(cmp.Or(f.spelt[text], text), f.Type); err == nil {
			t.stated[f.Name] = value
		}
	}
}

// maxSayings bounds the reasons that are kept of one selection.
const maxSayings = 200

// readSayings takes the reasons that a line gives in its own words.
func (t *SelectionLog) readSayings(line string) (found bool) {
	format := &t.library.selectionLog
	if format.said == nil {
		return false
	}
	for _, m := range format.said.FindAllStringSubmatch(line, maxSayings-len(t.said)) {
		one := saying{text: strings.TrimSpace(m[0]), backend: m[format.said.SubexpIndex("backend")]}
		if i := format.said.SubexpIndex("variant"); i >= 0 {
			one.variant = m[i]
		}
		if one.backend == format.every {
			one.backend = ""
		} else if t.library.backendNamed(one.backend) < 0 {
			continue
		}
		t.said, found = append(t.said, one), true
	}
	return found
}

func submatch(pattern *regexp.Regexp, line string) []string {
	if pattern == nil {
		return nil
	}
	return pattern.FindStringSubmatch(line)
}

// Facts are what the log states beyond the arguments: a switch that a rule names when it fires, and that the switch is not set when a
// complete log lacks the rule's line. known is what else is known, the library's version above all.
func (t *SelectionLog) Facts(known map[string]condition.Value) map[string]condition.Value {
	stated := maps.Clone(t.stated)
	candidates, _ := t.library.situation(known).candidates()
	if len(candidates) != 1 {
		return stated
	}
	release := candidates[0]
	for _, r := range t.library.releases[release].rules {
		states := r.silent
		if _, printed := t.rules[r]; printed {
			states = r.tells
		} else if !t.complete {
			continue
		}
		values, _ := states.at(release)
		for i, v := range values {
			stated[t.library.facts[i].Name] = v
		}
	}
	return stated
}

// selectionLogEntry is the form of selection_log: in a rule file.
type selectionLogEntry struct {
	Config    string `yaml:"config"`
	Available string `yaml:"available"`
	Selected  string `yaml:"selected"`
	None      string `yaml:"none"`
	Cut       string `yaml:"cut"`
	Said      string `yaml:"said"`
	Every     string `yaml:"every"`
	Ask       string `yaml:"ask"`

	Facts   []factEntry `yaml:"facts"`
	Reasons []string    `yaml:"reasons"`
	Left    string      `yaml:"left"`
}

// logLoader reads how the log tells of the selection.
type logLoader struct{ *builder }

// compile reads how the log tells of the selection, and what each rule prints.
func (b logLoader) compile() {
	format := &b.library.selectionLog
	b.each(func(f libraryFile) {
		entry := f.SelectionLog
		format.config, format.none = cmp.Or(entry.Config, format.config), cmp.Or(entry.None, format.none)
		format.available = cmp.Or(b.regexp(entry.Available), format.available)
		format.selected = cmp.Or(b.regexp(entry.Selected), format.selected)
		format.suffix = cmp.Or(b.regexp(entry.Cut), format.suffix)
		b.compileFacts(entry)
		format.said, format.every = cmp.Or(b.regexp(entry.Said), format.said), cmp.Or(entry.Every, format.every)
		if format.said != nil && format.said.SubexpIndex("backend") < 0 {
			b.Problem(1, 1, "selection_log: said: needs a group (?P<backend>...)")
		}
		if format.selected != nil && format.selected.SubexpIndex("selected") < 0 {
			b.Problem(1, 1, "selection_log: selected: needs a group (?P<selected>...)")
		}
	})
	for _, r := range b.library.rules {
		format.messages = append(format.messages, b.messagesOf(r)...)
	}
}

// regexp compiles an expression of selection_log:, nil without one.
func (b logLoader) regexp(source string) *regexp.Regexp {
	if source == "" {
		return nil
	}
	compiled, err := regexp.Compile(source)
	if err != nil {
		b.Problem(1, 1, "selection_log: %v", err)
		return nil
	}
	return compiled
}

// messagesOf are what a rule prints, with each variant's name in it where it names one.
func (b logLoader) messagesOf(r *rule) []logMessage {
	var messages []logMessage
	for i, message := range r.message.parts {
		releases := make([]bool, len(b.library.releases))
		for at := range releases {
			releases[at] = r.message.of[at] == int8(i)
		}
		if !strings.Contains(message, "{variant}") {
			messages = append(messages, newLogMessage(r, releases, message))
			continue
		}
		for _, v := range b.library.variants {
			messages = append(messages, newLogMessage(r, releases, strings.ReplaceAll(message, "{variant}", v.name)))
		}
	}
	for i := range messages {
		messages[i].values = r.values
	}
	return messages
}
