package pyrepr

import "strings"

// maxAngle bounds how far the end of <...> is looked for.
const maxAngle = 512

// angle reads <...>: the quoted part of a class or a version, the name of an enum's member, or all of it.
func (p *parser) angle() (any, bool) {
	start, open := p.i, 0
	for ; p.i < len(p.s) && p.i-start < maxAngle; p.i++ {
		switch p.s[p.i] {
		case '<':
			open++
		case '>':
			open--
		}
		if open == 0 {
			p.i++
			return inAngle(p.s[start:p.i]), true
		}
	}
	if p.i >= len(p.s) {
		p.end = true
	}
	return nil, false
}

// inAngle is what <...> stands for.
func inAngle(text string) string {
	inside := text[1 : len(text)-1]
	for _, form := range [][2]string{{"class '", "'"}, {"Version('", "')"}} {
		if s, ok := strings.CutPrefix(inside, form[0]); ok && strings.HasSuffix(s, form[1]) {
			return strings.TrimSuffix(s, form[1])
		}
	}
	if name, _, ok := strings.Cut(inside, ": "); ok && isDottedName(name) {
		return name // <AttnMask.causal: 2>
	}
	return text
}

// call reads name(...).
func (p *parser) call(name string) (any, bool) {
	start := p.i - len(name)
	if !p.enter() {
		return nil, false
	}
	var positional []any
	named := map[string]any{}
	for more := p.next(')'); more; more = p.next(')') {
		before := p.i
		if word := p.argument(); word != "" {
			named[word] = p.item('(')
		} else {
			positional = append(positional, p.item('('))
		}
		p.must(before)
	}
	switch {
	case len(positional) == 1:
		return positional[0], true
	case len(positional) == 0 && len(named) > 0:
		if _, ok := named["type"]; !ok {
			named["type"] = name
		}
		return named, true
	}
	return p.s[start:p.i], true
}

// argument goes over "name=" and gives the name, or "".
func (p *parser) argument() string {
	i := p.i
	for i < len(p.s) && isWord(p.s[i]) {
		i++
	}
	if i == p.i || i+1 >= len(p.s) || p.s[i] != '=' || p.s[i+1] == '=' {
		return ""
	}
	name := p.s[p.i:i]
	p.i = i + 1
	p.space()
	return name
}

// keywords reads "name=value, name=value" without brackets, of which the first name has been read. In a list a name that comes
// again begins the next item.
func (p *parser) keywords(name string, in byte) (any, bool) {
	named := map[string]any{}
	p.i -= len(name)
	for {
		before := p.i
		word := p.argument()
		if word == "" {
			return nil, false
		}
		if _, again := named[word]; again && in == '[' {
			p.i = before
			return named, true
		}
		named[word] = p.item('(')
		comma := p.i
		if p.peek() != ',' {
			return named, true
		}
		p.i++
		p.space()
		word = p.argument()
		p.i = comma
		if _, again := named[word]; word == "" || again && in == '[' {
			return named, true
		}
		p.i++
		p.space()
	}
}
