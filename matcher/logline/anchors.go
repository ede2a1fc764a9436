package logline

import (
	"strings"

	"github.com/gpu-triage/triage/rules/pattern"
)

// anchors are the lines of tracebacks behind headers of one shape.
type anchors struct {
	shape
	header     string // one of the headers
	tail       string // what follows "Traceback (most recent call last):" in its line, or closes that of an exception
	tracebacks int
	frames     int
	exceptions int
}

// anchorsIn finds them in the order of their first lines.
func anchorsIn(texts []string) []*anchors {
	var all []*anchors
	known := map[string]*anchors{}
	for _, text := range texts {
		header, kind := anchorIn(text)
		if header == "" || drawn(header) {
			continue
		}
		s, ok := shapeOf(header)
		if !ok {
			continue
		}
		key := s.key + string(headerLevel(header))
		a := known[key]
		if a == nil {
			if len(all) == maxDifferent {
				continue
			}
			a = &anchors{shape: s, header: header}
			known[key], all = a, append(all, a)
		}
		a.merge(s)
		switch kind {
		case anchorTraceback:
			a.tracebacks++
			a.tail = strings.TrimPrefix(text[len(header)+len(TracebackHeader):], ":")
		case anchorFrame:
			a.frames++
		case anchorException:
			a.exceptions++
			if a.tail == "" {
				a.tail = closing(header, text[len(header):])
			}
		}
	}
	return all
}

// closing is what a text ends with that closes its header: a quote and what follows it, the edge of a table, a tag.
func closing(header, text string) string {
	end := header[len(header)-1]
	switch i := strings.LastIndexByte(text, end); {
	case (end == '"' || end == '\'') && i >= 0:
		return text[i:]
	case header[0] == '|' && strings.HasSuffix(text, "|"):
		return " |"
	case header[0] == '<' && strings.LastIndex(text, "</") > 0:
		return text[strings.LastIndex(text, "</"):]
	}
	return ""
}

// proves tells whether nothing but a wrapper looks like this.
func (a *anchors) proves(texts []string) bool {
	switch level := headerLevel(a.header); {
	case level == Warning, level == Debug: // some loggers put their header before each line of what they were told
		return false
	case level != Error && level != Fatal && (a.tracebacks > 0 && a.frames > 0 || a.frames >= minFrames):
		return true
	}
	share := a.share(texts)
	if share < minShare || len(texts) < minLabelled {
		// Of a few lines with words in common nobody can tell what they are: a logger's header tells.
		return share >= minShare && isRecordHeader(a.header)
	}
	return share >= 100-maxOthers || a.strong() || isRecordHeader(a.header)
}

// strong tells whether the header has an end that parts it from a text, and is no sentence.
func (a *anchors) strong() bool {
	last := a.tokens[len(a.tokens)-1].text
	return !isWordByte(last[0]) && !strings.Contains(a.key, "W W W")
}

// share is the percentage of the lines that have the shape.
func (a *anchors) share(texts []string) int { return 100 - 100*a.missing(texts)/len(texts) }

// An anchorKind is which line of a traceback stands behind a header.
type anchorKind int

const (
	noAnchor anchorKind = iota
	anchorTraceback
	anchorFrame
	anchorException
)

// anchorIn finds what stands before the line of a traceback, "" when nothing does or the text is no such line.
func anchorIn(text string) (header string, kind anchorKind) {
	if i := strings.Index(text, TracebackHeader); i >= 0 {
		return text[:i], anchorTraceback
	}
	if i := strings.Index(text, `  File `); i >= 0 && framePlace().MatchString(text[i:]) {
		return text[:i], anchorFrame
	}
	if !strings.Contains(text, "Error") && !strings.Contains(text, "Exception") {
		return "", noAnchor
	}
	if m := raisedBehind().FindStringSubmatchIndex(text); m != nil {
		return text[:m[2]], anchorException
	}
	return "", noAnchor
}

var (
	framePlace   = pattern.Lazy(`^  File (?:\\"|""?|&quot;|')[^"]{1,300}(?:\\"|""?|&quot;|'), line \d`)
	raisedBehind = pattern.Lazy(`[^\w.'(=]((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Exit|Interrupt)): `)
)

// drawn tells of what stands before the lines of a traceback in a layout of its own: groups of exceptions and boxes are drawn, and in a diff
// or a comment nothing has run.
func drawn(header string) bool {
	return strings.Trim(header, " \t|+-│╭─") == "" || strings.IndexByte("#/*+-", strings.TrimLeft(header, " ")[0]) >= 0
}
