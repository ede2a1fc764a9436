package command

import (
	"errors"
	"strings"
)

// code follows a piece of Python or of a configuration through its quotes, comments and brackets.
type code struct {
	quote byte // of the string that is open, 0 outside of one
	plain bool // what is open is a comment, or a string in which more than its quote has a meaning
	depth int  // of brackets
}

// pythonPlaces are the places of a piece of Python: a name or number in its code, a part of a literal in its quotes.
func pythonPlaces(texts []string) ([]place, error) {
	places, c := codePlaces(texts, asPythonName, inPythonQuotes)
	if c.quote != 0 || c.depth != 0 {
		return places, errors.New("a quote or a bracket of this Python has no partner")
	}
	return places, nil
}

// configPlaces are the places of a configuration, YAML or JSON: plain words, or a part of a string.
func configPlaces(texts []string) []place {
	places, _ := codePlaces(texts, asPlainWord, inYAMLQuotes)
	return places
}

// codePlaces are the places between texts; bare is how they take a value outside of strings and comments, single between single quotes.
func codePlaces(texts []string, bare, single place) ([]place, code) {
	var places []place
	var c code
	for i, text := range texts {
		if i > 0 {
			places = append(places, c.place(bare, single))
		}
		for i := range len(text) {
			c.next(text, i)
		}
	}
	return places, c
}

func (c *code) place(bare, single place) place {
	switch {
	case c.plain && c.quote == 0:
		return inComment
	case c.plain:
		return asPlainWord
	case c.quote == '"':
		return inDoubleQuotes
	case c.quote == '\'':
		return single
	}
	return bare
}

// next takes one byte. Strings in three quotes are read as three strings, of which the middle one is the text: none of ours has a quote in it.
func (c *code) next(text string, i int) {
	b := text[i]
	switch {
	case c.quote != 0:
		if b == c.quote && !escaped(text[:i]) {
			c.quote, c.plain = 0, false
		}
	case c.plain:
		c.plain = b != '\n'
	case b == '#':
		c.plain = true
	case b == '"' || b == '\'':
		c.quote = b
		c.plain = i > 0 && strings.IndexByte("fFrRbBtT", text[i-1]) >= 0
	case strings.IndexByte("([{", b) >= 0:
		c.depth++
	case strings.IndexByte(")]}", b) >= 0:
		c.depth--
	}
}

// escaped tells whether an odd number of backslashes stands at the end of a text.
func escaped(before string) bool {
	return (len(before)-len(strings.TrimRight(before, `\`)))%2 == 1
}

// inDoubleQuotes is a place in a string of Python, YAML or JSON between double quotes, which have these escapes in common.
func inDoubleQuotes(value string) (string, bool) {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value), true
}

func inPythonQuotes(value string) (string, bool) {
	return strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(value), true
}

// inYAMLQuotes is a place between single quotes in YAML, where a quote is doubled and a backslash is itself.
func inYAMLQuotes(value string) (string, bool) { return strings.ReplaceAll(value, "'", "''"), true }

func asPythonName(value string) (string, bool) { return value, pythonName.MatchString(value) }
