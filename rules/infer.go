package rules

// Inference is a fact that follows from the text of another: a GPU model has one compute capability.
type Inference struct {
	Fact string // what follows
	From string // the fact whose text is looked at

	pattern *Pattern
	decode  string
	value   *Value // what a match means when the text does not spell it
	typ     Type
}

// inferEntry is the form of an inference in facts.yaml. Keys of the entries are asked in their order, the first that fits counts.
type inferEntry struct {
	From    Text `yaml:"from"`
	Pattern Text `yaml:"pattern"`
	Decode  Text `yaml:"decode"`
	Value   Text `yaml:"value"`
}

func newInference(d *decoder, e inferEntry, fact *FactInfo) Inference {
	i := Inference{Fact: fact.Name, From: e.From.Value, decode: e.Decode.Value, typ: fact.Type}
	var err error
	if i.pattern, err = NewPattern(e.Pattern.Value); err != nil {
		d.problem(e.Pattern.Line, e.Pattern.Column, "%v", err)
		return i
	}
	if _, ok := Decodings[i.decode]; !ok {
		d.problem(e.Decode.Line, e.Decode.Column, "unknown decoding %q", i.decode)
	}
	if e.Value.Line > 0 {
		value, err := fromText(e.Value.Value, fact.Type)
		if err != nil {
			d.problem(e.Value.Line, e.Value.Column, "%v", err)
		}
		i.value = &value
	} else if i.pattern.Group("value") < 0 {
		d.problem(e.Pattern.Line, e.Pattern.Column, "the pattern needs a group (?P<value>…), or the inference a value:")
	}
	return i
}

// Infer is what follows from a value of the fact From, if anything does.
func (i Inference) Infer(from Value) (Value, bool) {
	if !from.Known() || from.IsNil() {
		return Value{}, false
	}
	m := i.pattern.Regexp().FindStringSubmatch(from.String())
	if m == nil {
		return Value{}, false
	}
	if i.value != nil {
		return *i.value, true
	}
	text, err := Decodings[i.decode](m[i.pattern.Group("value")])
	if err != nil {
		return Value{}, false
	}
	value, err := fromText(text, i.typ)
	return value, err == nil
}
