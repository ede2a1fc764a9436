package condition

import (
	"regexp"
	"strings"

	"github.com/gpu-triage/triage/rules/command"
)

// Template is a text with places for facts: {cudnn}, or {cudnn|the cuDNN at hand} with words for when nobody knows it, or {path, folder}
// for the first that is known. A place without such words takes along what it stands in when nothing is known: words in
// [[double brackets]] alone, else the whole sentence. So nothing that is printed has a hole in it.
type Template []sentence

// sentence is a part of a template that is said or left out as a whole.
type sentence []phrase

// phrase is a part of a sentence. An optional one, in [[double brackets]], can be left out alone.
type phrase struct {
	parts    []templatePart
	optional bool
}

type templatePart struct {
	command  *Command // between backticks, with places; the rest is empty then
	text     string   // literal, when there are no names
	names    []string // the first that is known counts
	words    string   // for when none is
	hasWords bool
}

var (
	placeholder = regexp.MustCompile(`\{([a-z_][A-Za-z0-9_.]*(?:, [a-z_][A-Za-z0-9_.]*)*)(?:\|([^{}]*))?\}`)
	coded       = regexp.MustCompile("`[^`{]+\\{[^`]*`|`[^`]*\\}[^`}]+`") // code in a sentence that is more than one place
	bracketed   = regexp.MustCompile(`(?s)\[\[(.*?)\]\]`)
	sentenceEnd = regexp.MustCompile("[.!?][)\"']?\\s+[A-Z{`\\[]")
)

// ParseTemplate reads sentences with places. A brace or bracket that begins no place is text.
func ParseTemplate(text string) Template {
	var t Template
	for _, one := range sentences(text) {
		t = append(t, parseSentence(one))
	}
	return t
}

// ParsePhrase reads a text with places that is said as a whole or not at all, such as a title or a name. It has no optional words.
func ParsePhrase(text string) Template {
	return Template{{{parts: parseParts(text)}}}
}

// sentences cuts a text after each end of a sentence, but not between backticks or inside a place or optional words.
func sentences(text string) []string {
	var list []string
	begin := 0
	for _, m := range sentenceEnd.FindAllStringIndex(text, -1) {
		end := m[1] - 1
		if whole(text[begin:end]) {
			list = append(list, text[begin:end])
			begin = end
		}
	}
	return append(list, text[begin:])
}

// whole tells whether everything that begins in a text also ends in it.
func whole(text string) bool {
	return strings.Count(text, "`")%2 == 0 && strings.Count(text, "{") == strings.Count(text, "}") && strings.Count(text, "[[") == strings.Count(text, "]]")
}

func parseSentence(text string) sentence {
	var s sentence
	begin := 0
	for _, m := range bracketed.FindAllStringSubmatchIndex(text, -1) {
		s = append(s, phrase{parts: parseWords(text[begin:m[0]])}, phrase{parts: parseWords(text[m[2]:m[3]]), optional: true})
		begin = m[1]
	}
	return append(s, phrase{parts: parseWords(text[begin:])})
}

// parseWords reads a part of a sentence. A command in it that a shell would run is one for which the same holds as for a fix's.
func parseWords(text string) []templatePart {
	var parts []templatePart
	begin := 0
	for _, m := range coded.FindAllStringIndex(text, -1) {
		c, err := ParseCommand(text[m[0]+1 : m[1]-1])
		if err != nil || c.Kind != command.Sh || len(c.places) == 0 {
			continue
		}
		parts = append(parts, parseParts(text[begin:m[0]])...)
		parts = append(parts, templatePart{command: &c})
		begin = m[1]
	}
	return append(parts, parseParts(text[begin:])...)
}

func parseParts(text string) []templatePart {
	var parts []templatePart
	begin := 0
	for _, m := range placeholder.FindAllStringSubmatchIndex(text, -1) {
		part := templatePart{names: strings.Split(text[m[2]:m[3]], ", "), hasWords: m[4] >= 0}
		if part.hasWords {
			part.words = text[m[4]:m[5]]
		}
		parts = append(parts, templatePart{text: text[begin:m[0]]}, part)
		begin = m[1]
	}
	return append(parts, templatePart{text: text[begin:]})
}

// Names are the names that the template has places for.
func (t Template) Names() []string {
	var names []string
	for _, part := range t.parts() {
		names = append(names, part.names...)
	}
	return names
}

// Words are the words that stand in the places of what is not known.
func (t Template) Words() []string {
	var words []string
	for _, part := range t.parts() {
		if part.hasWords {
			words = append(words, part.words)
		}
	}
	return words
}

func (t Template) parts() []templatePart {
	var all []templatePart
	for _, s := range t {
		for _, p := range s {
			for _, part := range p.parts {
				if part.command != nil {
					all = append(all, part.command.places...)
				}
				all = append(all, part)
			}
		}
	}
	return all
}

// Unfilled is the text when nothing is known.
func (t Template) Unfilled() string { return t.Fill(NewScope().NewSituation()) }

// Outline is the text without any value: where a place has no words of its own, stands what name gives for it. Optional words that would
// need that are left out.
func (t Template) Outline(name func(string) string) string {
	nothing := NewScope().NewSituation()
	var b strings.Builder
	for _, s := range t {
		for _, p := range s {
			text, ok := p.fill(nothing)
			if !ok && !p.optional {
				text = p.outline(nothing, name)
			}
			b.WriteString(text)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func (p phrase) outline(nothing *Situation, name func(string) string) string {
	var b strings.Builder
	for _, part := range p.parts {
		text, ok := part.fill(nothing)
		switch {
		case ok:
		case part.command != nil:
			text = "`" + part.command.Outline(name) + "`"
		default:
			text = name(part.names[0])
		}
		b.WriteString(text)
	}
	return b.String()
}

// Fill puts the situation's values in their places. It is empty when nothing can be said.
func (t Template) Fill(s *Situation) string {
	var b strings.Builder
	for _, sentence := range t {
		b.WriteString(sentence.fill(s))
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func (n sentence) fill(s *Situation) string {
	var b strings.Builder
	for _, p := range n {
		text, ok := p.fill(s)
		if !ok && !p.optional {
			return ""
		}
		b.WriteString(text)
	}
	return b.String()
}

// fill is the phrase with the situation's values; not ok when one is not known.
func (p phrase) fill(s *Situation) (text string, ok bool) {
	var b strings.Builder
	for _, part := range p.parts {
		said, known := part.fill(s)
		if !known {
			return "", false
		}
		b.WriteString(said)
	}
	return b.String(), true
}

func (part templatePart) fill(s *Situation) (text string, ok bool) {
	if part.command != nil {
		text = part.command.Fill(s)
		return "`" + text + "`", text != ""
	}
	if len(part.names) == 0 {
		return part.text, true
	}
	missing := ""
	for _, name := range part.names {
		v := s.lookup(name)
		switch {
		case v.IsNil() && !strings.Contains(name, "."): // known to be absent
			missing = "no " + name
		case v.Known() && !v.IsNil() && v.String() != "":
			return clip(v.String()), true
		}
	}
	if part.hasWords {
		return part.words, true
	}
	return missing, missing != ""
}

// maxFilled is how many bytes of a value, such as an exception's message, a sentence takes.
const maxFilled = 300

// clip drops the word that the cut would go through, unless it is very long: who takes secrets out later would not know half of one.
func clip(text string) string {
	if len(text) > maxFilled {
		text = condensed(text)
	}
	if len(text) <= maxFilled {
		return text
	}
	text = strings.ToValidUTF8(text[:maxFilled], "")
	if end := strings.LastIndexAny(text, " \t\n\"',;(){}[]<>&|"); end >= maxFilled/2 {
		text = text[:end+1]
	}
	return text + "…"
}

// lookup is the value of a name or of a member such as error.user.file.
func (s *Situation) lookup(name string) Value {
	if _, ok := s.scope.byName[name]; ok {
		return s.Value(name)
	}
	top, rest, found := strings.Cut(name, ".")
	v := s.Value(top)
	for found && v.state == present {
		var member string
		member, rest, found = strings.Cut(rest, ".")
		v = v.Member(member)
	}
	return v
}
