package prefilter

import (
	"math"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gpu-triage/triage/matcher/scan"
)

// Required are literals of which every text that matches a regular expression contains at least one, chosen so that ordinary logs contain
// them rarely. The expression has the syntax of package regexp and is matched against text without line breaks. There are none when it
// requires no literal of scan.MinLiteral bytes, or is wrong.
func Required(pattern string) []scan.Literal {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	best := pieceOf(re.Simplify()).required()
	if math.IsInf(scan.Cost(best), 1) || best.anyShorter(scan.MinLiteral) {
		return nil
	}
	return best.shortest()
}

// piece is what is known about the texts that a part of a pattern matches: each begins with one of prefix, ends with one of suffix
// and contains one of inner. Where exact is true, prefix and suffix are the same and are all the texts there are.
type piece struct {
	exact                 bool
	prefix, suffix, inner choices
}

func exactly(set choices) piece {
	return piece{exact: true, prefix: set, suffix: set, inner: anything()}
}

func unknown() piece { return piece{prefix: anything(), suffix: anything(), inner: anything()} }

func pieceOf(re *syntax.Regexp) piece {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return exactly(anything())
	case syntax.OpLiteral:
		return literalPiece(re.Rune, re.Flags&syntax.FoldCase != 0)
	case syntax.OpCharClass:
		return classPiece(re.Rune)
	case syntax.OpCapture:
		return pieceOf(re.Sub[0])
	case syntax.OpConcat:
		all := exactly(anything())
		for _, sub := range re.Sub {
			all = all.then(pieceOf(sub))
		}
		return all
	case syntax.OpAlternate:
		all := pieceOf(re.Sub[0])
		for _, sub := range re.Sub[1:] {
			all = all.or(pieceOf(sub))
		}
		return all
	case syntax.OpQuest:
		return pieceOf(re.Sub[0]).or(exactly(anything()))
	case syntax.OpPlus:
		return pieceOf(re.Sub[0]).repeated()
	}
	return unknown() // any character, a repetition that may be empty, and what matches nothing
}

func literalPiece(runes []rune, fold bool) piece {
	if text := string(runes); !fold && len(text) <= maxText && !strings.ContainsAny(text, "\r\n\uFFFD") {
		return exactly(choices{{Text: text}})
	}
	all := exactly(anything())
	for _, r := range runes {
		all = all.then(runePiece(r, fold))
	}
	return all
}

// runePiece is one character, with fold in all its cases: k is also the Kelvin sign. The character that invalid UTF-8 reads as may
// stand in the log as any bytes.
func runePiece(r rune, fold bool) piece {
	if r == utf8.RuneError || r == '\n' || r == '\r' {
		return unknown()
	}
	set := choices{}
	for c := r; ; {
		if fold && c < utf8.RuneSelf && unicode.SimpleFold(c) != c {
			set = set.with(scan.Literal{Text: string(c)}.Folded())
		} else {
			set = set.with(scan.Literal{Text: string(c)})
		}
		c = unicode.SimpleFold(c)
		if !fold || c == r {
			return exactly(set)
		}
	}
}

func classPiece(ranges []rune) piece {
	count := 0
	for i := 0; i < len(ranges); i += 2 {
		count += int(ranges[i+1]-ranges[i]) + 1
		if count > maxClass {
			return unknown()
		}
	}
	set := choices{}
	for i := 0; i < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			one := runePiece(r, false)
			if !one.exact {
				return unknown()
			}
			set = append(set, one.prefix...) // no character is in two ranges
		}
	}
	if len(set) == 0 { // a class that matches nothing
		return unknown()
	}
	return exactly(set)
}

// then is p followed by q.
func (p piece) then(q piece) piece {
	if p.exact && q.exact {
		if set, ok := product(p.prefix, q.prefix); ok {
			return exactly(set)
		}
	}
	both := piece{prefix: p.prefix, suffix: q.suffix}
	both.inner = rarer(rarer(p.inner, q.inner), rarer(p.suffix, q.prefix))
	if seam, ok := product(p.suffix, q.prefix); ok {
		both.inner = rarer(both.inner, seam)
	}
	if set, ok := product(p.prefix, q.prefix); p.exact && ok {
		both.prefix = set
	}
	if set, ok := product(p.suffix, q.suffix); q.exact && ok {
		both.suffix = set
	}
	return both
}

// or is p or q.
func (p piece) or(q piece) piece {
	both := piece{exact: p.exact && q.exact, prefix: union(p.prefix, q.prefix), suffix: union(p.suffix, q.suffix)}
	both.inner = anything()
	if !both.exact || len(both.prefix) > maxChoices {
		both.exact = false
		both.inner = union(p.required(), q.required())
	}
	for _, set := range []*choices{&both.prefix, &both.suffix, &both.inner} {
		if len(*set) > maxChoices {
			*set = anything()
		}
	}
	return both
}

// required is the best that is known of p.
func (p piece) required() choices { return rarer(rarer(p.inner, p.prefix), p.suffix) }

// repeated is p once or more.
func (p piece) repeated() piece {
	return piece{prefix: p.prefix, suffix: p.suffix, inner: p.inner}
}
