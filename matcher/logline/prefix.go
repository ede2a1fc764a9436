package logline

import (
	"regexp"
	"strings"

	"github.com/gpu-triage/triage/rules/pattern"
	"github.com/gpu-triage/triage/rules/wrapper"
)

const (
	maxPrefixes  = 6   // more are not stripped from one line
	maxPrefixLen = 300 // bytes in which a prefix or the header of a record is looked for
	maxWordLen   = 79  // bytes of the first word of a prefix without brackets
)

// prefixExpression is the compiled expression of a form.
type prefixExpression struct {
	*regexp.Regexp
	rank, local, writer int // indices of the groups, 0 when there is none
}

func prefixExpressionOf(form *wrapper.Form) prefixExpression {
	re := wrapper.Compile(form.Source)
	return prefixExpression{re, max(0, re.SubexpIndex("rank")), max(0, re.SubexpIndex("local")), max(0, re.SubexpIndex("writer"))}
}

// prefixes is what all prefixes of a line say together.
type prefixes struct {
	rank, local int // NoRank when none says it
	writer      string
	rest        string           // of the line
	found       bool             // there is a prefix
	learned     [maxLearned]bool // those that were taken off: each stands once in a line
}

// strip takes one prefix off the rest.
func (p *prefixes) strip() bool {
	if p.rest == "" {
		return false
	}
	if strings.IndexByte("[(#<", p.rest[0]) < 0 && !mayBeginWithWord(p.rest) {
		return false
	}
	window := p.rest[:min(len(p.rest), maxPrefixLen)]
	for _, form := range forms().marksAt[p.rest[0]] {
		if !form.Possible(window) {
			continue
		}
		expression := form.expression()
		if m := expression.FindStringSubmatchIndex(window); m != nil && p.take(form, expression, m) {
			return true
		}
	}
	return false
}

// take believes a form that matched, unless what follows speaks against it.
func (p *prefixes) take(form *prefixForm, groups prefixExpression, m []int) bool {
	rest := p.rest[m[1]:]
	if !strings.HasPrefix(rest, form.Next) || form.Ahead && rest == "" {
		return false
	}
	group := func(i int) string {
		if i == 0 || m[2*i] < 0 {
			return ""
		}
		return p.rest[m[2*i]:m[2*i+1]]
	}
	if s := group(groups.rank); s != "" {
		p.rank = ParseRank(s)
	}
	if s := group(groups.local); s != "" && p.local == NoRank {
		p.local = ParseRank(s)
		if groups.writer == 0 {
			p.writer += "[" + s + "]"
		}
	}
	p.writer += group(groups.writer)
	if form.Again != "" {
		rest = strings.ReplaceAll(rest, p.rest[:m[1]], "")
	}
	p.rest, p.found = rest, true
	return true
}

// mayBeginWithWord tells cheaply whether a line that begins with a letter or a digit can have one of the forms for such lines: a first
// word that ends in a digit or has a part that does, or a rank.
func mayBeginWithWord(s string) bool {
	i := strings.IndexByte(s[:min(len(s), maxWordLen+1)], ' ')
	if i < 1 {
		return false
	}
	return isDigit(s[i-1]) || isMonthDay(s) || strings.HasPrefix(s, "E   ") || strings.HasPrefix(s[1:], "ank") || strings.HasPrefix(s[i:], "  | ") && strings.IndexByte(s[:i], '-') > 0
}

// isMonthDay tells whether a text may begin with a date like "Nov 20 ".
func isMonthDay(s string) bool { return len(s) > 6 && s[3] == ' ' && s[6] == ' ' && isDigit(s[5]) }

var repeatCount = pattern.Lazy(` \[repeated \d+x across (?:all nodes|cluster)\].*$`)

// withoutRepeatCount drops what Ray adds to a line that stands for many.
func withoutRepeatCount(text string) string {
	if !strings.Contains(text, "[repeated ") {
		return text
	}
	return repeatCount().ReplaceAllString(text, "")
}
