package rules

import (
	"encoding/binary"
	"math/bits"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// Lines are of one kind when they differ only in numbers: the digits that say how many, when or where. Digits with a letter or an
// underscore before them are part of a name, as in bf16, and zeros alone say that there is nothing: both stay as they are. Most of what
// rules ask about a line has the same answer for all of its kind.

// Unnumbered appends a line to dst with a 1 in place of each digit of its numbers: that is the same for all of its kind. It refuses
// lines with other bytes than printable ASCII, some of which may have digits side by side in their text that are apart in their bytes.
func Unnumbered(dst, line []byte) (kind []byte, ok bool) {
	if !isPlain(line) {
		return nil, false
	}
	from := len(dst)
	dst = append(dst, line...)
	line = dst[from:]
	for i := toDigit(line, 0); i < len(line); {
		end, zeros := i, true
		for ; end < len(line) && isDigit(line[end]); end++ {
			zeros = zeros && line[end] == '0'
		}
		for k := i; k < end && !zeros && (i == 0 || !inName(line[i-1])); k++ {
			line[k] = '1'
		}
		i = toDigit(line, end)
	}
	return dst, true
}

// toDigit is where the next digit of a line of ASCII is from a place on, or the line's end.
func toDigit(line []byte, from int) int {
	for ; from+8 <= len(line); from += 8 { // a byte of the sum has its highest bit unless it stems from a digit
		sum := (binary.LittleEndian.Uint64(line[from:]) ^ each*'0') + each*(0x80-10)
		if digits := ^sum & (each * 0x80); digits != 0 {
			return from + bits.TrailingZeros64(digits)/8
		}
	}
	for ; from < len(line) && !isDigit(line[from]); from++ {
	}
	return from
}

// isPlain tells whether a line consists of printable ASCII and tabs.
func isPlain(line []byte) bool {
	for len(line) >= 8 { // none of the three has a highest bit where all bytes are printable
		eight := binary.LittleEndian.Uint64(line)
		if (eight|(eight+each)|(eight-each*' '))&(each*0x80) != 0 && !allPlain(line[:8]) {
			return false
		}
		line = line[8:]
	}
	return allPlain(line)
}

func allPlain(line []byte) bool {
	for _, c := range line {
		if (c < ' ' || c > '~') && c != '\t' {
			return false
		}
	}
	return true
}

// each has a 1 in each of eight bytes.
const each = 0x0101010101010101

// IgnoresNumbers tells whether surely all lines of a kind, or none, contain a literal.
func IgnoresNumbers(literal string) bool { return ignoresNumbers(literal, false, false) }

// ignoresNumbers is IgnoresNumbers for a literal of which is known whether it begins and ends where a word or a line does.
func ignoresNumbers(literal string, begins, ends bool) bool {
	for i := 0; i < len(literal); i++ {
		if !isDigit(literal[i]) {
			continue
		}
		start, zeros := i, true
		for ; i < len(literal) && isDigit(literal[i]); i++ {
			zeros = zeros && literal[i] == '0'
		}
		name := start > 0 && inName(literal[start-1])
		nothing := zeros && (start > 0 || begins) && (i < len(literal) || ends)
		if !name && !nothing {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return c-'0' <= 9 }

func inName(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }

// kindPattern matches a line when the pattern that it was made of matches some line of its kind.
type kindPattern struct {
	*Pattern
	same bool // it matches nothing else
}

// OfKind is a pattern that matches every line of whose kind p matches one.
func (p *Pattern) OfKind() *Pattern { return p.kind().Pattern }

func (p *Pattern) kindPattern() kindPattern {
	tree, err := syntax.Parse(p.source, syntax.Perl)
	if err != nil {
		return kindPattern{p, false} // it was parsed before
	}
	wide := widened(tree, false, false)
	if wide == tree {
		return kindPattern{p, true}
	}
	pattern, err := NewPattern(wide.String())
	if err != nil { // it is too long by now: any line may match
		pattern, _ = NewPattern("")
	}
	return kindPattern{pattern, false}
}

// matchesKind tells whether the pattern matches the lines of a kind, of which one is given: unknown when that depends on the numbers.
func (p *Pattern) matchesKind(line string) Value {
	switch kind := p.kind(); {
	case !kind.Matches(line):
		return falseValue
	case kind.same:
		return trueValue
	}
	return Value{}
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
		wide := &syntax.Regexp{Op: syntax.OpConcat, Flags: re.Flags}
		for _, c := range re.Rune {
			one := &syntax.Regexp{Op: syntax.OpLiteral, Flags: re.Flags, Rune: []rune{c}}
			if '0' <= c && c <= '9' {
				one = &syntax.Regexp{Op: syntax.OpCharClass, Rune: anyDigit}
			}
			wide.Sub = append(wide.Sub, one)
		}
		return wide
	case syntax.OpCharClass:
		digits := 0
		for i := 0; i < len(re.Rune); i += 2 {
			digits += max(0, int(min(re.Rune[i+1], '9')-max(re.Rune[i], '0'))+1)
		}
		if digits == 0 || digits == 10 {
			return re
		}
		return &syntax.Regexp{Op: syntax.OpCharClass, Flags: re.Flags, Rune: slices.Concat(re.Rune, anyDigit)}
	}
	return widenedParts(re, begins, ends)
}

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

// KindPatterns are patterns of which each matches in every line of whose kind one may be an event of the signature.
func (e *Entry) KindPatterns() []*Pattern {
	words := make([]string, 0, len(e.Keywords)+len(e.Last))
	for _, word := range slices.Concat(e.Keywords, e.Last) {
		words = append(words, regexp.QuoteMeta(word))
	}
	var all []*Pattern
	for _, source := range append([]string{strings.Join(words, "|")}, e.Requires...) {
		if p, err := NewPattern(source); err == nil {
			all = append(all, p.OfKind())
		}
	}
	return all
}
