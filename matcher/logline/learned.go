package logline

import (
	"bytes"
	"cmp"
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

// Unwrapped is a part of the source without its wrappers, line by line, when there are some that the source itself taught; else it is given as it is.
func (f *Form) Unwrapped(text []byte) []byte {
	if len(f.learned) == 0 && f.labels.form == nil {
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
	return cmp.Or(constantHeader(texts), commonHeader(texts))
}

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

var namesWriter = pattern.Lazy(`(?i)(?:^|[^a-z])(rank|worker|gpu|node|host|proc|process|task|pod|replica|trainer)[ =:_/-]{0,2}"?(\d{1,6})(?:[^\d]|$)`)
