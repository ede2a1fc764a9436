package facts

import (
	"fmt"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/fact"
)

// Origin is where a fact is from.
type Origin string

// The origins, in order of precedence: what the user says outweighs what the log says, and that what the machine says now.
const (
	FromUser Origin = "user"
	FromLog  Origin = "log"
	FromLive Origin = "live"
)

// Fact is a known thing about the situation.
type Fact struct {
	Name   string
	Value  condition.Value // Nil when the thing is known to be absent
	Origin Origin
	Where  string // the line of a log ("train.log:12") or the command that told it
}

// Facts are the known facts by name, the weightiest of each. The zero value is not ready: use make.
type Facts map[string]Fact

var Precedence = map[Origin]int{FromUser: 3, FromLog: 2, FromLive: 1}

// Add notes a fact unless one of the same or a weightier origin is there already.
func (fs Facts) Add(f Fact) {
	if old, ok := fs[f.Name]; ok && Precedence[old.Origin] >= Precedence[f.Origin] {
		return
	}
	fs[f.Name] = f
}

// infer adds what follows from the facts. A fact that is known is never overruled by what another lets expect.
func (fs Facts) Infer(v *fact.Vocabulary) {
	for _, i := range v.Inferences {
		from, ok := fs[i.From]
		if _, known := fs[i.Fact]; known || !ok {
			continue
		}
		if value, ok := i.Infer(from.Value); ok {
			fs[i.Fact] = Fact{Name: i.Fact, Value: value, Origin: from.Origin, Where: from.Where}
		}
	}
}

// Situation is what the facts tell, in a scope.
func (fs Facts) Situation(scope *condition.Scope) *condition.Situation {
	s := scope.NewSituation()
	for name, f := range fs {
		s.Set(name, f.Value)
	}
	return s
}

// logFacts collects the facts that a log states.
type LogFacts struct {
	vocabulary *fact.Vocabulary
	Found      map[string]Fact
	weight     map[string]int
	Open       map[string]*openDict // by process
}

// How much a statement of a log weighs. A dict is what a library saw just before it failed, so the last one counts; of all else the
// first counts, because later lines may be about another process.
const (
	FromPackageList = 1
	FromLine        = 2
	fromDict        = 3
)

func NewLogFacts(v *fact.Vocabulary) *LogFacts {
	return &LogFacts{vocabulary: v, Found: make(map[string]Fact), weight: make(map[string]int), Open: make(map[string]*openDict)}
}

func (l *LogFacts) add(name string, value condition.Value, line logline.Line, weight int) {
	if old := l.weight[name]; old > weight || old == weight && weight != fromDict {
		return
	}
	l.weight[name] = weight
	l.Found[name] = Fact{Name: name, Value: value, Origin: FromLog, Where: fmt.Sprintf("%s:%d", line.Source, line.Number)}
}

// readable is the part of a text that a reader's pattern is for.
func readable(reader *fact.Reader, text string) string {
	if reader.Within == nil {
		return text
	}
	return reader.Within.Regexp().FindString(text)
}

// maxStated is how many facts one line may state to one reader.
const MaxStated = 50

// read applies one reader to a line that has one of its keywords.
func (l *LogFacts) Read(reader *fact.Reader, text string, line logline.Line, weight int) {
	if reader.Fact != "" && l.weight[reader.Fact] >= weight {
		return // the first statement counts
	}
	if text = readable(reader, text); !reader.Pattern.Possible(text) {
		return
	}
	for _, m := range reader.Pattern.Regexp().FindAllStringSubmatch(text, MaxStated) {
		l.stated(reader, m, line, weight)
	}
}

// subject is the fact that one match of a reader's pattern is about, if there is such a fact.
func Subject(reader *fact.Reader, v *fact.Vocabulary, m []string, packages bool) (name string, ok bool) {
	name = reader.Fact
	if i := reader.Pattern.Group("name"); i >= 0 {
		name = reader.Prefix + m[i]
	}
	if packages {
		if name, ok = v.Package(name); !ok {
			return "", false
		}
	}
	_, ok = v.Fact(name)
	return name, ok
}

// stated notes what one match of a reader's pattern says.
func (l *LogFacts) stated(reader *fact.Reader, m []string, line logline.Line, weight int) {
	name, ok := Subject(reader, l.vocabulary, m, weight == FromPackageList)
	if !ok {
		return
	}
	if reader.Value != nil {
		l.add(name, *reader.Value, line, weight)
		return
	}
	// What is no value of this fact was about something else.
	if value, err := l.decode(name, reader.Decode, m[reader.Pattern.Group("value")]); err == nil {
		l.add(name, value, line, weight)
	}
}

func (l *LogFacts) decode(name, decoding, text string) (condition.Value, error) {
	decoded, err := fact.Decode(decoding, text)
	if err != nil {
		return condition.Value{}, err
	}
	return l.vocabulary.Parse(name, decoded)
}
