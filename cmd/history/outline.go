package main

import (
	"bytes"
	"strings"
)

// outline is a Python source with the bodies of its functions left out, which are most of it: parsing the rest is several times faster.
// What a body tells of names stays, as statements of its own: attributes that are set on self, and names taken out of **kwargs. The body
// of a module's __getattr__ stays, and so does one that may make names of the module.
//
// It knows of Python's grammar only strings, brackets, comments and indentation. Where it is mistaken about a file, Python cannot parse
// the outline, and gets the whole.
func outline(source []byte) []byte {
	l := lines{rest: source}
	out := make([]byte, 0, len(source)/4)
	for l.next() {
		if !l.isFunction() {
			out = append(out, l.text...)
			continue
		}
		head, indent := l.text, l.indent
		body, ok := l.body(indent)
		switch {
		case !ok: // on the line of the head
			out = append(out, head...)
		case bytes.Contains(head, []byte("def __getattr__")), bytes.Contains(body, []byte("globals()")), bytes.Contains(body, []byte("__name__]")):
			out = append(append(out, head...), body...)
		default:
			out = append(out, head...)
			out = appendBody(out, head, body, strings.Repeat(" ", indent+1))
		}
	}
	return out
}

// lines reads the logical lines of a source.
type lines struct {
	rest   []byte
	text   []byte // the line, with its end
	indent int
	colon  bool // its last character is a colon, comments aside
}

// next reads a line; it passes over blank ones and comments.
func (l *lines) next() bool {
	for len(l.rest) > 0 {
		l.indent = indentation(l.rest)
		end := l.end()
		l.text, l.rest = l.rest[:end], l.rest[end:]
		trimmed := bytes.TrimSpace(l.text)
		if len(trimmed) > 0 && trimmed[0] != '#' {
			return true
		}
	}
	return false
}

func indentation(line []byte) (columns int) {
	for _, c := range line {
		switch c {
		case ' ':
			columns++
		case '\t':
			columns += 8 - columns%8
		default:
			return columns
		}
	}
	return columns
}

// end is where the logical line at the start of the rest ends.
func (l *lines) end() int {
	depth := 0
	l.colon = false
	for i := 0; i < len(l.rest); {
		switch c := l.rest[i]; c {
		case '"', '\'':
			i = afterString(l.rest, i)
			l.colon = false
			continue
		case '#':
			for i < len(l.rest) && l.rest[i] != '\n' {
				i++
			}
			continue
		case '\\':
			i++
			if i < len(l.rest) && l.rest[i] == '\r' {
				i++
			}
		case '(', '[', '{':
			depth++
			l.colon = false
		case ')', ']', '}':
			depth--
			l.colon = false
		case '\n':
			if depth <= 0 {
				return i + 1
			}
		case ' ', '\t', '\r':
		default:
			l.colon = c == ':'
		}
		i++
	}
	return len(l.rest)
}

// afterString is the place after the string literal that begins at i.
func afterString(source []byte, i int) int {
	quote := source[i : i+1]
	if long := bytes.Repeat(quote, 3); bytes.HasPrefix(source[i:], long) {
		quote = long
	}
	for i += len(quote); i < len(source); i++ {
		switch {
		case source[i] == '\\':
			i++
		case bytes.HasPrefix(source[i:], quote):
			return i + len(quote)
		case source[i] == '\n' && len(quote) == 1:
			return i
		}
	}
	return len(source)
}

func (l *lines) isFunction() bool {
	text := bytes.TrimLeft(l.text, " \t")
	return bytes.HasPrefix(text, []byte("def ")) || bytes.HasPrefix(text, []byte("async def "))
}

// body reads the lines that are further in than a head; false when there are none.
func (l *lines) body(indent int) ([]byte, bool) {
	if !l.colon {
		return nil, false
	}
	start := l.rest
	for {
		before := l.rest
		if !l.next() {
			return start[:len(start)-len(l.rest)], true
		}
		if l.indent <= indent {
			l.rest = before
			return start[:len(start)-len(before)], true
		}
	}
}

// appendBody writes what a function's body tells of names.
func appendBody(out, head, body []byte, indent string) []byte {
	said := make(map[string]bool)
	say := func(statement string) {
		if !said[statement] {
			said[statement] = true
			out = append(append(append(out, indent...), statement...), '\n')
		}
	}
	eachWord(body, "self", func(rest, _ []byte) {
		if name := assigned(rest); name != "" {
			say("self." + name + " = 0")
		}
	})
	if keywords := keywordsName(head); keywords != "" {
		eachWord(body, keywords, func(rest, before []byte) {
			if name := popped(rest, before); name != "" {
				say(keywords + ".pop('" + name + "')")
			}
		})
	}
	say("pass")
	return out
}

// eachWord calls see with what follows and what precedes each place where a word stands.
func eachWord(text []byte, word string, see func(after, before []byte)) {
	for at := 0; ; {
		next := bytes.Index(text[at:], []byte(word))
		if next < 0 {
			return
		}
		start, end := at+next, at+next+len(word)
		if (start == 0 || !isName(text[start-1])) && (end == len(text) || !isName(text[end])) {
			see(text[end:], text[:start])
		}
		at = end
	}
}

func isName(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

// assigned is the attribute that a statement sets, when what follows self is .x = or .x: int =, .x, self.y = or .register_buffer("x".
func assigned(rest []byte) string {
	const longest = 120 // bytes of an annotation
	name, rest := attribute(rest)
	switch name {
	case "":
		return ""
	case "register_buffer", "register_parameter", "add_module":
		return quoted(bytes.TrimPrefix(rest, []byte("(")))
	}
	rest = bytes.TrimLeft(rest, " \t")
	for bytes.HasPrefix(rest, []byte(",")) {
		others := bytes.TrimLeft(rest[1:], " \t")
		if !bytes.HasPrefix(others, []byte("self")) {
			return ""
		}
		_, rest = attribute(others[len("self"):])
		rest = bytes.TrimLeft(rest, " \t")
	}
	if bytes.HasPrefix(rest, []byte(":")) {
		equals := bytes.IndexAny(rest[:min(longest, len(rest))], "=\n")
		if equals < 0 {
			return ""
		}
		rest = rest[equals:]
	}
	if bytes.HasPrefix(rest, []byte("=")) && !bytes.HasPrefix(rest, []byte("==")) {
		return name
	}
	return ""
}

// attribute splits ".name ..." into the name and what follows.
func attribute(text []byte) (name string, rest []byte) {
	if !bytes.HasPrefix(text, []byte(".")) {
		return "", text
	}
	end := 1
	for end < len(text) && isName(text[end]) {
		end++
	}
	return string(text[1:end]), text[end:]
}

// keywordsName is kwargs of **kwargs in the head of a function.
func keywordsName(head []byte) string {
	_, after, found := bytes.Cut(head, []byte("**"))
	if !found {
		return ""
	}
	name, _ := attribute(append([]byte("."), bytes.TrimLeft(after, " ")...))
	return name
}

// popped is the name that is taken out of kwargs, or looked for in it.
func popped(rest, before []byte) string {
	method, arguments := attribute(rest)
	if (method == "pop" || method == "get") && bytes.HasPrefix(arguments, []byte("(")) {
		return quoted(arguments[1:])
	}
	if asked, ok := bytes.CutSuffix(before, []byte(" in ")); ok && len(asked) > 1 {
		asked = bytes.TrimSuffix(asked, []byte(" not"))
		if quote := asked[len(asked)-1]; quote == '"' || quote == '\'' {
			if start := bytes.LastIndexByte(asked[:len(asked)-1], quote); start >= 0 {
				return quoted(asked[start:])
			}
		}
	}
	return ""
}

// quoted is the name in the string literal that a text begins with, "" when it holds anything else than a name.
func quoted(text []byte) string {
	text = bytes.TrimSpace(text)
	if len(text) < 3 || text[0] != '"' && text[0] != '\'' {
		return ""
	}
	end := bytes.IndexByte(text[1:], text[0])
	if end < 1 {
		return ""
	}
	for _, c := range text[1 : 1+end] {
		if !isName(c) {
			return ""
		}
	}
	return string(text[1 : 1+end])
}
