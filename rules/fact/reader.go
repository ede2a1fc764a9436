package fact

import (
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/pattern"
	"github.com/gpu-triage/triage/rules/rulefile"
)

// Reader is one way in which a log states a fact: Pattern has a group "value" and, when it serves several facts, a group "name".
type Reader struct {
	Fact     string // "" when the group "name" says which
	Prefix   string // what stands before the name in the vocabulary: "env." for environment variables
	Keywords []string
	Within   *pattern.Pattern // the part of a line that is looked at, nil for all of it
	Pattern  *pattern.Pattern
	Decode   string           // how the value is spelt: see Decode
	Value    *condition.Value // the value itself when the line means one without naming it
	Head     bool             // its lines have words as common as "torch", and stand among the first of a log
	Said     bool             // it reads what people write: sentences, tables and the fields of a form
	Hedged   bool             // and sentences with a hedge too: who writes "after I installed WSL" has it
	Place    rulefile.Problem
}

// Marks is a pattern that matches every line in which the reader finds something.
func (r *Reader) Marks() *pattern.Pattern {
	if r.Within != nil {
		return r.Within
	}
	return r.Pattern
}

// DictReader takes facts out of a Python dict that a library prints after Marker.
type DictReader struct {
	Marker string
	Keys   map[string]string // key of the dict -> fact; other keys are facts of their own name, where there is one
	Absent []string          // texts that mean that the thing is not there
	Decode map[string]string // fact -> spelling
}

// SelectionLogReader says which lines of a log a library's backend rules want to see.
type SelectionLogReader struct {
	Library  string   `yaml:"library"`
	Keywords []string `yaml:"keywords"`
}

// readerEntry is the form of a reader in facts.yaml.
type readerEntry struct {
	Within   rulefile.Text `yaml:"within"`
	Pattern  rulefile.Text `yaml:"pattern"`
	Keywords []string      `yaml:"keywords"`
	Decode   rulefile.Text `yaml:"decode"`
	Value    rulefile.Text `yaml:"value"`
	Prefix   string        `yaml:"prefix"`
	Source   string        `yaml:"source"`
	Path     bool          `yaml:"path"`
	Head     bool          `yaml:"head"`
	Said     bool          `yaml:"said"`
	Hedged   bool          `yaml:"hedged"`
}

func newReader(d *rulefile.Decoder, e readerEntry, fact *Info) Reader {
	r := Reader{Keywords: e.Keywords, Prefix: e.Prefix, Decode: e.Decode.Value, Head: e.Head || e.Said, Said: e.Said, Hedged: e.Hedged}
	r.Place = rulefile.Problem{File: d.File, Line: e.Pattern.Line, Column: e.Pattern.Column}
	if fact != nil {
		r.Fact = fact.Name
	}
	compiled, err := pattern.New(e.Pattern.Value)
	if err != nil {
		d.Problem(e.Pattern.Line, e.Pattern.Column, "%v", err)
		return r
	}
	r.Pattern = compiled
	if e.Within.Value != "" {
		within, err := pattern.New(e.Within.Value)
		if err != nil {
			d.Problem(e.Within.Line, e.Within.Column, "%v", err)
		}
		r.Within = within
	}
	if len(r.Keywords) == 0 && !e.Path {
		d.Problem(e.Pattern.Line, e.Pattern.Column, "a reader needs keywords: literals, one of which stands in every line that it reads")
	}
	checkDecoding(d, e.Decode)
	if e.Value.Line > 0 && fact != nil {
		r.Value = constantValue(d, e.Value, fact.Type)
	} else if compiled.Group("value") < 0 {
		d.Problem(e.Pattern.Line, e.Pattern.Column, "the pattern needs a group (?P<value>…), or the reader a value:")
	}
	return r
}

func checkDecoding(d *rulefile.Decoder, name rulefile.Text) {
	if decodings[name.Value] == nil {
		d.Problem(name.Line, name.Column, "unknown decoding %q", name.Value)
	}
}

// constantValue is the value that a match means when the text does not spell it.
func constantValue(d *rulefile.Decoder, t rulefile.Text, want condition.Type) *condition.Value {
	value, err := condition.FromText(t.Value, want)
	if err != nil {
		d.Problem(t.Line, t.Column, "%v", err)
	}
	return &value
}
