package logline

import (
	"bytes"
	"slices"
	"strings"
)

// Form is what the beginning and the name of a source tell about all its lines. It does not change while the source is read, so
// that any line can be cleaned without those before it.
type Form struct {
	source    string
	rank      int    // from the path, NoRank when it tells none
	margin    string // of all its lines
	labels    labels // what stands before each line
	bareCodes bool   // colour codes lost their escape character
	notebook  bool   // it is a notebook of Jupyter
	post      bool   // a person wrote it, with what was printed in it,
	help      bool   // and asks about a failure
	ticked    bool   // each line of what was printed stands in marks of its own
	title     string // its first line, of a post or of what may be one
	levels    bool   // the levels of its records in JSON differ, so that they say something
	learned   []*learnedWrapper
}

// Sniff tells the form of a source from its first bytes, of which 64 KiB are looked at, and its path.
func Sniff(source string, head []byte) *Form {
	head = head[:min(len(head), headBytes)]
	f := &Form{source: source, rank: rankOfPath(source), bareCodes: hasBareCodes(head)}
	f.notebook = isNotebook(head)
	f.levels = levelsDiffer(head)
	f.margin = marginOf(head)
	f.labels = labelsOf(head, f.clean)
	f.learn(head)
	f.post = isPost(head)
	f.help = f.post && asksForHelp(head)
	first, rest, _ := bytes.Cut(head, []byte{'\n'})
	if f.post || bytes.HasPrefix(bytes.TrimLeft(rest, " \r"), []byte{'\n'}) {
		f.title = withoutMarks(printable(first), false)
	}
	f.ticked = f.post && tickedLines().Match(head)
	return f
}

// Source is the name of the source.
func (f *Form) Source() string { return f.source }

// IsPost tells whether a person wrote the source, with what was printed in it.
func (f *Form) IsPost() bool { return f.post }

// Title is the first line of a post, or of what may be one because an empty line follows; "" of other sources.
func (f *Form) Title() string { return f.title }

// AsksHelp tells whether a person wrote the source to ask about a failure: code and settings in it are not all that it is.
func (f *Form) AsksHelp() bool { return f.help }

// Searchable tells whether the words in the text of its lines can be looked for in their bytes: not when colour codes that look like
// text may stand within them, or when they are quoted in a way that was learned. RawForms and HidesWords say what else there is to know.
func (f *Form) Searchable() bool {
	quoted := func(w *learnedWrapper) bool { return w.quotes != nil }
	return !f.bareCodes && !f.notebook && !slices.ContainsFunc(f.learned, quoted)
}

// Clean hands the \r-separated parts of one raw line (without its \n) to yield as cleaned lines. It
// tells whether a part had to be shortened; the error is yield's.
func (f *Form) Clean(number int, raw []byte, yield func(Line) error) (cut bool, err error) {
	p := f.Parts(yield)
	p.Begin(number)
	return p.End(raw)
}

// Writer is a line without \r as far as it takes to tell whose it is: the header of a log record is left in its text.
func (f *Form) Writer(raw []byte) Line {
	line, p := f.unwrap(f.clean(raw))
	if strings.Contains(line.Text, "ank") { // a rank may stand behind such a header
		parseRecord(&line)
	}
	f.setWriter(&line, &p, Line{Rank: f.rank})
	return line
}

// parse makes a line of its text. Whose it is, if it does not say, is taken from the part before it in the same line.
func (f *Form) parse(text string, before Line) Line {
	line, p := f.unwrap(text)
	parseRecord(&line)
	f.setWriter(&line, &p, before)
	return line
}

// texts are the lines that stand in the bytes of one, without their wrappers.
func (f *Form) texts(raw []byte) []string {
	line, _ := f.unwrap(f.clean(raw))
	return strings.Split(line.Text, "\n")
}

// clean makes the bytes of a line, or a part of one, plain text.
func (f *Form) clean(raw []byte) string {
	if f.notebook {
		return notebookLine(raw)
	}
	text := printable(raw)
	if f.bareCodes {
		text = withoutBareCodes(text)
	}
	return withoutMargin(text, f.margin)
}

// hasBareCodes tells whether the source has colour codes without their escape character, which JSON quotes.
func hasBareCodes(head []byte) bool {
	for at := 0; ; at += len(bareEnd) {
		n := bytes.Index(head[at:], []byte(bareEnd))
		if n < 0 {
			return false
		}
		at += n
		if before := head[:at]; !bytes.HasSuffix(before, []byte{escape}) && !bytes.HasSuffix(before, []byte(`\u001b`)) {
			return true
		}
	}
}

// unwrap takes the wrappers from a cleaned line, and tells what they said. Its text has line breaks when a record has several lines.
func (f *Form) unwrap(text string) (Line, prefixes) {
	if f.post {
		text = withoutLabel(text)
	}
	line := Line{Source: f.source, Rank: NoRank}
	p := prefixes{rank: NoRank, local: NoRank, rest: text}
	if label, n := f.labels.in(text); n > 0 {
		p.rest, p.found, p.writer = text[n:], true, label
		if f.labels.ranks {
			p.rank = ParseRank(label)
		}
	}
	for range maxPrefixes {
		if !f.strip(&p, &line) {
			break
		}
	}
	line.Text = withBreaks(p.rest)
	if f.post {
		line.Text = withoutMarks(line.Text, f.ticked)
	}
	if strings.HasPrefix(text, "(") {
		line.Text = withoutRepeatCount(line.Text)
	}
	return line, p
}

// strip takes one wrapper off the rest of a line. It tells whether there was one.
func (f *Form) strip(p *prefixes, line *Line) bool {
	if t, n := transportStamp(p.rest); n > 0 {
		line.Time, p.rest, p.found = t, p.rest[n:], true
		return true
	}
	if p.strip() || f.unwrapJSON(p, line) {
		return true
	}
	for i, w := range f.learned {
		if !p.learned[i] && w.strip(p, line) {
			p.learned[i] = true
			return true
		}
	}
	return false
}

// unwrapJSON takes a text out of a record in JSON.
func (f *Form) unwrapJSON(p *prefixes, line *Line) bool {
	if !strings.HasPrefix(p.rest, "{") {
		return false
	}
	r, ok := parseJSON(p.rest)
	if !ok {
		return false
	}
	p.rest, p.found = linesOf(r.text), true
	if r.rank != NoRank {
		p.rank = r.rank
	}
	p.writer += r.host
	if !r.time.IsZero() {
		line.Time = r.time
	}
	if f.levels {
		line.Level = r.level
	}
	return true
}

// setWriter settles rank and writer of a line. A global rank names the process better than all else; one in the text counts if no
// prefix has one, then the second best in the prefixes, then what the part before it in the same line had, then the path.
func (f *Form) setWriter(line *Line, p *prefixes, before Line) {
	line.Rank, line.Writer = p.rank, p.writer
	tag := RankTag(line.Body())
	switch {
	case p.rank != NoRank:
		line.Writer = rankName(p.rank)
	case tag != NoRank:
		line.Rank = tag
		if p.writer == "" {
			line.Writer = rankName(tag)
		}
	case p.found || p.writer != "":
		line.Rank = p.local
	default:
		line.Rank, line.Writer = before.Rank, before.Writer
	}
	if line.Rank == NoRank {
		line.Rank = f.rank
	}
	if line.Writer == "" {
		line.Writer = processIn(line.Text)
	}
}
