package logline

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/rules/pattern"
	"github.com/gpu-triage/triage/rules/wrapper"
)

// A learnedWrapper is a wrapper that no table knows, or the header of a logger that a child's output went through. It is believed
// because it stands before what nothing but an interpreter prints: the lines of a traceback, each in a record of its own.
//
//	node07:gpu3> Traceback (most recent call last):
//	node07:gpu3>   File "train.py", line 7, in <module>
//
// A logger that prints a traceback of its own program puts its header before the first line of it only, so that its level keeps what it
// says.
type learnedWrapper struct {
	shape
	suffix string            // what stands behind the text, when the header ends with a quote
	quotes *strings.Replacer // undoes what the quote did to the text, nil without a quote
	names  bool              // the header names who wrote the line
	timed  bool              // it has a time
	apart  bool              // lines without it are another program's
}

const (
	maxLearned   = 3  // wrappers of a source, one within the other or beside it
	minFrames    = 2  // lines of a traceback behind headers of one shape that prove a wrapper
	minShare     = 80 // percent of the lines that have the shape when one line alone names an exception
	minRecords   = 2  // lines with the same header of a logger, all but maxOthers percent of the source, prove it too
	maxOthers    = 5
	headRecords  = 50   // lines among which the header is looked for
	maxSample    = 2000 // lines that are looked at
	maxSampled   = 400  // bytes of each of them
	maxDifferent = 64   // shapes that are counted
)

// learn finds the wrappers of a source in its first lines.
func (f *Form) learn(head []byte) {
	for range maxLearned {
		w := f.nextWrapper(f.sample(head))
		if w == nil {
			return
		}
		f.learned = append(f.learned, w)
	}
}

// Unwrapped is a part of the source without its wrappers, line by line, when some were learned; else it is given as it is.
func (f *Form) Unwrapped(text []byte) []byte {
	if len(f.learned) == 0 {
		return text
	}
	var plain []byte
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, "\r\n")
		plain = append(plain, strings.Join(f.texts(line), " ")...)
		plain = append(plain, '\n')
	}
	return plain
}

// sample gives the texts of the first lines, without the wrappers that are known so far.
func (f *Form) sample(head []byte) []string {
	var texts []string
	for len(head) > 0 && len(texts) < maxSample {
		raw, rest, _ := bytes.Cut(head, []byte{'\n'})
		head = rest
		for _, text := range f.texts(raw[bytes.LastIndexByte(bytes.TrimRight(raw, "\r"), '\r')+1:]) {
			if text != "" {
				texts = append(texts, text[:min(len(text), maxSampled)])
			}
		}
	}
	return texts
}

// nextWrapper is the wrapper with the best proof, nil when there is none.
func (f *Form) nextWrapper(texts []string) *learnedWrapper {
	found := anchorsIn(texts)
	for _, a := range found {
		if a.proves(texts) {
			return a.wrapper(texts)
		}
	}
	return constantHeader(texts)
}

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

// wrapper is the wrapper that the anchors prove.
func (a *anchors) wrapper(texts []string) *learnedWrapper {
	w := &learnedWrapper{shape: a.shape, apart: a.share(texts) < 100-maxOthers}
	w.names = namesWriter().MatchString(a.header)
	w.timed = hasClock(a.header)
	quote := a.tokens[len(a.tokens)-1].text
	if a.end == "" && (quote == `"` || quote == "'") && strings.Contains(a.tail, quote) {
		w.suffix = a.tail
		w.quotes = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\`+quote, quote, quote+quote, quote)
	} else if strings.HasPrefix(a.tail, "</") || strings.HasPrefix(strings.TrimLeft(a.tail, " "), "|") {
		w.suffix = strings.TrimLeft(a.tail, " ")
	}
	return w
}

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
	namesWriter  = pattern.Lazy(`(?i)(?:^|[^a-z])(rank|worker|gpu|node|host|proc|process|task|pod|replica|trainer)[ =:_/-]{0,2}"?(\d{1,6})(?:[^\d]|$)`)
)

// drawn tells of what stands before the lines of a traceback in a layout of its own: groups of exceptions and boxes are drawn, pytest marks
// with an E, and in a diff or a comment nothing has run.
func drawn(header string) bool {
	return strings.Trim(header, " \t|+-E│╭─") == "" || strings.IndexByte("#/*+-", strings.TrimLeft(header, " ")[0]) >= 0
}

// record parses a header as that of a log record.
func record(header string) Line {
	line := Line{Text: header + "text text"}
	parseRecord(&line)
	return line
}

// isRecordHeader tells whether a text is the header of a log record, and nothing else.
func isRecordHeader(header string) bool { return record(header).Head == len(header) }

// headerLevel is the level that a header names, "" for none.
func headerLevel(header string) Level {
	if level := record(header).Level; level != "" {
		return level
	}
	return levelOf(levelWord().FindString(header))
}

var levelWord = pattern.Lazy(`\b` + wrapper.Level + `\b`)

// constantHeader is the header of a logger that nearly all lines have, with the same level and place: it is the launcher's, or says nothing.
func constantHeader(texts []string) *learnedWrapper {
	if len(texts) < minRecords {
		return nil
	}
	for _, header := range recordHeaders(texts) {
		s, ok := shapeOf(header)
		if ok && 100*s.missing(texts) <= maxOthers*len(texts) {
			s.widen(texts)
			return &learnedWrapper{shape: s, names: namesWriter().MatchString(header), timed: hasClock(header)}
		}
	}
	return nil
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

// strip takes the wrapper off the rest of a line.
func (w *learnedWrapper) strip(p *prefixes, line *Line) bool {
	n := w.in(p.rest)
	if n == 0 {
		return false
	}
	header, rest := p.rest[:n], p.rest[n:]
	if w.suffix != "" {
		rest = strings.TrimRight(strings.TrimSuffix(rest, w.suffix), " \t")
	}
	if w.quotes != nil {
		rest = w.quotes.Replace(rest)
	}
	if w.timed && line.Time.IsZero() {
		line.Time = TimeIn(header)
	}
	if w.names {
		w.name(header, p)
	}
	if w.apart && p.writer == "" {
		p.writer = wrapped
	}
	line.Peeled += header
	p.rest, p.found = rest, true
	return true
}

// wrapped is the writer of lines behind a wrapper that names none, where other lines have none.
const wrapped = "wrapped"

// name takes from a header who wrote the line.
func (w *learnedWrapper) name(header string, p *prefixes) {
	for _, m := range namesWriter().FindAllStringSubmatch(header, -1) {
		if strings.EqualFold(m[1], "rank") {
			p.rank = ParseRank(m[2])
		}
		p.writer += "[" + m[1] + m[2] + "]"
	}
}
