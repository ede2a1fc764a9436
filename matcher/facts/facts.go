// Package facts knows what is known of a job: facts by their names, each with who tells it, and which of several outweighs the others. It
// takes from lines of logs what they state: facts in words that the vocabulary has patterns for (LogFacts), facts in dicts that libraries
// print, over many lines perhaps, errors of GPUs in the kernel's messages (Xids), how libraries choose their backends (SelectionLogs), and
// where and when a log was written (LogOrigin).
package facts

import (
	"errors"
	"maps"
	"slices"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/fact"
)

// Source is who tells a fact.
type Source string

// The sources, in order of precedence: what the user says outweighs what the log says, that what people write around a log, and that what
// the machine says now.
const (
	FromUser  Source = "user"
	FromLog   Source = "log"
	FromProse Source = "prose"
	FromLive  Source = "live"
)

// Outranks compares two sources: positive when s outweighs other, 0 when they weigh the same.
func (s Source) Outranks(other Source) int { return precedence[s] - precedence[other] }

var precedence = map[Source]int{FromUser: 4, FromLog: 3, FromProse: 2, FromLive: 1}

// Fact is a known thing about the situation.
type Fact struct {
	Name   string
	Value  condition.Value // Nil when the thing is known to be absent
	Source Source
	Where  string // the line of a log ("train.log:12") or the command that told it
}

// Said reads what a user says of the situation, values in words by the names of facts, in the order of the names. where is how it was said,
// "--fact". What is right is given also when something else is wrong; the error tells all that is.
func Said(v *fact.Vocabulary, given map[string]string, where string) (known []Fact, err error) {
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(given)) {
		value, err := v.Parse(name, given[name])
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		known = append(known, Fact{Name: name, Value: value, Source: FromUser, Where: where})
	}
	return known, errors.Join(wrong...)
}

// Facts are the known facts by name, the weightiest of each. The zero value is not ready: use make.
type Facts map[string]Fact

// Add notes a fact unless one of the same or a weightier source is there already.
func (fs Facts) Add(f Fact) {
	if old, ok := fs[f.Name]; ok && old.Source.Outranks(f.Source) >= 0 {
		return
	}
	fs[f.Name] = f
}

// Infer adds what follows from the facts. A fact that is known is never overruled by what another lets expect.
func (fs Facts) Infer(v *fact.Vocabulary) {
	for _, i := range v.Inferences {
		from, ok := fs[i.From]
		if _, known := fs[i.Fact]; known || !ok {
			continue
		}
		if value, ok := i.Infer(from.Value); ok {
			fs[i.Fact] = Fact{Name: i.Fact, Value: value, Source: from.Source, Where: from.Where}
		}
	}
}

// Values are what the facts are worth, by name.
func (fs Facts) Values() map[string]condition.Value {
	values := make(map[string]condition.Value, len(fs))
	for name, f := range fs {
		values[name] = f.Value
	}
	return values
}

// Situation is what the facts tell, in a scope.
func (fs Facts) Situation(scope *condition.Scope) *condition.Situation {
	s := scope.NewSituation()
	for name, f := range fs {
		s.Set(name, f.Value)
	}
	return s
}
