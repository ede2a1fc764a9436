package facts

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/pyrepr"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/fact"
)

// openDict is a printed dict whose end is on a later line of its writer.
type openDict struct {
	reader *fact.DictReader
	text   pyrepr.DictLines
	line   logline.Line // where it begins
}

// maxOpenDicts bounds the dicts, of up to 64 KiB each, that are waited for at a time.
const maxOpenDicts = 256

// Begin reads the dict that a line has after a reader's marker.
func (l *LogFacts) Begin(reader *fact.DictReader, text string, line logline.Line) {
	if len(l.open) >= maxOpenDicts {
		return
	}
	_, dict, _ := strings.Cut(text, reader.Marker)
	l.grow(&openDict{reader: reader, line: line}, dict)
}

// Continues tells whether a line belongs to a dict that its writer began before, and takes it if so.
func (l *LogFacts) Continues(text string, line logline.Line) bool {
	if len(l.open) == 0 {
		return false
	}
	l.expire(line)
	d := l.open[line.Process()]
	return d != nil && l.grow(d, text)
}

// Busy tells whether a dict is open, so that any line may matter.
func (l *LogFacts) Busy() bool { return len(l.open) > 0 }

// maxDictLines is how many lines of a source after its beginning a dict is waited for.
const maxDictLines = 2000

// expire gives up dicts whose end does not come. It looks now and then.
func (l *LogFacts) expire(line logline.Line) {
	if line.Number%64 != 0 {
		return
	}
	for key, d := range l.open {
		if line.Number-d.line.Number > maxDictLines {
			delete(l.open, key)
		}
	}
}

// grow adds a line to a dict; false means that the text is no part of one.
func (l *LogFacts) grow(d *openDict, text string) bool {
	entries, err := d.text.Add(text)
	if errors.Is(err, pyrepr.ErrUnfinished) {
		l.open[d.line.Process()] = d
		return true
	}
	delete(l.open, d.line.Process())
	for _, entry := range entries {
		l.entry(d, entry)
	}
	return err == nil
}

// entry takes one key of a dict for a fact, when the vocabulary has one for it.
func (l *LogFacts) entry(d *openDict, entry pyrepr.Entry) {
	name := d.reader.Keys[entry.Key]
	if name == "" {
		name = entry.Key
	}
	if _, ok := l.vocabulary.Fact(name); !ok {
		return
	}
	text := fmt.Sprint(entry.Value)
	var value condition.Value
	var err error
	switch decoding := d.reader.Decode[name]; {
	case entry.Value == nil || slices.Contains(d.reader.Absent, text):
		value = condition.Nil
	case decoding != "":
		value, err = l.decode(name, decoding, text)
	default:
		value, err = l.vocabulary.FromJSON(name, jsonNumbers(entry.Value))
	}
	if err == nil {
		l.add(name, value, d.line, fromDict)
	}
}

// jsonNumbers gives integers the type that encoding/json would have given them.
func jsonNumbers(v any) any {
	switch v := v.(type) {
	case int:
		return float64(v)
	case []any:
		for i := range v {
			v[i] = jsonNumbers(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = jsonNumbers(v[key])
		}
	}
	return v
}
