package pyrepr

import "strings"

// parser reads reprs from s, beginning at i. It never fails: what makes no sense is taken as text.
type parser struct {
	s     string
	i     int
	depth int
	end   bool // the text ended before what was begun
	deep  bool // brackets are nested too deep
}

// peek is the byte at the current place, 0 at the end.
func (p *parser) peek() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

func (p *parser) space() {
	for p.i < len(p.s) && (p.s[p.i] == ' ' || p.s[p.i] == '\t' || p.s[p.i] == '\n') {
		p.i++
	}
}

// enter goes into a bracket and tells whether that is still allowed.
func (p *parser) enter() bool {
	p.i++
	p.depth++
	if p.depth > maxDepth {
		p.deep, p.end, p.i = true, true, len(p.s)
		return false
	}
	return true
}

// next is called after an item. It goes over a comma and tells whether another item follows before the closing bracket, which it
// goes over too.
func (p *parser) next(closing byte) bool {
	p.space()
	for p.peek() == ',' { // a repr may itself end in a comma
		p.i++
		p.space()
	}
	switch c := p.peek(); {
	case p.i >= len(p.s):
		p.end = true
		return false
	case c == closing || isClosing(c):
		p.i++
		p.depth--
		return false
	}
	return true
}

// dict reads {...}; set tells that it was a set or something else without keys.
func (p *parser) dict() (entries []Entry, set bool) {
	if !p.enter() {
		return nil, false
	}
	p.space()
	if p.peek() == '}' {
		p.i++
		p.depth--
		return nil, false
	}
	for more := p.i < len(p.s) || p.next('}'); more; more = p.next('}') {
		start := p.i
		key, ok := p.key()
		if !ok {
			p.i = start
			p.item(':')
			if n := len(entries); n > 0 {
				entries[n-1].goOn(p.s[start:p.i])
			} else {
				set = true
			}
			continue
		}
		p.space()
		start = p.i
		value := p.item(':')
		entries = append(entries, Entry{Key: key, Raw: strings.TrimSpace(p.s[start:p.i]), Value: value})
	}
	return entries, set
}

// goOn takes what stands behind a comma that belongs to the value: nothing protects it.
func (e *Entry) goOn(text string) {
	e.Raw += ", " + strings.TrimSpace(text)
	e.Value = e.Raw
}

// maxKey bounds how far a colon is looked for.
const maxKey = 256

// key reads a key with its colon: a string, or anything short without brackets.
func (p *parser) key() (string, bool) {
	if isQuote(p.peek()) {
		key, ok := p.str()
		p.space()
		if !ok || p.peek() != ':' {
			return "", false
		}
		p.i++
		return key, true
	}
	for start := p.i; p.i < len(p.s) && p.i-start < maxKey; p.i++ {
		switch c := p.s[p.i]; {
		case c == ':':
			p.i++
			return strings.TrimSpace(p.s[start : p.i-1]), true
		case strings.IndexByte(",{}[]=\n'\"", c) >= 0:
			return "", false
		}
	}
	return "", false
}

// str reads a string literal. It is none when a line ends in it.
func (p *parser) str() (string, bool) {
	quote := p.peek()
	p.i++
	for start := p.i; p.i < len(p.s); p.i++ {
		switch p.s[p.i] {
		case '\\':
			p.i++
		case '\n':
			return "", false
		case quote:
			p.i++
			return unescaped(p.s[start : p.i-1]), true
		}
	}
	p.i = len(p.s)
	p.end = true
	return "", false
}

// item reads one value up to the comma or bracket after it. in is what it is in: ':' a dict, '(' the arguments of a call, '[' a
// list. It is the value, or the text when it is not understood.
func (p *parser) item(in byte) any {
	start := p.i
	value, ok := p.value(in)
	p.space()
	if c := p.peek(); ok && (c == ',' || isClosing(c) || p.i >= len(p.s)) {
		return value
	}
	p.text()
	return strings.TrimSpace(p.s[start:p.i])
}

// text goes to the comma or bracket that ends what is not understood.
func (p *parser) text() {
	around := brackets{begun: true, open: 1}
	for ; p.i < len(p.s); p.i++ {
		c := p.s[p.i]
		if around.open == 1 && around.quote == 0 && (c == ',' || isClosing(c)) {
			return
		}
		around.addByte(c)
	}
	p.end = true
}

// value reads one value; in is as item has it. It is not ok when nothing there is understood.
func (p *parser) value(in byte) (any, bool) {
	switch c := p.peek(); {
	case c == '{':
		start := p.i
		entries, set := p.dict()
		if set {
			return p.s[start:p.i], true
		}
		return dictMap(entries), true
	case c == '[':
		return p.list(']'), true
	case c == '(':
		return p.list(')'), true
	case c == '<':
		return p.angle()
	case isQuote(c):
		return p.str()
	}
	word := p.word()
	switch {
	case p.peek() == '(':
		return p.call(word)
	case p.peek() == '=' && in != '(':
		return p.keywords(word, in)
	case isQuote(p.peek()) && len(word) <= 2: // b'...', r'...', rb'...'
		return p.str()
	}
	return scalar(word), word != ""
}

// word goes over a name or a number.
func (p *parser) word() string {
	start := p.i
	for p.i < len(p.s) && (isWord(p.s[p.i]) || strings.IndexByte(".+-", p.s[p.i]) >= 0) {
		p.i++
	}
	return p.s[start:p.i]
}

// dictMap is a dict as a value.
func dictMap(entries []Entry) map[string]any {
	m := make(map[string]any, len(entries))
	for _, e := range entries {
		m[e.Key] = e.Value
	}
	return m
}

// list reads [...] or (...).
func (p *parser) list(closing byte) []any {
	items := []any{}
	if !p.enter() {
		return items
	}
	for more := p.next(closing); more; more = p.next(closing) {
		before := p.i
		items = append(items, p.item('['))
		p.must(before)
	}
	return items
}

// must makes sure that a loop gets on.
func (p *parser) must(before int) {
	if p.i == before && p.i < len(p.s) && p.s[p.i] != ',' {
		p.i++
	}
}
