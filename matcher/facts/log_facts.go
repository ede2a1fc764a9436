package facts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/traceback"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/fact"
	"github.com/gpu-triage/triage/rules/pattern"
)

// LogFacts collects the facts that lines of logs state.
type LogFacts struct {
	vocabulary *fact.Vocabulary
	stated     map[string]Fact
	weight     map[string]int
	disputed   map[string]bool      // people write different values of it
	open       map[string]*openDict // by process
}

// How much a statement of a log weighs. A dict is what a library saw just before it failed, so the last one counts; of all else the
// first counts, because later lines may be about another process. The files of a traceback tell of one process, and less of it: 3.10 for
// 3.10.12. What people write around a log weighs least, and nothing when they write different things.
const (
	fromProse       = 1
	fromPath        = 2
	FromPackageList = 3
	FromLine        = 4
	fromDict        = 5
)

// NewLogFacts starts with nothing known.
func NewLogFacts(v *fact.Vocabulary) *LogFacts {
	return &LogFacts{vocabulary: v, stated: make(map[string]Fact), weight: make(map[string]int), disputed: make(map[string]bool), open: make(map[string]*openDict)}
}

// Stated are the facts so far, by name. They are not to be changed.
func (l *LogFacts) Stated() map[string]Fact { return l.stated }

// EndSource gives up the dicts that the source that ends leaves open.
func (l *LogFacts) EndSource() { clear(l.open) }

func (l *LogFacts) add(name string, value condition.Value, line logline.Line, weight int) {
	if old := l.weight[name]; old > weight || old == weight && weight != fromDict {
		return
	}
	l.weight[name] = weight
	l.stated[name] = Fact{Name: name, Value: value, Source: FromLog, Where: place(line)}
}

// say notes what a person writes. Who writes different values of one thing tells of several machines, or of attempts.
func (l *LogFacts) say(name string, value condition.Value, line logline.Line) {
	old, known := l.stated[name]
	switch {
	case l.weight[name] > fromProse || l.disputed[name]:
	case known && !agree(old.Value.String(), value.String()):
		l.disputed[name] = true
		delete(l.stated, name)
	case !known || len(value.String()) > len(old.Value.String()):
		l.weight[name] = fromProse
		l.stated[name] = Fact{Name: name, Value: value, Source: FromProse, Where: place(line)}
	}
}

// Tell takes what the author of a post has found out, by its sentences. Of several posts the first counts.
func (l *LogFacts) Tell(sentences []logline.Sentence) (told []Told) {
	for _, t := range FoundOut(l.vocabulary, sentences) {
		if _, known := l.stated[t.Name]; !known {
			l.weight[t.Name], l.stated[t.Name] = fromProse, t.Fact
			told = append(told, t)
		}
	}
	return told
}

// agree tells whether two values may be the same thing, once written shorter: 2.7 and 2.7.1, A100 and NVIDIA A100 80GB.
func agree(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	return strings.Contains(a, b) || strings.Contains(b, a)
}

// place is a line as reports name it.
func place(line logline.Line) string { return fmt.Sprintf("%s:%d", line.Source, line.Number) }

// maxStated is how many facts one line may state to one reader. A list of all packages of an environment on one line has some hundred;
// those that matter stand in lists of one for each line.
const maxStated = 50

// Read applies one reader to a line that has one of its keywords. The weight is FromPackageList or FromLine.
func (l *LogFacts) Read(reader *fact.Reader, text string, line logline.Line, weight int) {
	if reader.Fact != "" && l.weight[reader.Fact] >= weight {
		return // the first statement counts
	}
	text = readable(reader, text)
	if !reader.Pattern.Possible(text) {
		return
	}
	for _, m := range reader.Pattern.Regexp().FindAllStringSubmatch(text, maxStated) {
		l.read(reader, m, line, weight)
	}
}

// Paths takes what the files tell that an exception names, in its frames and in its message.
func (l *LogFacts) Paths(x *traceback.Exception) {
	for i := range l.vocabulary.Paths {
		reader := &l.vocabulary.Paths[i]
		for _, frame := range x.Frames {
			l.Read(reader, frame.File, x.Line, fromPath)
		}
		for _, line := range x.Lines {
			l.Read(reader, line.Text, line, fromPath)
		}
	}
}

// Hear applies one reader of what people write to a line that has one of its keywords. Sentences with a hedge in them state nothing, but to a
// reader that is for them.
func (l *LogFacts) Hear(reader *fact.Reader, text string, line logline.Line, packages bool) {
	if reader.Fact != "" && l.weight[reader.Fact] > fromProse || len(text) > maxSaid || !reader.Pattern.Matches(text) {
		return
	}
	for _, sentence := range sentenceEnd().Split(text, -1) {
		if !reader.Hedged && l.vocabulary.Hedges != nil && l.vocabulary.Hedges.Matches(sentence) {
			continue
		}
		for _, m := range reader.Pattern.Regexp().FindAllStringSubmatch(sentence, maxStated) {
			name, ok := subject(reader, l.vocabulary, m, packages)
			if !ok {
				continue
			}
			if reader.Value != nil {
				l.say(name, *reader.Value, line)
			} else if value, err := l.decode(name, reader.Decode, m[reader.Pattern.Group("value")]); err == nil {
				l.say(name, value, line)
			}
		}
	}
}

// Speech tells whether a line is a person's and no program's: one speaks in it, or hedges.
func (l *LogFacts) Speech(text string) bool {
	v := l.vocabulary
	return v.Speaks != nil && v.Speaks.Matches(text) || v.Hedges != nil && v.Hedges.Matches(text)
}

// Common tells whether a reader is for common words, which stand in sentences too, and finds something in a text.
func Common(reader *fact.Reader, text string) bool {
	return reader.Head && reader.Within == nil && reader.Pattern.Matches(text)
}

// maxSaid bounds the bytes of a line that a person has written: longer ones are data.
const maxSaid = 4000

// sentenceEnd is where a sentence ends, or what follows in it is about something else.
var sentenceEnd = pattern.Lazy(`[.;!?](?:\s|$)|\sbut\s`)

// read notes what one match of a reader's pattern says.
func (l *LogFacts) read(reader *fact.Reader, m []string, line logline.Line, weight int) {
	name, ok := subject(reader, l.vocabulary, m, weight == FromPackageList)
	if !ok {
		return
	}
	if reader.Value != nil {
		l.add(name, *reader.Value, line, weight)
		return
	}
	value, err := l.decode(name, reader.Decode, m[reader.Pattern.Group("value")])
	if err != nil {
		return // it was about something else
	}
	l.add(name, value, line, weight)
}

func (l *LogFacts) decode(name, decoding, text string) (condition.Value, error) {
	decoded, err := fact.Decode(decoding, text)
	if err != nil {
		return condition.Value{}, err
	}
	return l.vocabulary.Parse(name, decoded)
}

// readable is the part of a text that a reader's pattern is for.
func readable(reader *fact.Reader, text string) string {
	if reader.Within == nil {
		return text
	}
	return reader.Within.Regexp().FindString(text)
}

// subject is the fact that one match of a reader's pattern is about, if there is such a fact.
func subject(reader *fact.Reader, v *fact.Vocabulary, m []string, packages bool) (name string, ok bool) {
	name = reader.Fact
	if i := reader.Pattern.Group("name"); i >= 0 {
		name = reader.Prefix + m[i]
	}
	if packages {
		name, ok = v.Package(name)
		if !ok {
			return "", false
		}
	}
	_, ok = v.Fact(name)
	return name, ok
}

// MayState tells whether some line that differs from this text in numbers only may state a fact to a reader. Packages tells that it is
// one of lists of packages.
func MayState(reader *fact.Reader, v *fact.Vocabulary, text string, packages bool) bool {
	group := reader.Pattern.Group("name")
	switch {
	case !reader.Marks().AnyNumbers().Matches(text):
		return false
	case group < 0 || reader.Within != nil || !reader.Pattern.IgnoresNumbers():
		return true
	}
	return slices.ContainsFunc(reader.Pattern.Regexp().FindAllStringSubmatch(text, maxStated), func(m []string) bool {
		_, ok := subject(reader, v, m, packages)
		return ok || !pattern.IgnoresNumbers(m[group])
	})
}
