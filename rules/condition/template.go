package condition

import (
	"regexp"
	"strings"
)

// Template is a text with places for facts: {cudnn}, or {cudnn|the cuDNN at hand} with words for when nobody knows it.
type Template []templatePart

type templatePart struct {
	text     string // literal, when name is empty
	name     string
	fallback string
}

var placeholder = regexp.MustCompile(`\{([a-z_][A-Za-z0-9_.]*)(?:\|([^{}]*))?\}`)

// ParseTemplate reads a text with places. A brace that begins none is text.
func ParseTemplate(text string) Template {
	var t Template
	for len(text) > 0 {
		m := placeholder.FindStringSubmatchIndex(text)
		if m == nil {
			return append(t, templatePart{text: text})
		}
		if m[0] > 0 {
			t = append(t, templatePart{text: text[:m[0]]})
		}
		part := templatePart{name: text[m[2]:m[3]]}
		part.fallback = "unknown " + part.name
		if m[4] >= 0 {
			part.fallback = text[m[4]:m[5]]
		}
		t = append(t, part)
		text = text[m[1]:]
	}
	return t
}

// Names are the names that the template has places for.
func (t Template) Names() []string {
	var names []string
	for _, part := range t {
		if part.name != "" {
			names = append(names, part.name)
		}
	}
	return names
}

// Fill puts the situation's values in their places.
func (t Template) Fill(s *Situation) string {
	var b strings.Builder
	for _, part := range t {
		if part.name == "" {
			b.WriteString(part.text)
			continue
		}
		switch v := s.lookup(part.name); {
		case v.Known() && !v.IsNil():
			b.WriteString(clip(v.String()))
		case v.IsNil() && part.fallback == "unknown "+part.name:
			b.WriteString("no " + part.name)
		default:
			b.WriteString(part.fallback)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// maxFilled is how many bytes of a value, such as an exception's message, a sentence takes.
const maxFilled = 300

func clip(text string) string {
	if len(text) > maxFilled {
		return strings.ToValidUTF8(text[:maxFilled], "") + "…"
	}
	return text
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
