package signature

import (
	"strings"
	"unicode"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/rulefile"
)

// templateParser is condition.ParseTemplate or ParsePhrase.
type templateParser func(text string) condition.Template

func (l *loader) templates(texts []rulefile.Text, parse templateParser, own map[string]bool) []condition.Template {
	var parsed []condition.Template
	for _, t := range texts {
		parsed = append(parsed, l.template(t, parse, own))
	}
	return parsed
}

// template reads a text with places and notes what is wrong with them.
func (l *loader) template(t rulefile.Text, parse templateParser, own map[string]bool) condition.Template {
	parsed := parse(strings.TrimSpace(t.Value))
	l.places(t, parsed, own)
	return parsed
}

// commands reads the commands of a fix and notes what is wrong with them.
func (l *loader) commands(texts []rulefile.Text, own map[string]bool) []condition.Command {
	var parsed []condition.Command
	for _, t := range texts {
		c, err := condition.ParseCommand(strings.TrimSpace(t.Value))
		if err != nil {
			l.Problem(t.Line, t.Column, "run: %v", err)
			continue
		}
		l.places(t, c.Template(), own)
		parsed = append(parsed, c)
	}
	return parsed
}

// places notes what is wrong with the places of a template.
func (l *loader) places(t rulefile.Text, parsed condition.Template, own map[string]bool) {
	for _, words := range parsed.Words() {
		if !strings.ContainsFunc(words, unicode.IsLower) && !strings.ContainsFunc(words, unicode.IsDigit) {
			l.Problem(t.Line, t.Column, "{...|%s}: %q says nothing to the reader: give words, or none, so that the sentence, the command or what stands in [[ ]] is left out", words, words)
		}
	}
	for _, name := range parsed.Names() {
		top, _, _ := strings.Cut(name, ".")
		_, isFact := l.vocabulary.Fact(name)
		if !isFact && !own[name] && !(l.scope.Has(top) && !l.captures[top]) {
			l.Problem(t.Line, t.Column, "{%s} is neither a fact nor a group of capture:", name)
			continue
		}
		if strings.HasPrefix(name, condition.Environment) {
			l.declareText(t, name)
			continue
		}
		if isFact || name == top {
			continue
		}
		member := &rulefile.Decoder{File: l.File}
		l.scope.Read(member, rulefile.Text{Value: name, Line: t.Line, Column: t.Column})
		for _, mistake := range member.Problems {
			l.Problem(t.Line, t.Column, "{%s}: %s", name, mistake.Message)
		}
	}
}
