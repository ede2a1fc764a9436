package logline

import "github.com/gpu-triage/triage/rules/pattern"

// What people write around a print when they ask about a failure, and no program says of itself.
const (
	speaks    = `^[^\n]{0,300}(?:^|[\s(])(?:i|i['’](?:a?m|ve)|we|my)\s[a-z]+[ ,.?!，。？！]`
	greets    = `^\W{0,3}(?:(?:hi|hello|hey|dear)\b[ ,!a-z]{0,40}$|(?:hi|hello|hey), )`
	thanks    = `\b(?:thanks|thank you|please help|pls help)\b`
	wonders   = `\b(?:what should i|how (?:can|do|to|should) |any (?:idea|help|advice|suggestion)|(?:can|could) (?:some|any)(?:one|body)|what (?:is|are|could be|might be|can be) the (?:reason|cause|problem|issue)s?)\b`
	isTold    = `\b(?:gives?|gave|tells?|told|shows?|showed|throws?|returns?) (?:me|us)\b|\b(?:it|this|that|which|code|script) (?:gives?|gave|throws?|threw|shows?|raises?|returns?|ends? with) (?:the|this|an?)(?: following)? (?:error|exception)\b`
	comesUp   = `\b(?:an?|the|this) (?:error|exception)(?: message)? (?:came|comes|arises|arose|shows? up|is (?:displayed|shown)|was shown)\b`
	inChinese = `请问|怎么|为什么|什么|求助|谢谢|报错|我|吗|呢|还是|如何|大佬`

	// formed is a heading of a tracker's form, ticked one of its boxes.
	formed = `^\W{0,6}(?:describe (?:the|your) (?:bug|problem|issue)|to reproduce|steps to reproduce|(?:expected|actual|current) behaviou?r|what happened)\W{0,6}$|^#{1,6} (?:the )?problem\W{0,3}$`
	ticked = `^\s*- \[[xX]\] (?:I['’ ]|我)`
)

// asks finds what no program says of itself.
var asks = pattern.Lazy(`(?mi)` + speaks + `|` + greets + `|` + thanks + `|` + wonders + `|` + isTold + `|` + comesUp + `|` + formed +
	`|^\W{0,6}(?:environment|system info)\W{0,6}$|` + ticked + `|` + inChinese)

// asksHelp finds a sentence in which somebody asks about a failure, at the beginning of a line or in the usual words; comments of a program and
// its documentation have none.
var asksHelp = pattern.Lazy(`(?mi)^(?:(?:when|if|as|but) )?(?:i|i['’](?:a?m|ve))\s[a-z][^\n={};#]{10,}$|^(?:hi|hello|hey|dear)\b[^\n=]{0,80}$|` +
	formed + `|^\W{0,6}(?:bug description|source code / logs)\W{0,6}$|` + ticked +
	`|^#{1,6} [^\n]{0,40}\b(?:(?:expected|actual|current) behaviou?r|describe the bug|steps to reproduce)\W{0,6}$|` +
	`\b(?:thanks in advance|please help|any (?:idea|help|advice|suggestion)s?\b[^\n]{0,40}\?|how (?:can|do|should) i\b|(?:this|the following) error (?:is|was) (?:displayed|shown)\b|` +
	`\bthe error (?:that |which )?i (?:see|saw|get|got|have|receive)\b|\bthis is the error\b|\berror (?:that )?i(?:['’]m| am) (?:gett?ing|seeing)\b|` +
	`what (?:have|did|am|could) i (?:have )?(?:miss|overlook|do|forget|forgot|done|wrong)\w*|(?:can|could) (?:some|any)(?:one|body)\b[^\n]{0,60}\?|what is (?:my|the) (?:mistake|matter|reason)\b)`)

// Markdown's own signs: a title with a sentence or another heading below it, a heading of a part, and what begins or ends a print.
var (
	titled    = pattern.Lazy(`^# [^\n]*[A-Za-z]+ [a-z]+[^\n]*\n\s*\n(?:["'*]{0,2}[A-Z]\w* [a-z]+ [a-z]+|#{2,4} [A-Z])`)
	part      = pattern.Lazy(`(?m)^#{2,4} [A-Z]`)
	fenceLine = pattern.Lazy("(?m)^```\\w*[ \r]*$")
)

// isPost tells whether a source is what a person wrote, with what was printed in it.
func isPost(head []byte) bool {
	return len(head) <= MaxPost && (asks().Match(head) || titled().Match(head) || fenceLine().Match(head) || namedByFailure(head))
}

// underTitle is a first line with a sentence below it, parted by an empty line.
var underTitle = pattern.Lazy(`^([^\n]{8,200})\n[ \t]*\n[A-Z][a-z]+,? (?:[a-z']+,? ){2,}[^\n]*[.?!:,]\s*(?:\n|$)`)

// namedByFailure tells whether a source begins with the title that people give to a report: words that say what failed, and prose below.
func namedByFailure(head []byte) bool {
	m := underTitle().FindSubmatch(head)
	return m != nil && failing().Match(m[1]) && !printed().Match(m[1])
}

// overPrint is a first line right above a print, parted by an empty line.
var overPrint = pattern.Lazy("^([^\\n]{8,300})\\n[ \\t\\r]*\\n" + Fence)

// asksForHelp tells whether a post asks about a failure. A title that says what failed, over what was printed, does so without a word more.
func asksForHelp(head []byte) bool {
	m := overPrint().FindSubmatch(head)
	return m != nil && failing().Match(m[1]) || asksHelp().Match(head) || titled().Match(head) || part().Match(head) && fenceLine().Match(head)
}
