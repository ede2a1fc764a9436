package backend

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/gpu-triage/triage/rules/condition"
)

// statedFact is a way in which a library's log states facts of its choice: the pattern has a group "value" and, where it serves several
// facts, a group "name".
type statedFact struct {
	fact    int            // -1 when the group "name" says which
	within  *regexp.Regexp // the part of a line that is looked at, nil for all of it
	pattern *regexp.Regexp
	absent  bool   // a match means that the fact is known to be absent
	is      string // what a match means the fact to be, where the text does not spell it
}

// factEntry is the form of a statedFact in a rule file.
type factEntry struct {
	Fact    string `yaml:"fact"`
	Within  string `yaml:"within"`
	Pattern string `yaml:"pattern"`
	Absent  bool   `yaml:"absent"`
	Is      string `yaml:"is"`
}

// compileFacts reads how the log states facts, and the reasons that it gives for each backend.
func (b logLoader) compileFacts(entry selectionLogEntry) {
	format := &b.library.selectionLog
	for _, f := range entry.Facts {
		stated := statedFact{fact: -1, within: b.regexp(f.Within), pattern: b.regexp(f.Pattern), absent: f.Absent, is: f.Is}
		if f.Fact != "" {
			i, ok := b.library.byName[f.Fact]
			if !ok {
				b.Problem(1, 1, "selection_log: %s is none of facts:", f.Fact)
			}
			stated.fact = i
		}
		if stated.pattern == nil || stated.pattern.SubexpIndex("value") < 0 || f.Fact == "" && stated.pattern.SubexpIndex("name") < 0 {
			b.Problem(1, 1, "selection_log: a pattern of facts: needs a group value, and a group name or fact:")
			continue
		}
		format.facts = append(format.facts, stated)
	}
	for _, source := range entry.Reasons {
		pattern := b.regexp(source)
		if pattern == nil || pattern.SubexpIndex("backend") < 0 || pattern.SubexpIndex("reasons") < 0 {
			b.Problem(1, 1, "selection_log: a pattern of reasons: needs the groups backend and reasons")
			continue
		}
		format.reasons = append(format.reasons, pattern)
	}
	if left := b.regexp(entry.Left); left != nil {
		format.left = left
		if left.SubexpIndex("backends") < 0 {
			b.Problem(1, 1, "selection_log: left: needs a group backends")
		}
	}
}

// readStated takes the facts that a line states.
func (t *SelectionLog) readStated(line string) (found bool) {
	l := t.library
	for _, f := range l.selectionLog.facts {
		text := line
		if f.within != nil {
			text = f.within.FindString(line)
		}
		for _, m := range f.pattern.FindAllStringSubmatch(text, maxStated) {
			fact := f.fact
			if fact < 0 {
				i, ok := l.byName[m[f.pattern.SubexpIndex("name")]]
				if !ok {
					continue
				}
				fact = i
			}
			value, err := statedValue(cmp.Or(f.is, m[f.pattern.SubexpIndex("value")]), l.facts[fact].Type)
			if f.absent {
				value, err = condition.Nil, nil
			}
			if err == nil {
				t.stated[l.facts[fact].Name], found = value, true
			}
		}
	}
	return found
}

// maxStated bounds the facts of one line.
const maxStated = 64

// statedValue reads a value as Python prints it.
func statedValue(text string, want condition.Type) (condition.Value, error) {
	text = strings.Trim(strings.TrimSpace(text), `'"`)
	switch text {
	case "None":
		return condition.Nil, nil
	case "True", "False":
		text = strings.ToLower(text)
	}
	return condition.FromText(text, want)
}

// readReasons takes what a line says of each backend: why it is out, or that it is left.
func (t *SelectionLog) readReasons(line string) (found bool) {
	format := &t.library.selectionLog
	for _, pattern := range format.reasons {
		for _, m := range pattern.FindAllStringSubmatch(line, maxBackends) {
			backend := t.library.backendNamed(m[pattern.SubexpIndex("backend")])
			if backend < 0 {
				continue
			}
			name, reasons := t.library.backends[backend].name, m[pattern.SubexpIndex("reasons")]
			t.say(name, "False")
			found = true
			if len(t.said) < maxSayings {
				t.said = append(t.said, saying{backend: name, text: name + ": " + reasons})
			}
			for _, message := range format.messages {
				if r := message.rule; r.canTakeOutOf(t.library, backend) && message.standsIn(reasons) {
					t.named[backend] = append(t.named[backend], r)
				}
			}
		}
	}
	if m := submatch(format.left, line); m != nil {
		found = true
		for name := range strings.SplitSeq(m[format.left.SubexpIndex("backends")], ",") {
			t.say(strings.Trim(strings.TrimSpace(name), `'"`), "True")
		}
	}
	return found
}

// say notes whether a backend is available.
func (t *SelectionLog) say(backend, available string) {
	if t.available == nil {
		t.available = make(map[string]string)
	}
	t.available[backend] = available
}

// standsIn tells whether a text has the message somewhere, with some values in it, and not as the end of another word.
func (m logMessage) standsIn(text string) bool {
	for i, part := range m.parts {
		before, after, ok := strings.Cut(text, part)
		for ok && i == 0 && endsInWord(before) {
			before, after, ok = strings.Cut(after, part)
		}
		if !ok {
			return false
		}
		text = after
	}
	return true
}

// endsInWord tells whether a text ends within a word.
func endsInWord(text string) bool {
	last := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
	return last != text
}

// canTakeOutOf tells whether the rule takes out some variant of a backend.
func (r *rule) canTakeOutOf(l *Library, backend int) bool {
	for v := l.backends[backend].first; v < l.backends[backend].last; v++ {
		if r.canTakeOut(v) {
			return true
		}
	}
	return false
}
