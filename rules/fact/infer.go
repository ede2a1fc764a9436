package fact

import (
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/pattern"
	"github.com/gpu-triage/triage/rules/rulefile"
)

// Inference is a fact that follows from the text of another: a GPU model has one compute capability.
type Inference struct {
	Fact string // what follows
	From string // the fact whose text is looked at

	pattern *pattern.Pattern
	decode  string
	value   *condition.Value // what a match means when the text does not spell it
	typ     condition.Type
}

// inferEntry is the form of an inference in facts.yaml. Inferences are asked in their order, the first that fits counts.
type inferEntry struct {
	From    rulefile.Text `yaml:"from"`
	Pattern rulefile.Text `yaml:"pattern"`
	Decode  rulefile.Text `yaml:"decode"`
	Value   rulefile.Text `yaml:"value"`
}

func newInference(d *rulefile.Decoder, e inferEntry, fact *Info) Inference {
	i := Inference{Fact: fact.Name, From: e.From.Value, decode: e.Decode.Value, typ: fact.Type}
	compiled, err := pattern.New(e.Pattern.Value)
	if err != nil {
		d.Problem(e.Pattern.Line, e.Pattern.Column, "%v", err)
		return i
	}
	i.pattern = compiled
	checkDecoding(d, e.Decode)
	if e.Value.Line > 0 {
		i.value = constantValue(d, e.Value, fact.Type)
	} else if compiled.Group("value") < 0 {
		d.Problem(e.Pattern.Line, e.Pattern.Column, "the pattern needs a group (?P<value>…), or the inference a value:")
	}
	return i
}

// Infer is what follows from a value of the fact From, if anything does.
func (i Inference) Infer(from condition.Value) (condition.Value, bool) {
	if !from.Known() || from.IsNil() {
		return condition.Value{}, false
	}
	m := i.pattern.Regexp().FindStringSubmatch(from.String())
	if m == nil {
		return condition.Value{}, false
	}
	if i.value != nil {
		return *i.value, true
	}
	text, err := Decode(i.decode, m[i.pattern.Group("value")])
	if err != nil {
		return condition.Value{}, false
	}
	value, err := condition.FromText(text, i.typ)
	return value, err == nil
}
