package logline

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/gpu-triage/triage/rules/pattern"
	"github.com/gpu-triage/triage/rules/wrapper"
)

// constantHeader is the header of a logger that nearly all lines have, with the same level and place: it is the launcher's, or says nothing.
func constantHeader(texts []string) *learnedWrapper {
	if len(texts) < minRecords {
		return nil
	}
	for _, header := range recordHeaders(texts) {
		s, ok := shapeOf(header)
		if ok && 100*s.missing(texts) <= maxOthers*len(texts) && !severalLevels(texts) {
			s.widen(texts)
			return &learnedWrapper{shape: s, names: namesWriter().MatchString(header), timed: hasClock(header)}
		}
	}
	return nil
}

// severalLevels tells whether the first lines are records of different levels, in a known form: then their headers say something.
func severalLevels(texts []string) bool {
	first := Level("")
	for _, text := range texts[:min(len(texts), headRecords)] {
		line := Line{Text: text}
		parseRecord(&line)
		if line.Head == 0 || line.Level == "" {
			continue
		}
		if first == "" {
			first = line.Level
		}
		if line.Level != first {
			return true
		}
	}
	return false
}

// recordHeaders are the headers of the first records, one of each shape and the longest first: the forms of some take a word for a place
// that the program printed itself. Warnings are left out, as everywhere here.
func recordHeaders(texts []string) (headers []string) {
	known := map[string]bool{}
	for _, text := range texts[:min(len(texts), headRecords)] {
		line := Line{Text: text}
		parseRecord(&line)
		header := text[:line.Head]
		s, ok := shapeOf(header)
		if !ok || known[s.key] || line.Level == Warning || line.Level == Debug || isOwnWord(header) {
			continue
		}
		known[s.key] = true
		headers = append(headers, header)
	}
	slices.SortStableFunc(headers, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return headers
}

// isOwnWord tells whether a header is a word like "ERROR: " alone, with which many programs begin a message of their own.
func isOwnWord(header string) bool {
	level := strings.TrimRight(header, " :")
	return len(level) < len(header)-1 && levelOf(level) != Info && levelWord().FindString(level) == level
}

// commonHeader is what all lines begin with, where nothing but a wrapper writes that: a clock, or the same words before each of some
// lines. It is the longest such beginning that ends where a header can.
//
//	stderr: [rank0]: step 1
//	stderr: NCCL WARN Duplicate GPU detected
func commonHeader(texts []string) *learnedWrapper {
	if len(texts) < minRecords || severalLevels(texts) {
		return nil
	}
	for _, header := range headersOf(texts[0]) {
		timed := hasClock(header)
		if !timed && len(texts) < minCommon || saysSomething(header) || !startAll(texts, header) {
			continue
		}
		if s, ok := shapeOf(header); ok {
			return &learnedWrapper{shape: s, names: namesWriter().MatchString(header), timed: timed}
		}
	}
	return nil
}

// minCommon is how many lines have the same beginning, without a clock, before it is no chance.
const minCommon = 3

// headersOf are the beginnings of a line that may be a header, the longest first.
func headersOf(text string) (headers []string) {
	for _, m := range headerEnd().FindAllStringIndex(text[:min(len(text), maxHeaderLen)], -1) {
		headers = append(headers, text[:m[1]])
	}
	slices.Reverse(headers)
	return headers
}

// startAll tells whether all lines begin with a header, but for the clock in it. The name of a number, as in "step: 12" and "Epoch [3][12/90]", is none.
func startAll(texts []string, header string) bool {
	header = strings.TrimRight(clock().ReplaceAllLiteralString(header, ""), " \t")
	counted := 0
	for _, text := range texts {
		rest, ok := strings.CutPrefix(clock().ReplaceAllLiteralString(text[:min(len(text), maxHeaderLen)], ""), header)
		if !ok {
			return false
		}
		rest = strings.TrimLeft(rest, " \t[(")
		if rest != "" && isDigit(rest[0]) {
			counted++
		}
	}
	return 2*counted <= len(texts) || strings.IndexByte(":])", header[len(header)-1]) < 0
}

// saysSomething tells whether a header is more than who wrote a line, and when: it has a sentence, an exception, a progress bar, the name of a
// program, or, without a clock before it, the severity of a message.
func saysSomething(header string) bool {
	level := headerLevel(header)
	switch {
	case errorWord().MatchString(header), level == Warning, level == Debug, processIn(header+"x") != "":
		return true
	case !hasClock(header) && verdict().MatchString(header):
		return true
	case strings.Count(header, "{") > strings.Count(header, "}"): // the keys of a dict, as in {'loss': 2.3}
		return true
	}
	if strings.IndexFunc(header, unicode.IsLetter) < 0 && !hasClock(header) { // the edge of a table, a mark in a list
		return true
	}
	who := strings.Fields(clock().ReplaceAllLiteralString(header, ""))
	s, ok := shapeOf(strings.Join(who, " "))
	return !ok && len(who) > 0 || strings.Contains(s.key, "W W W") || slices.ContainsFunc(who, isProgram)
}

// isProgram tells whether a word of a header is the name with which a program begins its messages, as in "ld: " and "pip[311]: ".
func isProgram(word string) bool {
	name, ok := strings.CutSuffix(word, ":")
	name, _, _ = strings.Cut(name, "[")
	return ok && wrapper.Shipped().IsProgram(name)
}

var (
	headerEnd = pattern.Lazy(`(?:[:>\])|]| [-|>»]| --)[ \t]|\t|="`)
	errorWord = pattern.Lazy(`(?i)exception|error[^ |:\]\-]|[a-z]error|fatal|fail|traceback|abort|%\|`)
	verdict   = pattern.Lazy(`(?i)\b(?:error|warning|warn|info|debug|note|critical)\b|\.\w{1,4}:\d`) // also with the place in a file that it is about
	clock     = pattern.Lazy(`(?:\d[\d/.-]*[ T_])?\d\d:\d\d:\d\d(?:[.,:]\d{1,9})?(?:Z| ?[+-]\d\d:?\d\d)?`)
)
