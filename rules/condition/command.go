package condition

import "github.com/gpu-triage/triage/rules/command"

// Command is a command with places for facts, as those of a Template. It is said as a whole or not at all, and each value is quoted for
// its place (package command).
type Command struct {
	Kind   command.Kind
	line   *command.Line
	places []templatePart
}

// ParseCommand reads a command with places. Its kind stands before it, as in "python: import torch", unless that is plain. The error tells
// its author what to change.
func ParseCommand(text string) (Command, error) {
	texts := []string{""}
	var c Command
	for _, part := range parseParts(text) {
		if len(part.names) > 0 {
			c.places = append(c.places, part)
			texts = append(texts, "")
			continue
		}
		texts[len(texts)-1] += part.text
	}
	line, err := command.Parse(texts)
	c.line, c.Kind = line, line.Kind()
	return c, err
}

// Template is the command as words with places, for what asks which names and words it has.
func (c Command) Template() Template { return Template{{{parts: c.places}}} }

// Fill is the command with the situation's values in their places. It is empty when one is not known, or has no business there.
func (c Command) Fill(s *Situation) string { return c.FillFrom(s.lookup) }

// With is Fill with the same value in all places.
func (c Command) With(v Value) string { return c.FillFrom(func(string) Value { return v }) }

// Outline is the command without any value: where a place has no words of its own, stands what name gives for it.
func (c Command) Outline(name func(string) string) string {
	return c.fill(func(part templatePart) command.Value {
		if part.hasWords {
			return command.Value{Text: part.words, Trusted: true}
		}
		return command.Value{Text: name(part.names[0]), Trusted: true}
	})
}

// FillFrom is Fill with the values that value gives for names.
func (c Command) FillFrom(value func(name string) Value) string {
	return c.fill(func(part templatePart) command.Value {
		for _, name := range part.names {
			if v := value(name); v.Present() && v.String() != "" {
				return command.Value{Text: v.String()}
			}
		}
		return command.Value{Text: part.words, Trusted: part.hasWords}
	})
}

func (c Command) fill(value func(templatePart) command.Value) string {
	values := make([]command.Value, len(c.places))
	for i, part := range c.places {
		values[i] = value(part)
	}
	text, _ := c.line.Fill(values)
	return text
}
