package condition

import (
	"regexp"
	"strings"

	"github.com/gpu-triage/triage/rules/command"
)

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
func (c Command) Fill(s *Situation) string {
	text := installedWith(s.Value(pip), c.FillFrom(s.lookup))
	if where := s.Value(shell); where.Present() && c.Kind == command.Sh {
		if said, ok := command.WindowsShell(where.String()).Say(text); ok {
			return said
		}
	}
	return text
}

// shell is the fact of the shell of Windows into which commands are typed.
const shell = "shell"

// pip is the fact of the program that takes the place of pip where the job runs: "uv pip", or the pip of a portable Python.
const pip = "pip"

var (
	// pipInstall is where a command of a line installs. What removes or lists packages stays pip's: its options are not the same everywhere.
	pipInstall = regexp.MustCompile(`(^|&& |; )((?:[A-Z_]+=\S+ )*)(?:python3? -m )?pip install `)
	// pipAlone are options that only pip itself has.
	pipAlone = regexp.MustCompile(` --(?:user|upgrade-strategy|use-\w|break-system-packages)`)
)

// installedWith is a command that installs packages as the program does it that is used in place of pip.
func installedWith(program Value, text string) string {
	if !program.Present() || pipAlone.MatchString(text) {
		return text
	}
	return pipInstall.ReplaceAllString(text, "${1}${2}"+strings.ReplaceAll(program.String(), "$", "$$")+" install ")
}

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
