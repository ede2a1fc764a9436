package pyrepr

import "strings"

// reprParser reads reprs from s, beginning at i. It never fails: what makes no sense is taken as text.
type reprParser struct {
	s     string
	i     int
	depth int
	end   bool // the text ended before what was begun
	deep  bool // brackets are nested too deep
}

// peek is the byte at the current place, 0 at the end.
func (p *reprParser) peek() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

func (p *reprParser) space() {
	for p.i < len(p.s) && (p.s[p.i] == ' ' || p.s[p.i] == '\t' || p.s[p.i] == '\n') {
		p.i++
	}
}

// enter goes into a bracket and tells whether that is still allowed.
func (p *reprParser) enter() bool {
	p.i++
	if p.depth++; p.depth > maxDictDepth {
		p.deep, p.end, p.i = true, true, len(p.s)
		return false
	}
	return true
}

// next is called after an item. It goes over a comma and tells whether another item follows before the closing bracket, which it
// goes over too.
func (p *reprParser) next(closing byte) bool {
	p.space()
	for p.peek() == ',' { // a repr may itself end in a comma
		p.i++
		p.space()
	}
	switch c := p.peek(); {
	case p.i >= len(p.s):
		p.end = true
		return false
	case c == closing || c == ')' || c == ']' || c == '}':
		p.i++
		p.depth--
		return false
	}
	return true
}

// dict reads {...}; set tells that it was a set or something else without keys.
func (p *reprParser) dict() (entries []DictEntry, set bool) {
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
			set = set || len(entries) == 0
			if n := len(entries); n > 0 { // a value with a comma that nothing protects
				last := &entries[n-1]
				last.Raw += ", " + strings.TrimSpace(p.s[start:p.i])
				last.Value = last.Raw
			}
			continue
		}
		p.space()
		start = p.i
		value := p.item(':')
		entries = append(entries, DictEntry{Key: key, Raw: strings.TrimSpace(p.s[start:p.i]), Value: value})
	}
	return entries, set
}

// maxKey bounds how far a colon is looked for.
const maxKey = 256

// key reads a key with its colon: a string, or anything short without brackets.
func (p *reprParser) key() (string, bool) {
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
func (p *reprParser) str() (string, bool) {
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
			return pyString(p.s[start : p.i-1]), true
		}
	}
	p.i = len(p.s)
	p.end = true
	return "", false
}

// item reads one value up to the comma or bracket after it. in is what it is in: ':' a dict, '(' the arguments of a call, '[' a
// list. It is the value, or the text when it is not understood.
func (p *reprParser) item(in byte) any {
	start := p.i
	value, ok := p.value(in)
	p.space()
	if c := p.peek(); ok && (c == ',' || c == ')' || c == ']' || c == '}' || p.i >= len(p.s)) {
		return value
	}
	p.text()
	return strings.TrimSpace(p.s[start:p.i])
}

// text goes to the comma or bracket that ends what is not understood.
func (p *reprParser) text() {
	var d reprDepth
	d.begun, d.open = true, 1
	for ; p.i < len(p.s); p.i++ {
		c := p.s[p.i]
		if d.open == 1 && d.quote == 0 && (c == ',' || c == ')' || c == ']' || c == '}') {
			return
		}
		d.add(p.s[p.i : p.i+1])
	}
	p.end = true
}

func (p *reprParser) value(in byte) (any, bool) {
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
	start := p.i
	for p.i < len(p.s) && (isWord(p.s[p.i]) || strings.IndexByte(".+-", p.s[p.i]) >= 0) {
		p.i++
	}
	word := p.s[start:p.i]
	switch {
	case p.peek() == '(':
		return p.call(word)
	case p.peek() == '=' && in != '(':
		return p.keywords(word, in)
	case isQuote(p.peek()) && len(word) <= 2: // b'...', r'...'
		return p.str()
	}
	return pyScalar(word), word != ""
}

func dictMap(entries []DictEntry) map[string]any {
	m := make(map[string]any, len(entries))
	for _, e := range entries {
		m[e.Key] = e.Value
	}
	return m
}

func (p *reprParser) list(closing byte) []any {
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
func (p *reprParser) must(before int) {
	if p.i == before && p.i < len(p.s) && p.s[p.i] != ',' {
		p.i++
	}
}
