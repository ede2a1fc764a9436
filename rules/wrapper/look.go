package wrapper

import "regexp/syntax"

// look is a cheap first look at a line: what the first two bytes of a form can be, and the longest literal that each text of it has.
type look struct {
	first, second [256]bool
	literal       string
}

// lookOf derives the look from the expression of a form. It panics when that is wrong.
func lookOf(source string) *look {
	tree, err := syntax.Parse(`^(?:`+source+`)`, syntax.Perl)
	if err != nil {
		panic(err)
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		panic(err)
	}
	l := &look{}
	next, _ := step(prog, []uint32{uint32(prog.Start)}, &l.first)
	_, ended := step(prog, next, &l.second)
	if ended {
		all(&l.second)
	}
	l.literal = required(tree)
	return l
}

// begins tells whether a text may begin with the form, by its first two bytes.
func (l *look) begins(text string) bool {
	return len(text) > 1 && l.first[text[0]] && l.second[text[1]]
}

// required is the longest literal that every text of an expression has, "" for none.
func required(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return string(re.Rune)
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpConcat:
		longest := ""
		for _, sub := range re.Sub {
			if l := required(sub); len(l) > len(longest) {
				longest = l
			}
		}
		return longest
	}
	return ""
}

// step notes in bytes with which byte a text can go on from some states of an expression. It gives the states behind that byte, and tells
// whether the expression can end before it.
func step(prog *syntax.Prog, from []uint32, bytes *[256]bool) (next []uint32, ended bool) {
	seen := make(map[uint32]bool)
	for len(from) > 0 {
		pc := from[len(from)-1]
		from = from[:len(from)-1]
		if seen[pc] {
			continue
		}
		seen[pc] = true
		switch in := &prog.Inst[pc]; in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			from = append(from, in.Out, in.Arg)
		case syntax.InstCapture, syntax.InstNop, syntax.InstEmptyWidth:
			from = append(from, in.Out)
		case syntax.InstMatch:
			ended = true
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			for c := range 256 {
				// A byte of a longer character says nothing yet: it stands for all of them.
				if c >= 0x80 || in.MatchRune(rune(c)) {
					bytes[c] = true
				}
			}
			next = append(next, in.Out)
		}
	}
	return next, ended
}

func all(bytes *[256]bool) {
	for c := range bytes {
		bytes[c] = true
	}
}
