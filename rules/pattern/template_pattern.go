package pattern

import (
	"regexp/syntax"
	"slices"
	"sync"
)

// templatePattern matches a line when the pattern that it was made of matches some line of the same template.
type templatePattern struct {
	*Pattern
	same bool // it matches what the pattern matches, and nothing else
}

// AnyNumbers is a pattern that matches every line of a template when p matches one of them.
func (p *Pattern) AnyNumbers() *Pattern { return p.template().Pattern }

// IgnoresNumbers tells whether the pattern matches the same places in all lines of a template.
func (p *Pattern) IgnoresNumbers() bool { return p.template().same }

// MatchesTemplate tells whether the pattern matches the lines of a template, one of which is given. It is not known when that depends
// on the numbers.
func (p *Pattern) MatchesTemplate(line string) (matches, known bool) {
	template := p.template()
	if !template.Matches(line) {
		return false, true
	}
	return template.same, template.same
}

func (p *Pattern) newTemplatePattern() templatePattern {
	tree, err := syntax.Parse(p.source(), syntax.Perl)
	if err != nil {
		return templatePattern{p, false} // it was parsed before
	}
	wide := widened(tree, false, false)
	if wide == tree {
		return templatePattern{p, true}
	}
	return templatePattern{fromTree(wide, sync.OnceValue(wide.String)), false}
}

var anyDigit = []rune{'0', '9'}

// widened is an expression that ignores numbers and matches at least what re does; re itself if it ignores them. Begins and ends tell
// whether it matches only where a word or a line begins, and ends.
func widened(re *syntax.Regexp, begins, ends bool) *syntax.Regexp {
	switch re.Op {
	case syntax.OpLiteral:
		if ignoresNumbers(string(re.Rune), begins, ends) {
			return re
		}
		return widenedLiteral(re)
	case syntax.OpCharClass:
		return widenedClass(re)
	}
	return widenedParts(re, begins, ends)
}

// widenedLiteral takes any digit in place of each of a literal's.
func widenedLiteral(re *syntax.Regexp) *syntax.Regexp {
	wide := &syntax.Regexp{Op: syntax.OpConcat, Flags: re.Flags}
	for _, c := range re.Rune {
		one := &syntax.Regexp{Op: syntax.OpLiteral, Flags: re.Flags, Rune: []rune{c}}
		if '0' <= c && c <= '9' {
			one = &syntax.Regexp{Op: syntax.OpCharClass, Rune: anyDigit}
		}
		wide.Sub = append(wide.Sub, one)
	}
	return wide
}

// widenedClass takes all digits when a class of characters has some of them.
func widenedClass(re *syntax.Regexp) *syntax.Regexp {
	digits := 0
	for i := 0; i < len(re.Rune); i += 2 {
		digits += max(0, int(min(re.Rune[i+1], '9')-max(re.Rune[i], '0'))+1)
	}
	if digits == 0 || digits == 10 {
		return re
	}
	return &syntax.Regexp{Op: syntax.OpCharClass, Flags: re.Flags, Rune: slices.Concat(re.Rune, anyDigit)}
}

// widenedParts widens each part of an expression.
func widenedParts(re *syntax.Regexp, begins, ends bool) *syntax.Regexp {
	concat := re.Op == syntax.OpConcat
	whole := concat || re.Op == syntax.OpAlternate || re.Op == syntax.OpCapture
	wide, same := *re, true
	wide.Sub = make([]*syntax.Regexp, len(re.Sub))
	for i, sub := range re.Sub {
		begins, ends := whole && begins, whole && ends
		if concat && i > 0 {
			begins = isEdge(re.Sub[i-1])
		}
		if concat && i < len(re.Sub)-1 {
			ends = isEdge(re.Sub[i+1])
		}
		wide.Sub[i] = widened(sub, begins, ends)
		same = same && wide.Sub[i] == sub
	}
	if same {
		return re
	}
	return &wide
}

// isEdge tells whether an expression matches only where a word or a line begins or ends.
func isEdge(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpWordBoundary, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText:
		return true
	}
	return false
}
